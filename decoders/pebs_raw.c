/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw Intel PEBS records, as a dump of the DS area holds them: the decoder "pebs_raw".
 *
 * In perf.data the kernel has made samples of them; this is for the area itself. input.pebs_format says which
 * layout the records have: 0 core, 1 nhm, 2 hsw, 3 skl (fixed sizes), 4 and up adaptive (each record says
 * its groups and size). Only some events write an address and nothing marks it as valid: 0 is none
 * (addr_none), as in perf's ADDR. The registers are those after the instruction, so a load may have
 * overwritten what its address was made of: they go to sink.regs, marked so, and no address is made of them.
 *
 * A fixed record cannot be out of step. An adaptive one with an impossible header is dropped as bad_packet,
 * and the next is looked for word by word: a header of known groups whose size fits them, or one like that of
 * the last record, which may hold groups that are unknown here.
 */
#include "da_pebs.h"

#include <string.h>

#include "da_cursor.h"
#include "da_insn.h"

#define WORD sizeof(uint64_t)

/* The first word of an adaptive record: groups and number of LBR entries, retire latency, size. */
#define HEADER_LBR(w)    (((unsigned)((w) >> 24) & 0xff) + 1)
#define HEADER_RESERVED  0x00ffffc0u
#define HEADER_RETIRE(w) ((uint16_t)((w) >> 32))
#define HEADER_SIZE(w)   ((size_t)((w) >> 48))
#define HEADER_LIKE(w)   ((w)&0xffff0000ffffffff)

