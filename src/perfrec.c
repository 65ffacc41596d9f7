/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One PERF_RECORD_SAMPLE and the sample_id trailer: bytes to fields and back. The only place that knows
 * the order of sample fields.
 *
 * The order is that of the kernel's perf_output_sample() (kernel/events/core.c), not of the comment in
 * uapi linux/perf_event.h: AUX comes last, after the page sizes, and CGROUP lies between PHYS_ADDR and
 * DATA_PAGE_SIZE. What the fields mean is not decided here; other records are in perfside.c.
 */
#include <string.h>

#include "da_cursor.h"
#include "da_perfdata.h"

#define REC_HEADER      8
#define BRANCH_ENTRY    24
#define BRANCH_HW_INDEX (1ull << 17) /* branch_sample_type: hw_idx precedes the entries */
#define BRANCH_COUNTERS (1ull << 19) /* branch_sample_type: one u64 an entry follows them */
#define REGS_ABI_MAX    2            /* 1: 32-bit task, 2: 64-bit */

/* ---- parsing ---- */

/* Each field marks its bit in the mask only when all of its bytes were there. */
static inline void mark(const struct da_cur *c, struct da_samp *s, uint64_t bit)
{
	if (da_cur_ok(c))
		s->mask |= bit;
}

static inline __attribute__((always_inline)) void
take_u64(struct da_cur *c, struct da_samp *s, uint64_t type, uint64_t bit, uint64_t *dst)
{
	if (!(type & bit))
		return;
	*dst = da_cur_u64(c);
	mark(c, s, bit);
}

/* Bytes of a read_format block; the number of a group's members comes from the file. */
static void take_read(struct da_cur *c, uint64_t format, struct da_samp *s)
{
	uint64_t times = !!(format & DA_FORMAT_TIME_ENABLED) + !!(format & DA_FORMAT_TIME_RUNNING);
	uint64_t member = 1 + !!(format & DA_FORMAT_ID) + !!(format & DA_FORMAT_LOST);
	const uint8_t *start = c->p + c->off;
	size_t from = c->off;

	if (format & DA_FORMAT_GROUP) {
		uint64_t nr = da_cur_u64(c);

		da_cur_skip(c, 8 * times);
		da_cur_array(c, nr, 8 * member);
	} else {
		da_cur_skip(c, 8 * (times + member));
	}
	if (!da_cur_ok(c))
		return;
	s->read = start;
	s->read_size = c->off - from;
	s->mask |= DA_SAMPLE_READ;
}

static void take_callchain(struct da_cur *c, struct da_samp *s)
{
	uint64_t nr = da_cur_u64(c);
	const uint8_t *ips = da_cur_array(c, nr, 8);

	if (!da_cur_ok(c))
		return;
	s->callchain = ips;
	s->nr_callchain = nr;
	s->mask |= DA_SAMPLE_CALLCHAIN;
}

static void take_raw(struct da_cur *c, struct da_samp *s)
{
	uint32_t size = da_cur_u32(c);
	const uint8_t *raw = da_cur_bytes(c, size);

	if (!da_cur_ok(c))
		return;
	s->raw = raw;
	s->raw_size = size;
	s->mask |= DA_SAMPLE_RAW;
}

static void take_branches(struct da_cur *c, uint64_t branch_type, struct da_samp *s)
{
	uint64_t nr = da_cur_u64(c), hw_idx = 0;
	const uint8_t *entries, *counters = NULL;

	if (branch_type & BRANCH_HW_INDEX)
		hw_idx = da_cur_u64(c);
	entries = da_cur_array(c, nr, BRANCH_ENTRY);
	if (branch_type & BRANCH_COUNTERS)
		counters = da_cur_array(c, nr, 8);
	if (!da_cur_ok(c))
		return;
	s->branches = entries;
	s->branch_counters = counters;
	s->nr_branches = nr;
	s->hw_idx = hw_idx;
	s->mask |= DA_SAMPLE_BRANCH_STACK;
}

