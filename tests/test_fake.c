/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generator behind -e fake: determinism, its patterns, its failures and its usage errors.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "da_abi.h"
#include "da_fake.h"
#include "da_perfdata.h"

#define BASE       0x300000000000ull
#define OP_OF(s)   ((s).data_src & 0x1f)
#define IS_LOAD(s) (OP_OF(s) == 2)

static struct da_fake *fake(const char *terms)
{
	struct da_error err = {0};
	struct da_fake *f;

	ck_assert_msg(!da_fake_new(&f, terms, 4000, &err), "'%s': %s", terms, err.msg);
	ck_assert_ptr_nonnull(f);
	return f;
}

static struct da_samp next(struct da_fake *f, uint32_t cpu)
{
	struct da_samp s;

	ck_assert(da_fake_next(f, cpu, &s));
	return s;
}

static void assert_same(const struct da_samp *a, const struct da_samp *b)
{
	ck_assert_uint_eq(a->time_ns, b->time_ns);
	ck_assert_uint_eq(a->addr, b->addr);
	ck_assert_uint_eq(a->ip, b->ip);
	ck_assert_uint_eq(a->tid, b->tid);
	ck_assert_uint_eq(a->data_src, b->data_src);
}

START_TEST(fields)
{
	struct da_fake *f = fake("tasks=3");
	uint64_t start, end;

	da_fake_range(f, &start, &end);
	ck_assert_uint_eq(start, BASE);
	ck_assert_uint_eq(end, BASE + (16 << 20));
	for (unsigned i = 0; i < 1000; i++) {
		struct da_samp s = next(f, 1);

		ck_assert_uint_eq(s.mask, DA_SAMPLE_IP | DA_SAMPLE_TID | DA_SAMPLE_TIME |
						  DA_SAMPLE_ADDR | DA_SAMPLE_CPU |
						  DA_SAMPLE_PERIOD | DA_SAMPLE_DATA_SRC);
		ck_assert_uint_eq(s.pid, 4000);
		ck_assert_uint_eq(s.tid, 4000 + i % 3);
		ck_assert_uint_eq(s.cpu, 1);
		ck_assert_uint_eq(s.period, 1);
		ck_assert_uint_eq(s.addr % 8, 0);
		ck_assert(s.addr >= start && s.addr + 8 <= end);
		ck_assert(OP_OF(s) == 2 || OP_OF(s) == 4);
	}
	da_fake_free(f);
	da_fake_free(NULL);
}
END_TEST

/* A CPU's stream is the same whatever else is asked for in between, and in every run. */
START_TEST(deterministic)
{
	struct da_fake *a = fake("pattern=zipf,seed=7"), *b = fake("seed=7,pattern=zipf");
	struct da_fake *c = fake("pattern=zipf,seed=8");
	struct da_samp first[64];
	unsigned same_seed = 0, same_cpu = 0;

	for (unsigned i = 0; i < 64; i++)
		first[i] = next(a, 0);
	for (unsigned i = 0; i < 64; i++) {
		struct da_samp other = next(b, 5), s = next(b, 0), seed = next(c, 0);

		assert_same(&s, &first[i]);
		same_cpu += other.addr == s.addr;
		same_seed += seed.addr == s.addr;
	}
	ck_assert_uint_lt(same_cpu, 8);
	ck_assert_uint_lt(same_seed, 8);
	da_fake_free(a);
	da_fake_free(b);
	da_fake_free(c);
}
END_TEST

START_TEST(times)
{
	struct da_fake *f = fake("rate=3");
	static const uint64_t at[] = {333333333, 666666666, 1000000000, 1333333333};

	for (unsigned i = 0; i < 4; i++) {
		ck_assert_uint_eq(da_fake_time(f, 0), at[i]);
		ck_assert_uint_eq(next(f, 0).time_ns, at[i]);
	}
	ck_assert_uint_eq(da_fake_time(f, 2), at[0] + 2);
	da_fake_free(f);
}
END_TEST

/* Samples of one CPU per sixteenth of a 16 MiB range. */
static void histogram(const char *terms, unsigned nr, unsigned hist[16])
{
	struct da_fake *f = fake(terms);

	memset(hist, 0, 16 * sizeof(*hist));
	for (unsigned i = 0; i < nr; i++)
		hist[(next(f, 0).addr - BASE) >> 20]++;
	da_fake_free(f);
}

