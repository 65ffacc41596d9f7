/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE records: from packets to access reports, and the decoder "spe".
 *
 * A record is the packets up to END or TIMESTAMP, in any order. Its report, or the reason for none:
 *
 *	load, store, atomic, SVE, memcpy, memset, GCS	report, if it has an address; else addr_none
 *	other class with a data address		report without a direction (cache maintenance, say)
 *	other class without an address, branches,
 *	SVE/SME data processing, MTE tag accesses	not_memory
 *	no or reserved class				report without a direction, or addr_none
 *	bad byte in it					bad_packet
 *	cut by the end of the trace or a gap		truncated
 *
 * A physical address alone is an address. Prefetches have no class of their own and cannot be told from
 * loads. After a bad byte the record is given up and packets are skipped up to and including the next
 * terminator: what stands between may belong to the damaged record.
 */
#include "da_spe.h"

/* What is kept of an open record longer than this is its contents, in the state, not its bytes with the
 * caller. No hardware writes one so long: 2 KiB is the largest that it may announce. */
#define KEEP_MAX 2048

#define RECORD_FIELDS                                                                              \
	(DA_HAS_IP | DA_HAS_VADDR | DA_HAS_PADDR | DA_HAS_LATENCY | DA_HAS_DATA_SRC | DA_HAS_TAG | \
	 DA_HAS_OP | DA_HAS_EVENTS)

/* ---- operations ---- */

static uint8_t memory_op(uint8_t v)
{
	uint8_t rw = v & 1 ? DA_SPE_OP_STORE : DA_SPE_OP_LOAD;

	if ((v & 0xe2) == 0x02) /* extended: atomic, exclusive, acquire or release */
		return v & 4 ? rw | DA_SPE_OP_ATOMIC : rw;
	if ((v & 0xfe) == 0x14)
		return DA_SPE_OP_TAGS;
	return rw; /* general, SIMD, system register, copy, set, SVE, GCS, and later ones */
}

uint8_t da_spe_op_bits(uint8_t op_class, uint8_t v)
{
	switch (op_class) {
	case 0:
		return (v & 0x89) == 0x08 || (v & 0x89) == 0x88 ? DA_SPE_OP_VECTOR
								: DA_SPE_OP_OTHER;
	case 1:
		return memory_op(v);
	case 2:
		return DA_SPE_OP_BRANCH;
	default:
		return DA_SPE_OP_RESERVED;
	}
}

uint8_t da_spe_rw(uint8_t ops)
{
	if (!(ops & DA_SPE_OP_DATA))
		return 0;
	if (ops & DA_SPE_OP_ATOMIC)
		return DA_OP_READ | DA_OP_WRITE;
	return (uint8_t)((ops & DA_SPE_OP_LOAD ? DA_OP_READ : 0) |
			 (ops & DA_SPE_OP_STORE ? DA_OP_WRITE : 0));
}

enum da_drop da_spe_drop(const struct da_spe_record *r)
{
	bool addressed = r->has & (DA_SPE_HAS_VA | DA_SPE_HAS_PA);

	if (r->ops & DA_SPE_OP_DATA)
		return addressed ? DA_DROP_NR : DA_DROP_ADDR_NONE;
	if (r->ops & (DA_SPE_OP_TAGS | DA_SPE_OP_VECTOR | DA_SPE_OP_BRANCH))
		return DA_DROP_NOT_MEMORY;
	if (addressed)
		return DA_DROP_NR;
	return r->ops & DA_SPE_OP_OTHER ? DA_DROP_NOT_MEMORY : DA_DROP_ADDR_NONE;
}

/* ---- walking ---- */

static void reserved_packet(struct da_spe_record *r)
{
	if (r->reserved != UINT8_MAX)
		r->reserved++;
}

static void take_address(struct da_spe_record *r, const struct da_spe_packet *k)
{
	uint64_t *const to[] = {&r->pc, &r->target, &r->va, &r->pa, &r->previous};
	static const uint16_t has[] = {DA_SPE_HAS_PC, DA_SPE_HAS_TARGET, DA_SPE_HAS_VA,
				       DA_SPE_HAS_PA, DA_SPE_HAS_PREVIOUS};

	if (k->index >= sizeof(has) / sizeof(has[0])) {
		reserved_packet(r);
		return;
	}
	*to[k->index] = k->payload;
	r->has |= has[k->index];
}

