/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE: whether records are walked or fit a cached layout, and for either kind of sink, the result must be
 * the same, with any bytes, in any windows; and it must be what the generator of the bytes meant.
 *
 * timeout: 600
 */
#include <check.h>
#include <stdio.h>

#include "spe_stream.h"

static void compare_ways(const uint8_t *b, size_t n, struct gen_spe *rnd, const char *what,
			 unsigned round)
{
	struct run walk = {.walk_only = true, .batch = true}, fast = {.batch = true},
		   plain = {.batch = false};
	struct run windows = {.batch = true, .cut = at_random, .ctx = rnd};
	struct decode_result want, got;

	decode(b, n, 0, &walk, &want);
	decode(b, n, 0, &fast, &got);
	ck_assert_msg(decode_equal(&want, &got), "%s %u: layouts", what, round);
	decode_release(&got);
	decode(b, n, 0, &plain, &got);
	ck_assert_msg(decode_equal(&want, &got), "%s %u: no batch", what, round);
	decode_release(&got);
	decode(b, n, 0, &windows, &got);
	ck_assert_msg(decode_equal(&want, &got), "%s %u: windows", what, round);
	decode_release(&got);
	decode_release(&want);
}

START_TEST(generated)
{
	static const enum gen_spe_mix mixes[] = {GEN_SPE_ONE, GEN_SPE_NEOVERSE, GEN_SPE_COMPACT,
						 GEN_SPE_MANY};
	struct gen_spe rnd = gen_spe_new(77, GEN_SPE_ONE);
	size_t n = 65536;
	uint8_t *b = decode_must(malloc(n));

	for (unsigned round = 0; round < 40; round++) {
		struct gen_spe g = gen_spe_new(round + 1, mixes[_i]);

		gen_spe_fill(&g, b, n);
		for (unsigned bad = round & 1 ? round : 0; bad; bad--)
			b[gen_spe_random(&rnd) % n] = (uint8_t)gen_spe_random(&rnd);
		compare_ways(b, n, &rnd, "mix", round);
	}
	free(b);
}
END_TEST

/* The generator's truth, so that walk and layouts are not wrong together. */
START_TEST(generated_truth)
{
	size_t n = 1 << 20, at = 0, seen = 0, drops = 0;
	uint8_t *b = decode_must(calloc(1, n));
	struct gen_spe g = gen_spe_new(5, GEN_SPE_MANY);
	struct gen_spe_truth *truth = decode_must(malloc(n / 16 * sizeof(*truth)));
	struct run fast = {.batch = true};
	struct decode_result res;

	for (; n - at >= GEN_SPE_MAX; seen++) {
		at += gen_spe_record(&g, b + at);
		truth[seen] = g.last;
	}
	decode(b, n, 0, &fast, &res);
	ck_assert_uint_eq(res.stats.records, seen);
	for (size_t i = 0, r = 0; i < seen; i++) {
		const struct gen_spe_truth *t = &truth[i];
		const struct da_report *got = &res.reports[r];

		if (!t->memory) {
			drops++;
			continue;
		}
		must(r < res.nr, "record %zu: no report", i);
		r++;
		must(got->vaddr == t->va && got->ip == t->pc && got->latency == t->latency &&
			     got->hw_events == t->events,
		     "record %zu", i);
		must(got->op == (t->atomic  ? DA_OP_READ | DA_OP_WRITE
				 : t->store ? DA_OP_WRITE
					    : DA_OP_READ),
		     "record %zu: operation %u", i, got->op);
		must(!!(got->has & DA_HAS_PADDR) == t->has_pa &&
			     (!t->has_pa || got->paddr == t->pa),
		     "record %zu: physical address", i);
		must(!!(got->has & DA_HAS_TICKS) == t->has_ticks &&
			     (!t->has_ticks || got->time_ns == t->ticks),
		     "record %zu: time", i);
		must(!!(got->has & DA_HAS_TID) == t->has_tid && (!t->has_tid || got->tid == t->tid),
		     "record %zu: task", i);
	}
	ck_assert_uint_eq(res.drops[DA_DROP_NOT_MEMORY], drops);
	decode_release(&res);
	free(truth);
	free(b);
}
END_TEST