static struct da_cur cursor(const uint8_t *p, size_t n)
{
	return da_cur_from(p, n, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

static uint64_t word_at(const uint8_t *p)
{
	struct da_cur c = cursor(p, WORD);

	return da_cur_u64(&c);
}

/* ---- sizes ---- */

/* Bytes that the groups of a header take; counters and metrics: the least. */
static size_t sum_of_groups(uint64_t w)
{
	size_t n = DA_PEBS_BASIC;

	if (w & DA_PEBS_GROUP_MEM)
		n += 32;
	if (w & DA_PEBS_GROUP_GPR)
		n += 144;
	if (w & DA_PEBS_GROUP_XMM)
		n += 256;
	if (w & DA_PEBS_GROUP_LBR)
		n += (size_t)HEADER_LBR(w) * 24;
	if (w & (DA_PEBS_GROUP_COUNTERS | DA_PEBS_GROUP_METRICS))
		n += 16;
	return n;
}

/* May a record begin so? Its size is that of its groups, or more if there are counters, whose number stands
 * behind, or groups that are unknown here. */
static bool possible_header(uint64_t w)
{
	bool open_end = w & (DA_PEBS_GROUP_COUNTERS | DA_PEBS_GROUP_METRICS | HEADER_RESERVED);
	size_t size = HEADER_SIZE(w), sum = sum_of_groups(w);

	return size % WORD == 0 && (open_end ? size >= sum : size == sum);
}

/* What may be trusted where no header was expected: no unknown groups. */
static bool known_header(uint64_t w)
{
	return possible_header(w) && !(w & HEADER_RESERVED) &&
	       (w & DA_PEBS_GROUP_LBR || HEADER_LBR(w) == 1);
}

long da_pebs_size(const uint8_t *p, size_t n, unsigned format)
{
	static const long fixed[] = {144, 176, 192, 200};
	uint64_t w;

	if (format < DA_PEBS_ADAPTIVE)
		return fixed[format];
	if (n < WORD)
		return 0;
	w = word_at(p);
	return possible_header(w) ? (long)HEADER_SIZE(w) : -1;
}

/* ---- fields ---- */

/* Positions in regs of the general registers in a record, FLAGS first. */
static const uint8_t fixed_order[DA_PEBS_REGS] = {9, 8,  0,  1,  2,  3,  4,  5,  6,
						  7, 10, 11, 12, 13, 14, 15, 16, 17};
static const uint8_t adaptive_order[DA_PEBS_REGS] = {9, 8,  0,  2,  3,  1,  7,  6,  4,
						     5, 10, 11, 12, 13, 14, 15, 16, 17};

static void read_regs(struct da_cur *c, const uint8_t order[DA_PEBS_REGS], struct da_pebs_record *r)
{
	for (unsigned i = 0; i < DA_PEBS_REGS; i++)
		r->regs[order[i]] = da_cur_u64(c);
	r->has_regs = true;
}

static void read_fixed(struct da_cur *c, unsigned format, struct da_pebs_record *r)
{
	read_regs(c, fixed_order, r);
	if (format == DA_PEBS_CORE)
		return;
	r->counters = da_cur_u64(c);
	r->address = da_cur_u64(c);
	r->source = da_cur_u64(c);
	r->latency = da_cur_u64(c);
	r->has_mem = true;
	if (format == DA_PEBS_NHM)
		return;
	r->ip = da_cur_u64(c);
	r->has_ip = true;
	da_cur_skip(c, WORD); /* transaction */
	if (format == DA_PEBS_HSW)
		return;
	r->tsc = da_cur_u64(c);
	r->has_tsc = true;
}

static void read_adaptive(struct da_cur *c, struct da_pebs_record *r)
{
	uint64_t w = da_cur_u64(c);

	r->groups = (uint32_t)w;
	r->retire_latency = HEADER_RETIRE(w);
	r->ip = da_cur_u64(c);
	r->counters = da_cur_u64(c);
	r->tsc = da_cur_u64(c);
	r->has_ip = r->has_tsc = true;
	if (w & DA_PEBS_GROUP_MEM) {
		r->address = da_cur_u64(c);
		r->source = da_cur_u64(c);
		r->latency = da_cur_u64(c);
		da_cur_skip(c, WORD); /* transaction */
		r->has_mem = true;
	}
	if (w & DA_PEBS_GROUP_GPR)
		read_regs(c, adaptive_order, r);
}

void da_pebs_read(const uint8_t *p, size_t size, unsigned format, struct da_pebs_record *r)
{
	struct da_cur c = cursor(p, size);

	memset(r, 0, sizeof(*r));
	if (format < DA_PEBS_ADAPTIVE)
		read_fixed(&c, format, r);
	else
		read_adaptive(&c, r);
}

/* ---- reports ---- */

/* The direction of the event's accesses; 0: not known. */
static uint8_t op_of(enum da_pebs_source src)
{
	switch (src) {
	case DA_PEBS_SRC_STORE_SNB:
	case DA_PEBS_SRC_STORE_GLC:
	case DA_PEBS_SRC_DATALA_STORE:
	case DA_PEBS_SRC_STORE_GRT:
	case DA_PEBS_SRC_STORE_CMT:
	case DA_PEBS_SRC_STORE_LNC:
		return DA_OP_WRITE;
	case DA_PEBS_SRC_LOAD_NHM:
	case DA_PEBS_SRC_LOAD_SNB:
	case DA_PEBS_SRC_LOAD_SKL:
	case DA_PEBS_SRC_LOAD_GLC:
	case DA_PEBS_SRC_DATALA_LOAD:
	case DA_PEBS_SRC_LOAD_GRT:
	case DA_PEBS_SRC_LOAD_CMT:
	case DA_PEBS_SRC_LOAD_LNC:
		return DA_OP_READ;
	default:
		return 0;
	}
}

/* Cycles of the memory access. Since Alder Lake the word holds two numbers, the cache latency above that of
 * the instruction; before, the upper half is 0. */
static uint32_t latency_of(uint64_t w)
{
	return w >> 32 ? (uint32_t)(w >> 32 & 0xffff) : (uint32_t)w;
}

static void fill_report(const struct da_pebs_record *rec, enum da_pebs_source src,
			struct da_report *r)
{
	r->how = DA_HOW_HARDWARE;
	r->vaddr = rec->address;
	r->has |= DA_HAS_VADDR;
	if (rec->has_ip) {
		r->ip = rec->ip;
		r->has |= DA_HAS_IP;
	}
	if (rec->has_tsc) {
		r->time_ns = rec->tsc;
		r->has = (r->has & ~(uint32_t)DA_HAS_TIME) | DA_HAS_TICKS;
	}
	if (latency_of(rec->latency)) { /* 0: not measured for this event */
		r->latency = latency_of(rec->latency);
		r->has |= DA_HAS_LATENCY;
	}
	if (op_of(src)) {
		r->op = op_of(src);
		r->data_src = da_pebs_data_src(src, rec->source);
		r->has |= DA_HAS_OP | DA_HAS_DATA_SRC;
	}
}

static void give_regs(const struct da_pebs_record *rec, const struct da_sink *sink)
{
	struct da_regs regs = {
		.mask = DA_PEBS_MASK,
		.vals = (const uint8_t *)rec->regs,
		.abi = 2,
		.arch = DA_ARCH_X86_64,
		.phase = DA_REGS_AFTER,
	};

	if (sink->regs)
		sink->regs(sink->ctx, rec->has_ip ? rec->ip : 0, &regs);
}

static void give_record(const uint8_t *p, size_t size, const struct da_input *in,
			const struct da_sink *sink, struct da_decode_stats *stats)
{
	struct da_report r = {0};
	struct da_pebs_record rec;

	da_pebs_read(p, size, in->pebs_format, &rec);
	stats->records++;
	if (rec.has_regs)
		give_regs(&rec, sink);
	if (!rec.has_mem || !rec.address) {
		sink->record(sink->ctx, 0, DA_DROP_ADDR_NONE);
		return;
	}
	if (in->base)
		r = *in->base;
	fill_report(&rec, (enum da_pebs_source)in->pebs_source, &r);
	sink->report(sink->ctx, &r);
	sink->record(sink->ctx, 1, DA_DROP_NR);
}

/* ---- streaming ---- */

/* Skips to a header that can be trusted; false: none in the window. */
static bool resync(struct da_pebs_state *st, const struct da_input *in, size_t *at,
		   struct da_decode_stats *stats)
{
	for (; in->len - *at >= WORD; *at += WORD) {
		uint64_t w = word_at(in->bytes + *at);

		if (known_header(w) || (st->has_like && HEADER_LIKE(w) == st->like))
			return true;
		stats->bad_bytes += WORD;
		stats->resync_bytes += WORD;
	}
	return false;
}

static void end_of_stream(struct da_pebs_state *st, const struct da_input *in, size_t *at,
			  const struct da_sink *sink, struct da_decode_stats *stats)
{
	if (st->resync) {
		stats->resync_bytes += in->len - *at;
	} else if (st->kept) {
		stats->truncated_records++;
		sink->record(sink->ctx, 0, DA_DROP_TRUNCATED);
	}
	*at = in->len;
	st->kept = st->resync = false;
}

size_t da_pebs_decode(void *state, const struct da_input *in, const struct da_sink *sink,
		      struct da_decode_stats *stats)
{
	struct da_pebs_state *st = state;
	size_t at = 0;

	if (in->gap) {
		if (st->kept) {
			stats->truncated_records++;
			sink->record(sink->ctx, 0, DA_DROP_TRUNCATED);
		}
		st->resync = false;
	}
	if (in->len || in->gap)
		st->kept = false;
	while (at < in->len) {
		long size;

		if (st->resync) {
			st->resync = !resync(st, in, &at, stats);
			if (st->resync)
				break;
		}
		size = da_pebs_size(in->bytes + at, in->len - at, in->pebs_format);
		if (size < 0) {
			stats->damaged_records++;
			stats->bad_bytes += WORD;
			stats->resync_bytes += WORD;
			sink->record(sink->ctx, 0, DA_DROP_BAD_PACKET);
			st->resync = true;
			at += WORD;
			continue;
		}
		if (!size || in->len - at < (size_t)size) {
			st->kept = true;
			break;
		}
		give_record(in->bytes + at, (size_t)size, in, sink, stats);
		if (in->pebs_format >= DA_PEBS_ADAPTIVE) {
			st->like = HEADER_LIKE(word_at(in->bytes + at));
			st->has_like = true;
		}
		at += (size_t)size;
	}
	if (in->last)
		end_of_stream(st, in, &at, sink, stats);
	return at;
}