static void take_regs(struct da_cur *c, struct da_samp *s, uint64_t bit, uint64_t mask,
		      struct da_regs *regs)
{
	uint64_t abi = da_cur_u64(c);

	if (abi > REGS_ABI_MAX)
		c->bad =
			true; /* no kernel writes it: the sample is not laid out as its attr says */
	else if (abi)
		regs->vals = da_cur_bytes(c, 8 * (uint64_t)__builtin_popcountll(mask));
	if (!da_cur_ok(c)) {
		regs->vals = NULL;
		return;
	}
	if (abi) {
		regs->mask = mask;
		regs->swap = c->swap;
		regs->abi = (uint8_t)abi;
	}
	s->mask |= bit;
}

static void take_stack(struct da_cur *c, struct da_samp *s)
{
	uint64_t size = da_cur_u64(c), dyn = 0;
	const uint8_t *stack = NULL;

	if (size) {
		stack = da_cur_bytes(c, size);
		dyn = da_cur_u64(c);
	}
	if (!da_cur_ok(c))
		return;
	s->stack = stack;
	s->stack_size = size;
	s->stack_dyn_size = dyn;
	s->mask |= DA_SAMPLE_STACK_USER;
}

static void take_aux(struct da_cur *c, struct da_samp *s)
{
	uint64_t size = da_cur_u64(c);
	const uint8_t *aux = da_cur_bytes(c, size);

	if (!da_cur_ok(c))
		return;
	s->aux = aux;
	s->aux_size = size;
	s->mask |= DA_SAMPLE_AUX;
}

/* The fields of fixed size that lead a sample, 8 bytes each. */
#define FRONT                                                                                      \
	(DA_SAMPLE_IDENTIFIER | DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ADDR |   \
	 DA_SAMPLE_ID | DA_SAMPLE_STREAM_ID | DA_SAMPLE_CPU | DA_SAMPLE_PERIOD)

static inline uint64_t next_u64(const uint8_t **p, bool swap)
{
	uint64_t v;

	memcpy(&v, *p, 8);
	*p += 8;
	return swap ? __builtin_bswap64(v) : v;
}

static inline void next_pair(const uint8_t **p, bool swap, uint32_t *a, uint32_t *b)
{
	memcpy(a, *p, 4);
	memcpy(b, *p + 4, 4);
	*p += 8;
	if (swap) {
		*a = __builtin_bswap32(*a);
		*b = __builtin_bswap32(*b);
	}
}

/* All of FRONT, which the caller knows to fit: one comparison for a sample's usual fields. */
static void take_front(struct da_cur *c, uint64_t type, struct da_samp *s)
{
	const uint8_t *p = c->p + c->off;
	uint32_t unused;

	if (type & DA_SAMPLE_IDENTIFIER)
		s->id = next_u64(&p, c->swap);
	if (type & DA_SAMPLE_IP)
		s->ip = next_u64(&p, c->swap);
	if (type & DA_SAMPLE_TID)
		next_pair(&p, c->swap, &s->pid, &s->tid);
	if (type & DA_SAMPLE_TIME)
		s->time_ns = next_u64(&p, c->swap);
	if (type & DA_SAMPLE_ADDR)
		s->addr = next_u64(&p, c->swap);
	if (type & DA_SAMPLE_ID)
		s->id = next_u64(&p, c->swap);
	if (type & DA_SAMPLE_STREAM_ID)
		s->stream_id = next_u64(&p, c->swap);
	if (type & DA_SAMPLE_CPU)
		next_pair(&p, c->swap, &s->cpu, &unused);
	if (type & DA_SAMPLE_PERIOD)
		s->period = next_u64(&p, c->swap);
	c->off = (size_t)(p - c->p);
	s->mask |= type & FRONT;
}

