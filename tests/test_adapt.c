/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DAMON's adaptation: the three ranges by hand-made mappings, the first cut, merging and ageing by hand, the
 * invariants under random accesses and mappings, and that only the seed makes a difference.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "da_adapt.h"
#include "da_error.h"

#define PAGE 4096ull
#define MS   1000000ull

static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

START_TEST(three_ranges)
{
	static const struct da_adapt_range maps[] = {
		{0x1000, 0x3800},     {0x4000, 0x5000},     {0x100000, 0x101000},
		{0x103000, 0x104000}, {0x900000, 0x900800},
	};
	static const struct da_adapt_range even[] = {
		{0x1000, 0x2000}, {0x4000, 0x5000}, {0x7000, 0x8000}, {0xa000, 0xb000}};
	struct da_adapt_range out[3];

	ck_assert_uint_eq(da_adapt_three(maps, 5, out), 3);
	ck_assert_uint_eq(out[0].start, 0x1000);
	ck_assert_uint_eq(out[0].end, 0x5000);
	ck_assert_uint_eq(out[1].start, 0x100000);
	ck_assert_uint_eq(out[1].end, 0x104000);
	ck_assert_uint_eq(out[2].start, 0x900000);
	ck_assert_uint_eq(out[2].end, 0x901000); /* rounded up */
	/* of equal gaps the first two */
	ck_assert_uint_eq(da_adapt_three(even, 4, out), 3);
	ck_assert_uint_eq(out[0].end, 0x2000);
	ck_assert_uint_eq(out[1].start, 0x4000);
	ck_assert_uint_eq(out[1].end, 0x5000);
	ck_assert_uint_eq(out[2].start, 0x7000);
	/* one gap is not enough */
	ck_assert_uint_eq(da_adapt_three(even, 2, out), 0);
	ck_assert_uint_eq(da_adapt_three(even, 0, out), 0);
}
END_TEST

START_TEST(options)
{
	struct da_adapt_opts o = da_adapt_defaults;

	ck_assert_int_eq(da_adapt_check(&o), 0);
	o.min = 2;
	ck_assert_int_eq(da_adapt_check(&o), -DA_EUSAGE);
	o.min = 10;
	o.max = 10;
	ck_assert_int_eq(da_adapt_check(&o), -DA_EUSAGE);
	o.max = DA_ADAPT_MAX_REGIONS + 1;
	ck_assert_int_eq(da_adapt_check(&o), -DA_EUSAGE);
	o = da_adapt_defaults;
	o.sample_ns = 0;
	ck_assert_int_eq(da_adapt_check(&o), -DA_EUSAGE);
	o = da_adapt_defaults;
	o.aggr_ns = o.sample_ns - 1;
	ck_assert_int_eq(da_adapt_check(&o), -DA_EUSAGE);
}
END_TEST

/* One range of 100 pages, ten first regions, of which only one is accessed: 20 of 20 intervals. */
START_TEST(one_hot_region)
{
	struct da_adapt_range range = {0, 100 * PAGE};
	struct da_adapt *a = da_adapt_new(&da_adapt_defaults, 0, NULL, NULL);
	const struct da_adapt_region *r;
	size_t nr;

	ck_assert_ptr_nonnull(a);
	ck_assert_int_eq(da_adapt_ranges(a, &range, 1), 0);
	for (uint64_t t = 0; t < 100 * MS; t += MS)
		ck_assert_int_eq(da_adapt_access(a, t, 35 * PAGE + 5), 0);
	ck_assert_int_eq(da_adapt_finish(a, 100 * MS), 0);
	ck_assert_uint_eq(da_adapt_aggregations(a), 1);
	r = da_adapt_regions(a, &nr);
	/* regions may be no larger than a tenth of all, so none of the ten is merged */
	ck_assert_uint_eq(nr, 10);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_uint_eq(r[i].start, i * 10 * PAGE);
		ck_assert_uint_eq(r[i].nr_accesses, i == 3 ? 20 : 0);
		ck_assert_uint_eq(r[i].age, i == 3 ? 0 : 1); /* it changed from 0 */
	}
	da_adapt_free(a);
}
END_TEST

struct seen {
	size_t snapshots, most;
	uint64_t hash, end;
	const struct da_adapt_range *range;
	size_t nr;
};