/* Packets at random, so that layouts are odd, many, and soon forgotten. */
static size_t random_packets(struct gen_spe *g, uint8_t *out, size_t n)
{
	static const uint8_t heads[] = {0x00, 0x00, 0x01, 0x01, 0x71, 0x42, 0x52, 0x62, 0x72,
					0x43, 0x53, 0x63, 0x64, 0x65, 0x48, 0x49, 0x49, 0x4a,
					0x4b, 0xb0, 0xb1, 0xb2, 0xb2, 0xb3, 0xb4, 0xb7, 0x98,
					0x99, 0x9a, 0x9f, 0x20, 0x21, 0x23, 0x24, 0x2f};
	size_t at = 0;

	while (at + 12 <= n) {
		uint64_t r = gen_spe_random(g);
		uint8_t head = r % 64 ? heads[(r >> 8) % sizeof(heads)] : (uint8_t)(r >> 16);
		uint64_t payload = r >> 60 ? gen_spe_random(g) : 0;

		out[at++] = head;
		if ((head & 0xfc) == 0x20) {
			head = r >> 24 & 7 ? (uint8_t)((r >> 24 & 8 ? 0xb0 : 0x98) | (r >> 28 & 7))
					   : (uint8_t)(r >> 32 & 1);
			out[at++] = head;
			if (head <= 1)
				continue;
		}
		if (head > 1)
			for (unsigned size = 1u << (head >> 4 & 3); size; size--, payload >>= 8)
				out[at++] = (uint8_t)payload;
	}
	return at;
}

START_TEST(random_streams)
{
	struct gen_spe g = gen_spe_new(1 + (uint64_t)_i, GEN_SPE_ONE);
	uint8_t *b = decode_must(malloc(32768));

	for (unsigned round = 0; round < 50; round++) {
		size_t n = random_packets(&g, b, 256 + gen_spe_random(&g) % 32512);

		/* a stretch again and again, so that its layouts are used */
		if (round & 1 && n > 4096)
			for (size_t at = 1024; at + 1024 <= n; at += 1024)
				memcpy(b + at, b, 1024);
		compare_ways(b, n, &g, "stream", round);
	}
	free(b);
}
END_TEST

/* More layouts than the cache holds, coming round and round. */
START_TEST(too_many_layouts)
{
	size_t room = 4 << 20, n = 0;
	uint8_t *b = decode_must(malloc(room));
	struct gen_spe rnd = gen_spe_new(3, GEN_SPE_ONE);
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));
	struct decode_result res = {0};

	for (unsigned i = 0; n + 64 <= room; i++) {
		uint8_t *p = b + n;
		unsigned shape = i % 200;

		p = gen_spe_put(p, 0xb0, i, 8);
		p = gen_spe_pad(p, shape % 10);
		p = gen_spe_put(p, 0x49, shape / 10 % 2, 1);
		p = gen_spe_pad(p, shape / 20);
		p = gen_spe_put(p, 0xb2, i, 8);
		n = (size_t)(gen_spe_put(p, 0x01, 0, 0) - b);
	}
	compare_ways(b, n, &rnd, "layouts", 200);
	/* another CPU's encoding: what was learned for the first one must not be used */
	feed(st, b, 65536, 0, false, true, &res);
	ck_assert(res.reports[res.nr - 1].data_src == 2 ||
		  res.reports[res.nr - 1].data_src == 0x1e00080024);
	for (int i = 0; i < 2; i++) {
		struct da_input in = {.bytes = b, .len = 65536, .midr = i ? N1 : 0, .last = true};
		struct da_sink sink = decode_sink(&res, true);
		uint64_t stores = 0;

		decode_release(&res);
		da_spe_decode(st, &in, &sink, &res.stats);
		for (size_t k = 0; k < res.nr; k++) {
			stores += res.reports[k].op == DA_OP_WRITE;
			ck_assert_uint_eq(res.reports[k].data_src, res.reports[k].op == DA_OP_READ
									   ? 2
								   : i ? 0x1e00080024
								       : 4);
		}
		ck_assert_uint_gt(stores, 100);
	}
	decode_release(&res);
	free(st);
	free(b);
}
END_TEST

/* A stream of records by hand: each function writes one. */
struct stream {
	uint8_t b[16384];
	size_t n;
};

static void add(struct stream *s, const void *p, size_t n)
{
	ck_assert_uint_le(s->n + n, sizeof(s->b));
	memcpy(s->b + s->n, p, n);
	s->n += n;
}

#define ADD(s, ...) add(s, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