/* The same where the record ends among them. */
static void take_cut_front(struct da_cur *c, uint64_t type, struct da_samp *s)
{
	take_u64(c, s, type, DA_SAMPLE_IDENTIFIER, &s->id);
	take_u64(c, s, type, DA_SAMPLE_IP, &s->ip);
	if (type & DA_SAMPLE_TID) {
		s->pid = da_cur_u32(c);
		s->tid = da_cur_u32(c);
		mark(c, s, DA_SAMPLE_TID);
	}
	take_u64(c, s, type, DA_SAMPLE_TIME, &s->time_ns);
	take_u64(c, s, type, DA_SAMPLE_ADDR, &s->addr);
	take_u64(c, s, type, DA_SAMPLE_ID, &s->id);
	take_u64(c, s, type, DA_SAMPLE_STREAM_ID, &s->stream_id);
	if (type & DA_SAMPLE_CPU) {
		s->cpu = da_cur_u32(c);
		da_cur_skip(c, 4);
		mark(c, s, DA_SAMPLE_CPU);
	}
	take_u64(c, s, type, DA_SAMPLE_PERIOD, &s->period);
}

int da_samp_parse(const struct da_attr *a, const uint8_t *rec, size_t size, bool swap,
		  struct da_samp *out)
{
	uint64_t type = a->sample_type;
	struct da_cur c = da_cur_from(rec, size, swap);

	memset(out, 0, sizeof(*out));
	da_cur_skip(&c, REC_HEADER);
	if (da_cur_left(&c) >= 8 * (size_t)__builtin_popcountll(type & FRONT))
		take_front(&c, type, out);
	else
		take_cut_front(&c, type, out);
	if (type & DA_SAMPLE_READ)
		take_read(&c, a->read_format, out);
	if (type & DA_SAMPLE_CALLCHAIN)
		take_callchain(&c, out);
	if (type & DA_SAMPLE_RAW)
		take_raw(&c, out);
	if (type & DA_SAMPLE_BRANCH_STACK)
		take_branches(&c, a->branch_sample_type, out);
	if (type & DA_SAMPLE_REGS_USER)
		take_regs(&c, out, DA_SAMPLE_REGS_USER, a->sample_regs_user, &out->regs_user);
	if (type & DA_SAMPLE_STACK_USER)
		take_stack(&c, out);
	/* One u64 whichever of the two asked for it; the kernel refuses both at once. */
	take_u64(&c, out, type, type & (DA_SAMPLE_WEIGHT | DA_SAMPLE_WEIGHT_STRUCT), &out->weight);
	take_u64(&c, out, type, DA_SAMPLE_DATA_SRC, &out->data_src);
	take_u64(&c, out, type, DA_SAMPLE_TRANSACTION, &out->transaction);
	if (type & DA_SAMPLE_REGS_INTR)
		take_regs(&c, out, DA_SAMPLE_REGS_INTR, a->sample_regs_intr, &out->regs_intr);
	take_u64(&c, out, type, DA_SAMPLE_PHYS_ADDR, &out->phys_addr);
	take_u64(&c, out, type, DA_SAMPLE_CGROUP, &out->cgroup);
	take_u64(&c, out, type, DA_SAMPLE_DATA_PAGE_SIZE, &out->data_page_size);
	take_u64(&c, out, type, DA_SAMPLE_CODE_PAGE_SIZE, &out->code_page_size);
	if (type & DA_SAMPLE_AUX)
		take_aux(&c, out);
	return da_cur_ok(&c) ? 0 : -DA_EDAMAGED;
}

