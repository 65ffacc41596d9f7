/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generator of Arm SPE bytes: records in the shapes that real CPUs write, with known contents. Header-only,
 * deterministic for a seed; for benches and tests. It writes records, not perf.data files.
 */
#ifndef GEN_SPE_H
#define GEN_SPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GEN_SPE_MAX 128 /* longest record, padding included */

enum gen_spe_mix {
	GEN_SPE_ONE, /* one layout: loads */
	GEN_SPE_NEOVERSE, /* 64-byte records: loads with and without source, stores, atomics, branches, others */
	GEN_SPE_COMPACT, /* 44-byte records without CONTEXT, as a guest saw them */
	GEN_SPE_MANY, /* all those, END for TIMESTAMP, padding between, extended headers, all in turn */
	GEN_SPE_MIX_NR
};

/* What a record says. */
struct gen_spe_truth {
	bool memory; /* a load or store: has va */
	bool store, atomic, has_pa, has_ticks, has_tid;
	uint64_t pc, va, pa, ticks;
	uint32_t tid;
	uint16_t events, latency;
};

struct gen_spe {
	uint64_t rng;
	uint64_t ticks;
	enum gen_spe_mix mix;
	uint32_t tid;              /* of all records, until changed; 0: one of eight each time */
	struct gen_spe_truth last; /* of the record written last */
};

static inline uint64_t gen_spe_random(struct gen_spe *g)
{
	uint64_t x = g->rng; /* xorshift64* */

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	g->rng = x;
	return x * 0x2545f4914f6cdd1d;
}

static inline struct gen_spe gen_spe_new(uint64_t seed, enum gen_spe_mix mix)
{
	return (struct gen_spe){.rng = seed * 2 + 1, .ticks = 1000000, .mix = mix};
}

/* ---- packets; each returns the bytes behind it ---- */

static inline uint8_t *gen_spe_put(uint8_t *p, uint8_t head, uint64_t payload, unsigned bytes)
{
	*p++ = head;
	for (; bytes; bytes--, payload >>= 8)
		*p++ = (uint8_t)payload;
	return p;
}

static inline uint8_t *gen_spe_pad(uint8_t *p, unsigned n)
{
	memset(p, 0, n);
	return p + n;
}

/* Up to the n-th byte of the record. */
static inline uint8_t *gen_spe_pad_to(uint8_t *from, uint8_t *p, unsigned n)
{
	return p < from + n ? gen_spe_pad(p, (unsigned)(from + n - p)) : p;
}

/* ---- contents ---- */

static inline void gen_spe_truth(struct gen_spe *g, bool memory, bool store)
{
	struct gen_spe_truth *t = &g->last;
	uint64_t r = gen_spe_random(g), s = gen_spe_random(g);

	*t = (struct gen_spe_truth){.memory = memory, .store = store};
	g->ticks += 1 + (r & 0x3ff);
	t->ticks = g->ticks;
	t->pc = 0xaaaad0001000 + (r >> 10 & 0x3f) * 4;
	t->tid = g->tid ? g->tid : 1000 + (r >> 16 & 7);
	/* four areas of 64 MiB, one of them hot */
	t->va = 0xffff80000000 + ((s & 7) > 3 ? 0 : (s & 3)) * 0x40000000 + (s >> 8 & 0x3fffff8);
	t->pa = 0x880000000 + (t->va & 0xffffffff);
	t->events = (uint16_t)(0x12 | (memory ? 0x04 : 0) | (s >> 40 & 7 ? 0 : 0x328));
	t->latency = (uint16_t)(4 + (s >> 44 & (t->events & 0x200 ? 0x1ff : 0xf)));
}

/* PC [.5] CONTEXT OP EVENTS ISSUE TOTAL VA|TARGET XLAT [PA] [SOURCE] TS|END, 64 bytes */
static inline size_t gen_spe_neoverse(struct gen_spe *g, uint8_t *out, bool pa, bool source,
				      uint8_t op_head, uint8_t op, bool end)
{
	struct gen_spe_truth *t = &g->last;
	uint8_t *p = out;

	p = gen_spe_put(p, 0xb0, t->pc | (uint64_t)1 << 63, 8);
	p = gen_spe_pad_to(out, p, 14);
	p = gen_spe_put(p, 0x65, t->tid, 4);
	p = gen_spe_put(p, op_head, op, 1);
	p = gen_spe_put(p, 0x52, t->events, 2);
	p = gen_spe_put(p, 0x99, 3, 2);
	p = gen_spe_put(p, 0x98, t->latency, 2);
	if (t->memory)
		p = gen_spe_put(gen_spe_put(p, 0xb2, t->va, 8), 0x9a, 1, 2);
	else if (op_head == 0x4a)
		p = gen_spe_put(p, 0xb1, (t->pc + 64) | (uint64_t)1 << 63, 8);
	if (t->memory && pa)
		p = gen_spe_put(p, 0xb3, t->pa | (uint64_t)1 << 63, 8);
	t->has_pa = t->memory && pa;
	p = gen_spe_pad_to(out, p, 51);
	if (source)
		p = gen_spe_put(p, 0x43, (t->events & 0x200) ? 0xe : (t->events & 8) ? 8 : 0, 1);
	t->has_tid = true;
	t->has_ticks = !end;
	if (end)
		return (size_t)(gen_spe_pad_to(out, gen_spe_put(p, 0x01, 0, 0), 64) - out);
	p = gen_spe_pad_to(out, p, 55);
	return (size_t)(gen_spe_put(p, 0x71, t->ticks, 8) - out);
}