/* In address order, disjoint, and exactly what is watched. */
static void check_snapshot(void *ctx, uint64_t start_ns, uint64_t end_ns,
			   const struct da_adapt_region *r, size_t nr)
{
	struct seen *s = ctx;
	size_t k = 0;
	uint64_t at = s->range[0].start;

	ck_assert_uint_eq(end_ns - start_ns, da_adapt_defaults.aggr_ns);
	ck_assert_uint_ge(start_ns, s->end);
	s->end = end_ns;
	for (size_t i = 0; i < nr; i++) {
		if (at == s->range[k].end)
			at = s->range[++k].start;
		ck_assert_uint_lt(k, s->nr);
		ck_assert_uint_eq(r[i].start, at);
		ck_assert_uint_gt(r[i].end, at);
		ck_assert_uint_le(r[i].end, s->range[k].end);
		ck_assert_uint_eq(r[i].start % PAGE, 0);
		ck_assert_uint_le(r[i].nr_accesses, 20);
		at = r[i].end;
		s->hash = (s->hash ^ r[i].start ^ r[i].nr_accesses << 7 ^ r[i].age) *
			  0x100000001b3ull;
	}
	ck_assert_uint_eq(k, s->nr - 1);
	ck_assert_uint_eq(at, s->range[k].end);
	s->snapshots++;
	s->most = nr > s->most ? nr : s->most;
}

static uint64_t random_run(uint64_t split_seed, uint64_t stream)
{
	struct da_adapt_opts o = da_adapt_defaults;
	struct da_adapt_range range[3] = {
		{PAGE, 500 * PAGE}, {1000 * PAGE, 1003 * PAGE}, {5000 * PAGE, 9000 * PAGE}};
	struct seen s = {.range = range, .nr = 3};
	struct da_adapt *a;
	uint64_t t = 0;

	seed = stream;
	o.seed = split_seed;
	o.max = 200;
	a = da_adapt_new(&o, 0, check_snapshot, &s);
	ck_assert_ptr_nonnull(a);
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t page = next() % 3 ? 6000 + next() % 50 : next() % 10000;

		t += next() % MS;
		if (da_adapt_wants_ranges(a, t)) {
			/* the aggregations that end before see the old ranges */
			ck_assert_int_eq(da_adapt_access(a, t, UINT64_MAX), 0);
			if (i) {
				range[0].start += (next() % 3) * PAGE;
				range[1].end += (next() % 200) * PAGE;
				range[1].start = range[1].end - (1 + next() % 50) * PAGE;
				range[2].start = range[1].end + (next() % 2) * 300 * PAGE +
						 (next() % 20 + 1) * PAGE;
			}
			ck_assert_int_eq(da_adapt_ranges(a, range, 3), 0);
		}
		ck_assert_int_eq(da_adapt_access(a, t, page * PAGE), 0);
	}
	ck_assert_int_eq(da_adapt_finish(a, t), 0);
	ck_assert_uint_eq(s.snapshots, da_adapt_aggregations(a));
	ck_assert_uint_gt(s.snapshots, 90);
	ck_assert_uint_le(s.most, o.max);
	da_adapt_free(a);
	return s.hash;
}

START_TEST(invariants)
{
	for (uint64_t i = 1; i < 5; i++) {
		uint64_t hash = random_run(1, i * 77777);

		ck_assert_uint_eq(random_run(1, i * 77777), hash);
		ck_assert_uint_ne(random_run(2, i * 77777), hash);
	}
}
END_TEST

/* A year without accesses passes at once; what is there ages by it. */
START_TEST(long_silence)
{
	struct da_adapt_range range = {0, 100 * PAGE};
	struct da_adapt *a = da_adapt_new(&da_adapt_defaults, 5 * MS, NULL, NULL);
	const struct da_adapt_region *r;
	size_t nr;
	uint64_t year = 31536000ull * 1000 * MS;

	ck_assert_int_eq(da_adapt_ranges(a, &range, 1), 0);
	ck_assert_int_eq(da_adapt_access(a, 5 * MS, PAGE), 0);
	ck_assert_int_eq(da_adapt_access(a, year, 2 * PAGE), 0);
	ck_assert_int_eq(da_adapt_access(a, 7, 2 * PAGE), 0); /* of the past */
	ck_assert_int_eq(da_adapt_finish(a, year + 100 * MS), 0);
	r = da_adapt_regions(a, &nr);
	ck_assert_uint_ge(nr, 10);
	ck_assert_uint_gt(r[nr - 1].age, 315000000);
	ck_assert_int_eq(da_adapt_finish(a, UINT64_MAX), 0);
	da_adapt_free(a);
	da_adapt_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("adapt");
	TCase *t = tcase_create("adapt");
	SRunner *r;
	int failed;

	tcase_add_test(t, three_ranges);
	tcase_add_test(t, options);
	tcase_add_test(t, one_hot_region);
	tcase_add_test(t, invariants);
	tcase_add_test(t, long_silence);
	tcase_set_timeout(t, 240);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