static void take_counter(struct da_spe_record *r, const struct da_spe_packet *k)
{
	uint16_t *const to[] = {&r->total, &r->issue, &r->xlat};
	static const uint16_t has[] = {DA_SPE_HAS_TOTAL, DA_SPE_HAS_ISSUE, DA_SPE_HAS_XLAT};

	if (k->index >= sizeof(has) / sizeof(has[0])) {
		reserved_packet(r);
		return;
	}
	*to[k->index] = (uint16_t)k->payload;
	r->has |= has[k->index];
}

/* A later packet of a kind replaces an earlier one; events and operations accumulate. */
static void take_packet(struct da_spe_record *r, const struct da_spe_packet *k)
{
	r->open = true;
	switch (k->kind) {
	case DA_SPE_ADDRESS:
		take_address(r, k);
		break;
	case DA_SPE_COUNTER:
		take_counter(r, k);
		break;
	case DA_SPE_CONTEXT:
		r->context = (uint32_t)k->payload;
		r->context_index = k->index;
		r->has |= DA_SPE_HAS_CONTEXT;
		break;
	case DA_SPE_OP:
		r->op_class = k->index;
		r->op = (uint8_t)k->payload;
		r->ops |= da_spe_op_bits(r->op_class, r->op);
		r->has |= DA_SPE_HAS_OP;
		if (r->op_class == 3)
			reserved_packet(r);
		break;
	case DA_SPE_EVENTS:
		r->events |= k->payload;
		r->has |= DA_SPE_HAS_EVENTS;
		break;
	case DA_SPE_SOURCE:
		r->source = (uint16_t)k->payload;
		r->has |= DA_SPE_HAS_SOURCE;
		break;
	case DA_SPE_TIMESTAMP:
		r->timestamp = k->payload;
		r->has |= DA_SPE_HAS_TIMESTAMP;
		break;
	default: /* END */
		break;
	}
}

enum da_spe_walk da_spe_walk(const uint8_t *p, size_t n, uint64_t pos, struct da_spe_record *r,
			     size_t *start, size_t *end)
{
	size_t at = 0;

	*start = 0;
	while (at < n) {
		struct da_spe_packet k;

		if (p[at] == 0) { /* PAD, often in long runs */
			if (++at < n && p[at] == 0 && n - at >= sizeof(uint64_t) &&
			    !da_spe_le64(p + at))
				at += sizeof(uint64_t);
			if (!r->open)
				*start = at;
			continue;
		}
		da_spe_packet(p + at, n - at, pos + at, &k);
		if (k.kind == DA_SPE_BAD) {
			*end = at;
			return DA_SPE_WALK_BAD;
		}
		if (k.kind == DA_SPE_NEED_MORE) {
			*end = at;
			return DA_SPE_WALK_MORE;
		}
		at += k.len;
		if (k.kind == DA_SPE_ALIGN) {
			if (!r->open)
				*start = at;
			continue;
		}
		take_packet(r, &k);
		if (da_spe_ends_record(k.kind)) {
			r->open = false;
			*end = at;
			return DA_SPE_WALK_RECORD;
		}
	}
	*end = at;
	return r->open ? DA_SPE_WALK_MORE : DA_SPE_WALK_EMPTY;
}

/* ---- reports ---- */

uint32_t da_spe_report_has(const struct da_spe_record *r)
{
	static const struct {
		uint16_t in;
		uint32_t out;
	} map[] = {
		{DA_SPE_HAS_PC, DA_HAS_IP},           {DA_SPE_HAS_VA, DA_HAS_VADDR | DA_HAS_TAG},
		{DA_SPE_HAS_PA, DA_HAS_PADDR},        {DA_SPE_HAS_TOTAL, DA_HAS_LATENCY},
		{DA_SPE_HAS_CONTEXT, DA_HAS_TID},     {DA_SPE_HAS_EVENTS, DA_HAS_EVENTS},
		{DA_SPE_HAS_TIMESTAMP, DA_HAS_TICKS},
	};
	uint32_t has = r->ops & DA_SPE_OP_DATA ? DA_HAS_OP | DA_HAS_DATA_SRC : 0;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (r->has & map[i].in)
			has |= map[i].out;
	return has;
}