/* PC ISSUE TOTAL EVENTS OP [VA XLAT] TS, 44 bytes */
static inline size_t gen_spe_compact(struct gen_spe *g, uint8_t *out)
{
	struct gen_spe_truth *t = &g->last;
	uint8_t *p = gen_spe_put(out, 0xb0, t->pc | (uint64_t)1 << 63, 8);

	p = gen_spe_put(p, 0x99, 3, 2);
	p = gen_spe_put(p, 0x98, t->latency, 2);
	p = gen_spe_put(p, 0x52, t->events, 2);
	p = gen_spe_put(p, t->memory ? 0x49 : 0x48, t->store, 1);
	if (t->memory)
		p = gen_spe_put(gen_spe_put(p, 0xb2, t->va, 8), 0x9a, 1, 2);
	p = gen_spe_pad_to(out, p, 35);
	t->has_ticks = true;
	return (size_t)(gen_spe_put(p, 0x71, t->ticks, 8) - out);
}

/* VA and PC in extended headers, 8-byte events, a previous branch target; END and no padding. */
static inline size_t gen_spe_extended(struct gen_spe *g, uint8_t *out)
{
	struct gen_spe_truth *t = &g->last;
	uint8_t *p = gen_spe_put(out, 0x20, 0xb0 | t->pc << 8, 8);

	*p++ = 0x80;
	p = gen_spe_put(p, 0x72, t->events, 8);
	p = gen_spe_put(p, 0x49, t->store, 1);
	p = gen_spe_put(gen_spe_put(p, 0x20, 0xb2, 1), (uint8_t)t->va, t->va >> 8, 7);
	p = gen_spe_put(p, 0x98, t->latency, 2);
	p = gen_spe_put(p, 0xb4, t->pc | (uint64_t)1 << 63, 8);
	return (size_t)(gen_spe_put(p, 0x01, 0, 0) - out);
}

/* Writes one record (at most GEN_SPE_MAX bytes); returns its length. g->last tells what it says. */
static inline size_t gen_spe_record(struct gen_spe *g, uint8_t *out)
{
	unsigned dice = (unsigned)(gen_spe_random(g) >> 33);
	unsigned kind = g->mix == GEN_SPE_ONE ? 0 : dice & 15;

	gen_spe_truth(g, kind < 12, kind >= 6 && kind < 11);
	if (g->mix == GEN_SPE_COMPACT || (g->mix == GEN_SPE_MANY && (dice >> 8 & 3) == 1))
		return gen_spe_compact(g, out);
	if (g->mix == GEN_SPE_MANY && g->last.memory && (dice >> 8 & 3) == 2)
		return gen_spe_extended(g, out);
	if (kind < 6)
		return gen_spe_neoverse(g, out, kind < 3, kind != 5, 0x49,
					kind & 1 && g->mix ? 0x04 : 0x00,
					g->mix == GEN_SPE_MANY && (dice >> 8 & 3) == 3);
	if (kind < 11)
		return gen_spe_neoverse(g, out, kind < 9, false, 0x49, kind & 1 ? 0x01 : 0x05,
					false);
	if (kind == 11) {
		g->last.atomic = true;
		return gen_spe_neoverse(g, out, true, true, 0x49, 0x06, false);
	}
	if (kind < 15)
		return gen_spe_neoverse(g, out, false, false, 0x4a, (uint8_t)(dice >> 5 & 1),
					false);
	return gen_spe_neoverse(g, out, false, false, 0x48, 0x00, false);
}

/* Fills len bytes with whole records and padding; returns the number of records. */
static inline size_t gen_spe_fill(struct gen_spe *g, uint8_t *out, size_t len)
{
	size_t at = 0, nr = 0;

	while (len - at >= GEN_SPE_MAX) {
		at += gen_spe_record(g, out + at);
		nr++;
	}
	memset(out + at, 0, len - at);
	return nr;
}

#endif