/* Shapes in which a layout might be taken for another, or for none. */
START_TEST(treacherous_layouts)
{
	struct gen_spe rnd = gen_spe_new(11, GEN_SPE_ONE);
	static struct stream s;

	/* equal in their first 64 bytes, different behind them; the second one comes late */
	s.n = 0;
	for (unsigned i = 0; i < 40; i++) {
		ADD(&s, PC, LD);
		add(&s, (const uint8_t[64]){0}, 64);
		if (i % 8 == 7)
			ADD(&s, 0xb3, 1, 2, 3, 4, 5, 6, 7, 8, END);
		else
			ADD(&s, VA, END);
	}
	compare_ways(s.b, s.n, &rnd, "long records", 0);

	/* padding whose length depends on where it stands */
	s.n = 0;
	for (unsigned i = 0; i < 60; i++) {
		ADD(&s, PC, ST, 0x23, 0x00);
		while (s.n % 16)
			ADD(&s, 0xb2);
		ADD(&s, VA, END);
		if (i % 3 == 0)
			ADD(&s, END);
	}
	compare_ways(s.b, s.n, &rnd, "alignment", 0);

	/* the skipped bytes of one are the address of another, or a record of its own */
	s.n = 0;
	for (unsigned i = 0; i < 40; i++) {
		bool skips_16 = i % 4 == 1;

		while (s.n % 16 != (skips_16 ? 5 : 0))
			ADD(&s, 0);
		ADD(&s, PC, ST, 0x23, 0x00, 0xff, 0xff, 0xff);
		if (skips_16)
			ADD(&s, 0xb2, 9, 9, 9, 9, 9, 9, 9, 9, END, 0xff);
		ADD(&s, VA, END);
		if (!skips_16)
			ADD(&s, 0, 0xb2, 8, 8, 8, 8, 8, 8, 8, 8, END);
	}
	compare_ways(s.b, s.n, &rnd, "skipped address", 0);

	/* sources with more than 16 bits; the same headers with other payloads of the operation */
	s.n = 0;
	for (unsigned i = 0; i < 60; i++) {
		ADD(&s, PC, 0x49, (uint8_t)(i % 5), 0x63, 0x08, 0, (uint8_t)(i & 1), 0, VA, END);
		ADD(&s, PC, 0x49, 0, 0x53, 0x08, (uint8_t)(i & 1), VA, TS);
		ADD(&s, PC, 0x49, 0, 0x49, (uint8_t)(i & 1), VA, END);
		ADD(&s, PC, LD, 0x42, 4, 0x52, 8, (uint8_t)(i & 1), VA, END);
		ADD(&s, PC, LD, 0x43, 0, 0x43, 8, VA, END);
		ADD(&s, 0xb2, 1, 0, 0, 0, 0, 0, 0, 0, LD, VA, END);
	}
	compare_ways(s.b, s.n, &rnd, "payloads", 0);
}
END_TEST

/* One layout, and then another CPU: nothing of what was learned is right any more. */
START_TEST(other_cpu)
{
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));
	static struct stream s;

	s.n = 0;
	for (unsigned i = 0; i < 100; i++)
		ADD(&s, PC, ST, VA, END);
	for (unsigned i = 0; i < 4; i++) {
		struct da_input in = {
			.bytes = s.b, .len = s.n, .midr = i & 1 ? 0 : N1, .last = true};
		struct decode_result res = {0};
		struct da_sink sink = decode_sink(&res, true);

		da_spe_decode(st, &in, &sink, &res.stats);
		ck_assert_uint_eq(res.nr, 100);
		for (size_t k = 0; k < res.nr; k++)
			must(res.reports[k].data_src == (i & 1 ? 4 : 0x1e00080024),
			     "call %u, record %zu", i, k);
		decode_release(&res);
	}
	free(st);
}
END_TEST

/* Another base on the next call: the cached layouts must not keep the old one. */
START_TEST(changing_base)
{
	size_t n = 8192;
	uint8_t *b = decode_must(malloc(n));
	struct gen_spe g = gen_spe_new(9, GEN_SPE_MANY);
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));

	gen_spe_fill(&g, b, n);
	for (uint32_t i = 0; i < 6; i++) {
		struct da_report base = {.has = DA_HAS_CPU |
						(i & 1 ? DA_HAS_TASK | DA_HAS_TIME : 0),
					 .cpu = i,
					 .pid = i & 1 ? 100 + i : 0,
					 .tid = i & 1 ? 200 + i : 0,
					 .time_ns = i & 1 ? i : 0};
		struct da_input in = {
			.bytes = b, .len = n, .midr = N1, .base = &base, .last = true};
		struct decode_result res = {0}, walked = {0};
		struct da_sink sink = decode_sink(&res, true),
			       walk_sink = decode_sink(&walked, true);
		struct da_spe_state *other = decode_must(calloc(1, sizeof(*other)));

		other->walk_only = true;
		da_spe_decode(st, &in, &sink, &res.stats);
		da_spe_decode(other, &in, &walk_sink, &walked.stats);
		ck_assert_uint_gt(res.nr, 50);
		ck_assert_msg(decode_equal(&res, &walked), "base %u", i);
		decode_release(&res);
		decode_release(&walked);
		free(other);
	}
	free(st);
	free(b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("spe_layout");
	TCase *t = tcase_create("layouts");
	SRunner *r;
	int failed;

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, generated, 0, 4);
	tcase_add_test(t, generated_truth);
	tcase_add_loop_test(t, random_streams, 0, 8);
	tcase_add_test(t, too_many_layouts);
	tcase_add_test(t, treacherous_layouts);
	tcase_add_test(t, other_cpu);
	tcase_add_test(t, changing_base);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