int da_sample_id_parse(const struct da_attr *a, struct da_rec *rec)
{
	static const uint64_t in_trailer = DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_ID |
					   DA_SAMPLE_STREAM_ID | DA_SAMPLE_CPU |
					   DA_SAMPLE_IDENTIFIER;
	uint64_t type = a->sample_type & in_trailer;
	size_t size = 8 * (size_t)__builtin_popcountll(type);
	struct da_cur c;

	rec->has = 0;
	if (!(a->flags & DA_ATTR_SAMPLE_ID_ALL) || rec->type >= DA_REC_HEADER_ATTR)
		return 0;
	if (rec->size < REC_HEADER || size > rec->size - REC_HEADER)
		return -DA_EDAMAGED;
	c = da_cur_from(rec->bytes + rec->size - size, size, rec->swap);
	if (type & DA_SAMPLE_TID) {
		rec->pid = da_cur_u32(&c);
		rec->tid = da_cur_u32(&c);
	}
	if (type & DA_SAMPLE_TIME)
		rec->time_ns = da_cur_u64(&c);
	if (type & DA_SAMPLE_ID)
		rec->id = da_cur_u64(&c);
	if (type & DA_SAMPLE_STREAM_ID)
		da_cur_skip(&c, 8);
	if (type & DA_SAMPLE_CPU) {
		rec->cpu = da_cur_u32(&c);
		da_cur_skip(&c, 4);
	}
	if (type & DA_SAMPLE_IDENTIFIER)
		rec->id = da_cur_u64(&c);
	rec->has = type & (DA_SAMPLE_TID | DA_SAMPLE_TIME | DA_SAMPLE_CPU);
	if (type & (DA_SAMPLE_ID | DA_SAMPLE_IDENTIFIER))
		rec->has |= DA_SAMPLE_ID;
	return 0;
}

/* ---- building ---- */

struct out {
	uint8_t *p;
	size_t len, cap;
	bool full; /* sticky: something did not fit */
};

static void put(struct out *o, const void *v, uint64_t n)
{
	if (o->full || n > o->cap - o->len) {
		o->full = true;
		return;
	}
	if (n)
		memcpy(o->p + o->len, v, (size_t)n);
	o->len += (size_t)n;
}

static void put_u64(struct out *o, uint64_t v)
{
	put(o, &v, 8);
}

static void put_pair(struct out *o, uint32_t a, uint32_t b)
{
	put(o, &a, 4);
	put(o, &b, 4);
}

static void put_zeros(struct out *o, size_t n)
{
	static const uint8_t zeros[8];

	put(o, zeros, n);
}

/* Bytes, then zeros up to a multiple of 8. */
static void put_padded(struct out *o, const void *v, uint64_t n)
{
	put(o, v, n);
	put_zeros(o, (size_t)(-n & 7));
}

static void put_regs(struct out *o, uint64_t mask, const struct da_regs *r)
{
	put_u64(o, r->abi);
	if (r->abi)
		put(o, r->vals, 8 * (uint64_t)__builtin_popcountll(mask));
}