START_TEST(patterns)
{
	unsigned h[16], n = 16000;
	struct da_fake *f;

	histogram("pattern=random", n, h);
	for (unsigned i = 0; i < 16; i++)
		ck_assert(h[i] > 800 && h[i] < 1200);
	/* nine tenths in the first 1.6 MiB, the rest everywhere */
	histogram("", n, h);
	ck_assert(h[0] + h[1] > n * 88 / 100 && h[0] + h[1] < n * 93 / 100);
	for (unsigned i = 2; i < 16; i++)
		ck_assert(h[i] > 50 && h[i] < 160);
	/* 4096 pages are 12 octaves and one rank; the first 256 of them are 8 octaves and one
	 * rank */
	histogram("pattern=zipf", n, h);
	ck_assert(h[0] > n * 63 / 100 && h[0] < n * 71 / 100);
	ck_assert(h[15] > 0 && h[15] < h[1]);

	f = fake("pattern=stairs");
	for (unsigned i = 0; i < 9 * 2048; i++)
		ck_assert_uint_eq((next(f, 3).addr - BASE) >> 21, i / 2048 % 8);
	da_fake_free(f);

	f = fake("pattern=seq,size=8k");
	for (unsigned i = 0; i < 300; i++)
		ck_assert_uint_eq(next(f, 1).addr, BASE + i % 128 * 64);
	da_fake_free(f);
	f = fake("pattern=seq,size=8k,cpus=2");
	for (unsigned i = 0; i < 300; i++)
		ck_assert_uint_eq(next(f, i % 2).addr, BASE + i % 128 * 64);
	da_fake_free(f);
}
END_TEST

/* A range whose pages are no power of two: no page is left out, none is beyond it. */
START_TEST(zipf_odd_range)
{
	struct da_fake *f = fake("pattern=zipf,size=20k");
	unsigned hist[5] = {0};

	for (unsigned i = 0; i < 5000; i++) {
		uint64_t page = (next(f, 0).addr - BASE) / 4096;

		ck_assert_uint_lt(page, 5);
		hist[page]++;
	}
	ck_assert_uint_gt(hist[4], 300);
	ck_assert_uint_gt(hist[0], hist[4] * 2);
	da_fake_free(f);
}
END_TEST

START_TEST(writes_and_phys)
{
	struct da_fake *f = fake("writes=25,phys=1,base=0x500000000000");
	unsigned stores = 0;

	for (unsigned i = 0; i < 10000; i++) {
		struct da_samp s = next(f, 0);

		stores += !IS_LOAD(s);
		ck_assert(s.mask & DA_SAMPLE_PHYS_ADDR);
		ck_assert_uint_eq(s.phys_addr - (4ull << 30), s.addr - 0x500000000000);
	}
	ck_assert(stores > 2300 && stores < 2700);
	da_fake_free(f);
	f = fake("writes=0");
	for (unsigned i = 0; i < 1000; i++)
		ck_assert(IS_LOAD(next(f, 0)));
	da_fake_free(f);
	f = fake("writes=100");
	for (unsigned i = 0; i < 1000; i++)
		ck_assert(!IS_LOAD(next(f, 0)));
	da_fake_free(f);
}
END_TEST

START_TEST(ends)
{
	struct da_fake *f = fake("count=2,cpus=2");
	struct da_samp s;

	next(f, 0);
	next(f, 0);
	ck_assert(!da_fake_next(f, 0, &s));
	ck_assert_uint_eq(s.mask, 0);
	ck_assert_uint_eq(da_fake_time(f, 0), UINT64_MAX);
	next(f, 1);
	ck_assert(!da_fake_next(f, 2, &s));
	ck_assert(!da_fake_next(f, UINT32_MAX, &s));
	ck_assert_uint_eq(da_fake_time(f, UINT32_MAX), UINT64_MAX);
	da_fake_free(f);
}
END_TEST