static void fill_report(const struct da_spe_out *o, const struct da_spe_record *r,
			struct da_report *out)
{
	uint32_t has = da_spe_report_has(r);

	*out = o->base;
	if (has & DA_HAS_TID) { /* who runs, by the hardware, goes before what the caller knows */
		out->tid = r->context;
		out->pid = 0;
		out->has &= ~(uint32_t)DA_HAS_TASK;
	}
	if (has & DA_HAS_TICKS) {
		out->time_ns = r->timestamp;
		out->has &= ~(uint32_t)DA_HAS_TIME;
	}
	out->has |= has;
	if (has & DA_HAS_IP) {
		out->ip = da_spe_pc(r->pc);
		out->ctx = da_spe_ctx(r->pc);
	}
	if (has & DA_HAS_VADDR) {
		out->vaddr = da_spe_va(r->va);
		out->tag = (uint8_t)(r->va >> 56);
	}
	if (has & DA_HAS_PADDR) {
		out->paddr = da_spe_pa(r->pa);
		out->paddr_how = DA_PADDR_SAMPLED;
	}
	out->latency = r->total;
	out->hw_events = (uint16_t)r->events;
	out->op = da_spe_rw(r->ops);
	if (has & DA_HAS_DATA_SRC) {
		bool sourced = (r->has & DA_SPE_HAS_SOURCE) && da_spe_uses_source(o->cpu, r->ops);

		out->data_src =
			da_spe_op_source(o->cpu, r->ops) |
			da_spe_level(o->cpu, sourced ? r->source : DA_SPE_SOURCES, r->events);
	}
}

void da_spe_flush(struct da_spe_out *o)
{
	const struct da_sink *s = o->sink;

	if (o->nr && s->batch)
		s->batch(s->ctx, o->batch, o->nr);
	for (size_t i = 0; i < o->nr && !s->batch; i++) {
		s->report(s->ctx, &o->batch[i]);
		s->record(s->ctx, 1, DA_DROP_NR);
	}
	o->nr = 0;
}

static void flush_all(struct da_spe_out *o)
{
	const struct da_sink *s = o->sink;

	da_spe_flush(o);
	for (int why = 0; why < DA_DROP_NR; why++) {
		if (o->dropped[why] && s->batch)
			s->dropped(s->ctx, (enum da_drop)why, o->dropped[why]);
		for (uint64_t i = 0; i < o->dropped[why] && !s->batch; i++)
			s->record(s->ctx, 0, (enum da_drop)why);
	}
}

static void give_record(struct da_spe_out *o, const struct da_spe_record *r)
{
	enum da_drop why = da_spe_drop(r);

	o->stats->records++;
	o->stats->reserved_packets += r->reserved;
	o->dropped[why]++;
	if (why != DA_DROP_NR)
		return;
	fill_report(o, r, &o->batch[o->nr]);
	if (++o->nr == DA_SPE_BATCH)
		da_spe_flush(o);
}

static void give_truncated(struct da_spe_out *o)
{
	o->stats->truncated_records++;
	o->dropped[DA_DROP_TRUNCATED]++;
}

/* ---- streaming ---- */

/* Skips from a bad byte up to and including the next terminator; false: it is not in the window. */
static bool resync(const struct da_input *in, size_t *at, struct da_decode_stats *stats)
{
	size_t from = *at;
	bool found = false;

	while (*at < in->len && !found) {
		struct da_spe_packet k;

		da_spe_packet(in->bytes + *at, in->len - *at, in->offset + *at, &k);
		if (k.kind == DA_SPE_NEED_MORE)
			break;
		if (k.kind == DA_SPE_BAD)
			stats->bad_bytes++;
		found = da_spe_ends_record(k.kind);
		*at += k.len;
	}
	stats->resync_bytes += *at - from;
	return found;
}

/* An ALIGN packet whose skipped bytes are not all there: padding, not the beginning of a record. */
static bool cut_padding(const struct da_input *in, size_t at)
{
	return in->len - at >= 2 && (in->bytes[at] & 0xfc) == 0x20 && in->bytes[at + 1] == 0;
}