int da_samp_build(const struct da_attr *a, uint16_t misc, const struct da_samp *s, uint8_t *buf,
		  size_t cap)
{
	uint64_t type = a->sample_type;
	struct out o = {.p = buf, .cap = cap < UINT16_MAX ? cap : UINT16_MAX};
	uint32_t rec_type = DA_REC_SAMPLE;
	uint16_t size;

	put_zeros(&o, REC_HEADER);
	if (type & DA_SAMPLE_IDENTIFIER)
		put_u64(&o, s->id);
	if (type & DA_SAMPLE_IP)
		put_u64(&o, s->ip);
	if (type & DA_SAMPLE_TID)
		put_pair(&o, s->pid, s->tid);
	if (type & DA_SAMPLE_TIME)
		put_u64(&o, s->time_ns);
	if (type & DA_SAMPLE_ADDR)
		put_u64(&o, s->addr);
	if (type & DA_SAMPLE_ID)
		put_u64(&o, s->id);
	if (type & DA_SAMPLE_STREAM_ID)
		put_u64(&o, s->stream_id);
	if (type & DA_SAMPLE_CPU)
		put_pair(&o, s->cpu, 0);
	if (type & DA_SAMPLE_PERIOD)
		put_u64(&o, s->period);
	if (type & DA_SAMPLE_READ)
		put(&o, s->read, s->read_size);
	if (type & DA_SAMPLE_CALLCHAIN) {
		put_u64(&o, s->nr_callchain);
		put(&o, s->callchain,
		    s->nr_callchain > UINT16_MAX ? UINT64_MAX : 8 * s->nr_callchain);
	}
	if (type & DA_SAMPLE_RAW) {
		/* As the kernel does: the size counts the padding, and 4 + size is a multiple of 8. */
		uint32_t pad = -(s->raw_size + 4) & 7, padded = s->raw_size + pad;

		put(&o, &padded, 4);
		put(&o, s->raw, s->raw_size);
		put_zeros(&o, pad);
	}
	if (type & DA_SAMPLE_BRANCH_STACK) {
		uint64_t nr = s->nr_branches > UINT16_MAX ? UINT16_MAX : s->nr_branches;

		put_u64(&o, s->nr_branches);
		if (a->branch_sample_type & BRANCH_HW_INDEX)
			put_u64(&o, s->hw_idx);
		put(&o, s->branches, nr * BRANCH_ENTRY);
		if (a->branch_sample_type & BRANCH_COUNTERS)
			put(&o, s->branch_counters, nr * 8);
	}
	if (type & DA_SAMPLE_REGS_USER)
		put_regs(&o, a->sample_regs_user, &s->regs_user);
	if (type & DA_SAMPLE_STACK_USER) {
		put_u64(&o, (s->stack_size + 7) & ~7ull);
		put_padded(&o, s->stack, s->stack_size);
		if (s->stack_size)
			put_u64(&o, s->stack_dyn_size);
	}
	if (type & (DA_SAMPLE_WEIGHT | DA_SAMPLE_WEIGHT_STRUCT))
		put_u64(&o, s->weight);
	if (type & DA_SAMPLE_DATA_SRC)
		put_u64(&o, s->data_src);
	if (type & DA_SAMPLE_TRANSACTION)
		put_u64(&o, s->transaction);
	if (type & DA_SAMPLE_REGS_INTR)
		put_regs(&o, a->sample_regs_intr, &s->regs_intr);
	if (type & DA_SAMPLE_PHYS_ADDR)
		put_u64(&o, s->phys_addr);
	if (type & DA_SAMPLE_CGROUP)
		put_u64(&o, s->cgroup);
	if (type & DA_SAMPLE_DATA_PAGE_SIZE)
		put_u64(&o, s->data_page_size);
	if (type & DA_SAMPLE_CODE_PAGE_SIZE)
		put_u64(&o, s->code_page_size);
	if (type & DA_SAMPLE_AUX) {
		put_u64(&o, (s->aux_size + 7) & ~7ull);
		put_padded(&o, s->aux, s->aux_size);
	}
	if (o.full)
		return -DA_ENOMEM;
	size = (uint16_t)o.len;
	memcpy(buf, &rec_type, 4);
	memcpy(buf + 4, &misc, 2);
	memcpy(buf + 6, &size, 2);
	return (int)size;
}

size_t da_sample_id_build(const struct da_attr *a, uint32_t pid, uint32_t tid, uint64_t time_ns,
			  uint64_t id, uint32_t cpu, uint8_t *buf)
{
	uint64_t type = a->sample_type;
	struct out o = {.p = buf, .cap = DA_SAMPLE_ID_MAX};

	if (!(a->flags & DA_ATTR_SAMPLE_ID_ALL))
		return 0;
	if (type & DA_SAMPLE_TID)
		put_pair(&o, pid, tid);
	if (type & DA_SAMPLE_TIME)
		put_u64(&o, time_ns);
	if (type & DA_SAMPLE_ID)
		put_u64(&o, id);
	if (type & DA_SAMPLE_STREAM_ID)
		put_u64(&o, id);
	if (type & DA_SAMPLE_CPU)
		put_pair(&o, cpu, 0);
	if (type & DA_SAMPLE_IDENTIFIER)
		put_u64(&o, id);
	return o.len;
}