START_TEST(failures)
{
	static const struct {
		const char *terms;
		enum da_fake_fail fail;
		unsigned cpu0, cpu1; /* samples of the first 2000 */
	} rows[] = {
		{"fail=none", DA_FAKE_FAIL_NONE, 2000, 2000},
		{"fail=create", DA_FAKE_FAIL_CREATE, 0, 0},
		{"fail=bind", DA_FAKE_FAIL_BIND, 0, 0},
		{"fail=enable", DA_FAKE_FAIL_ENABLE, 0, 0},
		{"fail=silent", DA_FAKE_FAIL_SILENT, 0, 0},
		{"fail=noaddr", DA_FAKE_FAIL_NOADDR, 2000, 2000},
		{"fail=miss", DA_FAKE_FAIL_MISS, 2000, 2000},
		{"fail=cpu1", DA_FAKE_FAIL_CPU1, 2000, 0},
		{"fail=stall", DA_FAKE_FAIL_STALL, 1000, 1000},
		{"fail=stall,after=1k", DA_FAKE_FAIL_STALL, 1000, 1000},
		{"fail=stall,after=3", DA_FAKE_FAIL_STALL, 3, 3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct da_fake *f = fake(rows[i].terms);
		unsigned n[2] = {0};

		for (int how = 0; how < DA_FAKE_FAIL_NR; how++)
			ck_assert_int_eq(da_fake_fails(f, (enum da_fake_fail)how),
					 (enum da_fake_fail)how == rows[i].fail);
		for (unsigned k = 0; k < 2000; k++) {
			for (unsigned cpu = 0; cpu < 2; cpu++) {
				struct da_samp s;

				n[cpu] += da_fake_next(f, cpu, &s);
			}
		}
		ck_assert_msg(n[0] == rows[i].cpu0 && n[1] == rows[i].cpu1, "%s: %u, %u",
			      rows[i].terms, n[0], n[1]);
		da_fake_free(f);
	}
}
END_TEST

START_TEST(noaddr_and_miss)
{
	static const char *const bases[] = {"", ",base=0x200000000000", ",base=0x1fffffffe000",
					    ",base=0x100000000000,size=1t"};
	struct da_fake *f = fake("fail=noaddr,phys=1");

	for (unsigned i = 0; i < 100; i++) {
		struct da_samp s = next(f, 0);

		ck_assert_uint_eq(s.addr, 0);
		ck_assert_uint_eq(s.phys_addr, 0);
		ck_assert(s.mask & DA_SAMPLE_ADDR); /* the record's layout stays */
	}
	da_fake_free(f);
	for (size_t b = 0; b < sizeof(bases) / sizeof(*bases); b++) {
		char terms[64] = "fail=miss";
		uint64_t start, end;

		f = fake(strcat(terms, bases[b]));
		da_fake_range(f, &start, &end);
		for (unsigned i = 0; i < 1000; i++) {
			struct da_samp s = next(f, 0);

			ck_assert_msg(s.addr + 8 <= start || s.addr >= end, "%s: %#lx", terms,
				      (unsigned long)s.addr);
		}
		da_fake_free(f);
	}
}
END_TEST

START_TEST(usage_errors)
{
	static const struct {
		const char *terms, *msg;
	} rows[] = {
		{"rat=1",
		 "fake: unknown term 'rat' (known: pattern, fail, rate, size, base, writes, "
		 "seed, cpus, tasks, count, phys, after)"},
		{"pattern=zigzag", "fake: term 'pattern=zigzag' takes one of hotcold, seq, random, "
				   "stairs, zipf"},
		{"fail",
		 "fake: term 'fail' takes one of none, create, bind, enable, silent, noaddr, "
		 "miss, cpu1, stall"},
		{"rate=0", "fake: term 'rate=0' is out of range"},
		{"rate=2G", "fake: term 'rate=2G' is out of range"},
		{"rate", "fake: term 'rate' needs a number"},
		{"rate=", "fake: term 'rate=' needs a number"},
		{"rate=ten", "fake: term 'rate=ten' needs a number"},
		{"rate=1kk", "fake: term 'rate=1kk' needs a number"},
		{"rate=-1", "fake: term 'rate=-1' needs a number"},
		{"seed=0x", "fake: term 'seed=0x' needs a number"},
		{"seed=1k", "fake: term 'seed=1k' needs a number"},
		{"seed=18446744073709551616",
		 "fake: term 'seed=18446744073709551616' needs a number"},
		{"count=20000000t", "fake: term 'count=20000000t' needs a number"},
		{"size=4095", "fake: term 'size=4095' is out of range"},
		{"size=2t", "fake: term 'size=2t' is out of range"},
		{"size=5000", "fake: term 'size=5000' must be a multiple of 4096"},
		{"base=0", "fake: term 'base=0' is out of range"},
		{"base=0xffffffff80000000", "fake: term 'base=0xffffffff80000000' is out of range"},
		{"base=0x300000000001",
		 "fake: term 'base=0x300000000001' must be a multiple of 4096"},
		{"writes=101", "fake: term 'writes=101' is out of range"},
		{"tasks=0", "fake: term 'tasks=0' is out of range"},
		{"cpus=4097", "fake: term 'cpus=4097' is out of range"},
		{"rate=1,,seed=2", "fake: empty term in '' "},
		{"rate=1,", "fake: empty term in '' "},
		{"=1", "fake: empty term in '=1' "},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct da_error err = {0};
		struct da_fake *f = (struct da_fake *)&err;

		ck_assert_msg(da_fake_new(&f, rows[i].terms, 1, &err) == -DA_EUSAGE, "%s",
			      rows[i].terms);
		ck_assert_ptr_null(f);
		ck_assert_int_eq(err.code, DA_EUSAGE);
		ck_assert_str_eq(err.msg, rows[i].msg);
		ck_assert_int_eq(da_fake_new(&f, rows[i].terms, 1, NULL), -DA_EUSAGE);
	}
}
END_TEST

/* A message never leaves its buffer, whatever was typed. */
START_TEST(long_term)
{
	struct da_error err = {0};
	struct da_fake *f;
	char terms[2000];

	memset(terms, 'x', sizeof(terms) - 1);
	terms[sizeof(terms) - 1] = '\0';
	ck_assert_int_eq(da_fake_new(&f, terms, 1, &err), -DA_EUSAGE);
	ck_assert_uint_eq(strlen(err.msg), sizeof(err.msg) - 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fake");
	TCase *tc = tcase_create("generator");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(tc, fields);
	tcase_add_test(tc, deterministic);
	tcase_add_test(tc, times);
	tcase_add_test(tc, patterns);
	tcase_add_test(tc, zipf_odd_range);
	tcase_add_test(tc, writes_and_phys);
	tcase_add_test(tc, ends);
	tcase_add_test(tc, failures);
	tcase_add_test(tc, noaddr_and_miss);
	tcase_add_test(tc, usage_errors);
	tcase_add_test(tc, long_term);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