/* Walks one record at *at. False: the window holds no whole one. */
static bool walk_one(struct da_spe_state *st, const struct da_input *in, size_t *at,
		     struct da_spe_out *o, bool learn)
{
	const uint8_t *p = in->bytes + *at;
	bool begun = st->rec.open;
	struct da_spe_record r = st->rec;
	size_t start, end;

	st->rec = (struct da_spe_record){0};
	switch (da_spe_walk(p, in->len - *at, in->offset + *at, &r, &start, &end)) {
	case DA_SPE_WALK_RECORD:
		give_record(o, &r);
		if (learn)
			da_spe_learn(&st->layouts, p + start, end - start, &r, o);
		*at += end;
		return true;
	case DA_SPE_WALK_BAD:
		o->stats->damaged_records++;
		o->dropped[DA_DROP_BAD_PACKET]++;
		st->resync = true;
		*at += end;
		return true;
	case DA_SPE_WALK_EMPTY:
		*at += end;
		return false;
	default:
		if (begun || end - start > KEEP_MAX) {
			st->rec = r;
			*at += end;
		} else {
			*at += start;
		}
		st->kept = r.open || !cut_padding(in, *at);
		return false;
	}
}

static void end_of_stream(struct da_spe_state *st, const struct da_input *in, size_t *at,
			  struct da_spe_out *o)
{
	if (st->resync)
		o->stats->resync_bytes += in->len - *at;
	else if (st->kept)
		give_truncated(o);
	st->rec = (struct da_spe_record){0};
	st->kept = false;
	st->resync = false;
	*at = in->len;
}

/* What is known of every report before its record is read. */
static void known_before(struct da_report *base, const struct da_report *known)
{
	memset(base, 0, sizeof(*base));
	if (known) { /* only what an AUX stream's caller can know */
		base->has = known->has & ~(uint32_t)(RECORD_FIELDS | DA_HAS_TICKS);
		base->event = known->event;
		base->time_ns = known->time_ns;
		base->period = known->period;
		base->page_size = known->page_size;
		base->pid = known->pid;
		base->tid = known->tid;
		base->cpu = known->cpu;
		base->size = known->size;
		base->role = known->role;
		base->size_is_max = known->size_is_max;
	}
	base->how = DA_HOW_HARDWARE;
}

/* For layouts; small windows do without. */
static void make_ready(struct da_spe_state *st, struct da_spe_out *o)
{
	for (size_t i = o->nr; i < DA_SPE_BATCH; i++)
		o->batch[i] = o->base;
	da_spe_prepare(&st->layouts, &o->base);
	o->ready = true;
}

size_t da_spe_decode(void *state, const struct da_input *in, const struct da_sink *sink,
		     struct da_decode_stats *stats)
{
	struct da_spe_state *st = state;
	struct da_spe_out o;
	size_t at = 0;

	o.sink = sink;
	o.stats = stats;
	o.cpu = da_spe_cpu(in->midr);
	o.nr = 0;
	memset(o.dropped, 0, sizeof(o.dropped));
	o.ready = false;
	known_before(&o.base, in->base);
	if (in->gap) {
		if (st->kept)
			give_truncated(&o);
		st->rec = (struct da_spe_record){0};
		st->resync = false;
	}
	if (in->len || in->gap)
		st->kept = false;
	if (st->layouts.cpu != o.cpu)
		da_spe_forget(&st->layouts, o.cpu);
	while (at < in->len) {
		bool try_layouts = !st->walk_only && !st->rec.open && in->len - at >= DA_SPE_MARGIN;

		if (st->resync) {
			st->resync = !resync(in, &at, stats);
			if (st->resync)
				break;
			continue;
		}
		if (try_layouts) {
			if (!o.ready)
				make_ready(st, &o);
			at += da_spe_fast(&st->layouts, in->bytes + at, in->len - at, &o);
			/* an unknown layout, to be learned, or just the end of the window? */
			try_layouts = in->len - at >= DA_SPE_MARGIN;
		}
		if (at < in->len && !walk_one(st, in, &at, &o, try_layouts))
			break;
	}
	if (in->last)
		end_of_stream(st, in, &at, &o);
	flush_all(&o);
	return at;
}

bool da_spe_idle(const void *state)
{
	const struct da_spe_state *st = state;

	return !st->rec.open && !st->kept && !st->resync;
}
