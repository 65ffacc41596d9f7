/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segmentation: a uniform density stays whole, hot spots of known place are found to the page, the result is
 * the best there is (against all cuts of a short axis), and a long axis gives what an exact pass would.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "da_density.h"
#include "da_error.h"

static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Elements of one page each. */
struct pages {
	uint64_t *edge, *count;
	size_t *cuts, nr;
	long nr_cuts;
};

static struct pages pages_of(size_t nr)
{
	struct pages p = {.nr = nr};

	p.edge = calloc(nr + 1, sizeof(*p.edge));
	p.count = calloc(nr, sizeof(*p.count));
	p.cuts = calloc(nr, sizeof(*p.cuts));
	ck_assert(p.edge && p.count && p.cuts);
	for (size_t i = 0; i <= nr; i++)
		p.edge[i] = 0x10000 + i * 4096;
	return p;
}

static void cut(struct pages *p)
{
	struct da_density_in in = {p->edge, p->count, p->nr, 1, 0};

	p->nr_cuts = da_density_cuts(&in, p->cuts);
	ck_assert_int_ge(p->nr_cuts, 0);
	for (long i = 1; i < p->nr_cuts; i++)
		ck_assert_uint_lt(p->cuts[i - 1], p->cuts[i]);
}

static void release(struct pages *p)
{
	free(p->edge);
	free(p->count);
	free(p->cuts);
}

static void throw(struct pages * p, uint64_t samples, size_t first, size_t pages)
{
	while (samples--)
		p->count[first + next() % pages]++;
}

/* Of so many uniform axes only about one in twenty may be cut, sparse or dense. */
START_TEST(uniform_stays_whole)
{
	static const uint64_t samples[] = {1, 2, 5, 20, 100, 1000, 20000};
	unsigned cut_up = 0, all = 0;

	seed = 88172645463325252;
	for (size_t s = 0; s < sizeof(samples) / sizeof(*samples); s++) {
		for (unsigned i = 0; i < 20; i++, all++) {
			struct pages p = pages_of(900);

			throw(&p, samples[s], 0, 900);
			cut(&p);
			cut_up += p.nr_cuts > 0;
			if (samples[s] == 1)
				ck_assert_int_eq(p.nr_cuts, 0);
			release(&p);
		}
	}
	ck_assert_msg(cut_up * 10 <= all, "%u of %u uniform axes were cut", cut_up, all);
}
END_TEST

/* 16 of 4096 pages get half of the samples. */
START_TEST(hot_spot_is_found)
{
	struct pages p = pages_of(4096);

	seed = 42;
	throw(&p, 2000, 0, 4096);
	throw(&p, 2000, 1000, 16);
	cut(&p);
	ck_assert_int_ge(p.nr_cuts, 2);
	ck_assert_int_le(p.nr_cuts, 4);
	for (long i = 0; i + 1 < p.nr_cuts; i++)
		if (p.cuts[i] == 1000 && p.cuts[i + 1] == 1016) {
			release(&p);
			return;
		}
	ck_abort_msg("no region [1000, 1016)");
}
END_TEST

/* Two samples on one page of many are no chance; two far apart are. */
START_TEST(few_samples)
{
	struct pages p = pages_of(100000 / 100);

	p.count[500] = 2;
	cut(&p);
	ck_assert_int_eq(p.nr_cuts, 2);
	ck_assert_uint_eq(p.cuts[0], 500);
	ck_assert_uint_eq(p.cuts[1], 501);
	p.count[500] = 1;
	p.count[100] = 1;
	cut(&p);
	ck_assert_int_eq(p.nr_cuts, 0);
	release(&p);
}
END_TEST

/* No samples, no elements, one element. */
START_TEST(empty)
{
	struct pages p = pages_of(3000);

	cut(&p);
	ck_assert_int_eq(p.nr_cuts, 0);
	p.nr = 1;
	cut(&p);
	ck_assert_int_eq(p.nr_cuts, 0);
	p.nr = 0;
	cut(&p);
	ck_assert_int_eq(p.nr_cuts, 0);
	release(&p);
}
END_TEST

/* What a piece of so many of `nr` pages with so many of all samples is worth. */
static double piece(uint64_t samples, size_t pages, size_t nr, uint64_t all)
{
	double room = log((double)nr / (double)pages / (double)all);

	return samples ? (double)samples * (log((double)samples) + room) - fmax(room, 0) : 0;
}

static double value(const uint64_t *n, size_t nr, unsigned mask, uint64_t all, double penalty)
{
	double v = 0;
	size_t first = 0;

	for (size_t i = 1; i <= nr; i++) {
		uint64_t sum = 0;

		if (i < nr && !(mask >> (i - 1) & 1))
			continue;
		for (size_t k = first; k < i; k++)
			sum += n[k];
		v += piece(sum, i - first, nr, all) - penalty;
		first = i;
	}
	return v;
}

/* Against every way to cut 12 elements. */
START_TEST(best_of_all)
{
	seed = 7;
	for (int round = 0; round < 40; round++) {
		struct pages p = pages_of(12);
		unsigned mask, mine = 0;
		double best = -INFINITY;
		uint64_t all = 0;

		for (size_t i = 0; i < 12; i++)
			all += p.count[i] = next() % 3 ? next() % 4 : next() % 60;
		cut(&p);
		for (long i = 0; i < p.nr_cuts; i++)
			mine |= 1u << (p.cuts[i] - 1);
		for (mask = 0; mask < 1u << 11; mask++) {
			double v = value(p.count, 12, mask, all, da_density_penalty(all));

			best = v > best ? v : best;
		}
		ck_assert_double_ge(value(p.count, 12, mine, all, da_density_penalty(all)),
				    best - 1e-6);
		release(&p);
	}
}
END_TEST

/* The cuts of one pass are the best there are, however many begins are passed over: against a program that
 * looks at all of them. Dense and sparse, flat and in steps. */
START_TEST(none_passed_over)
{
	enum { PAGES = 700 };
	static double best[PAGES + 1];
	uint64_t before[PAGES + 1] = {0};

	seed = 11;
	for (unsigned round = 0; round < 12; round++) {
		struct pages p = pages_of(PAGES);
		unsigned step = round % 4 ? 20 * (round % 4) : PAGES, most = round < 6 ? 2 : 200;
		uint64_t rate = 0;
		double mine = 0, penalty;
		size_t first = 0;

		for (size_t i = 0; i < PAGES; i++) {
			if (i % step == 0)
				rate = 1 + next() % most;
			p.count[i] = next() % (2 * rate);
			before[i + 1] = before[i] + p.count[i];
		}
		penalty = da_density_penalty(before[PAGES]);
		for (size_t j = 1; j <= PAGES; j++) {
			best[j] = -INFINITY;
			for (size_t i = 0; i < j; i++)
				best[j] = fmax(best[j], best[i] - penalty +
								piece(before[j] - before[i], j - i,
								      PAGES, before[PAGES]));
		}
		cut(&p);
		for (long i = 0; i <= p.nr_cuts; i++) {
			size_t end = i < p.nr_cuts ? p.cuts[i] : PAGES;

			mine += piece(before[end] - before[first], end - first, PAGES,
				      before[PAGES]) -
				penalty;
			first = end;
		}
		ck_assert_double_ge(mine, best[PAGES] - 1e-3);
		release(&p);
	}
}
END_TEST

/* Steps of a thousand and more elements, far more than are cut in one pass; and a slope in steps so small
 * that no piece sees one of them by itself. */
START_TEST(long_axis)
{
	struct pages p = pages_of(20000);
	size_t near = 0;

	seed = 99;
	for (size_t step = 0; step < 10; step++)
		throw(&p, 500 * (step + 1) * (step + 1), step * 2000, 2000);
	cut(&p);
	ck_assert_int_ge(p.nr_cuts, 9);
	ck_assert_int_le(p.nr_cuts, 12);
	for (long i = 0; i < p.nr_cuts; i++)
		near += (p.cuts[i] + 100) % 2000 <= 200;
	ck_assert_uint_ge(near, 9);
	release(&p);

	p = pages_of(20000);
	for (size_t i = 0; i < 20000; i++)
		p.count[i] = i % 2 ? 1000 : 0; /* every element is a region: no pass finds fewer */
	cut(&p);
	ck_assert_int_ge(p.nr_cuts, 200);
	release(&p);
}
END_TEST

/* What one event does not tell, two may. */
START_TEST(several_events)
{
	uint64_t edge[101], count[200] = {0};
	size_t cuts[100];
	struct da_density_in in = {edge, count, 100, 2, 0};

	for (size_t i = 0; i <= 100; i++)
		edge[i] = i * 4096;
	for (size_t i = 0; i < 100; i++) {
		count[2 * i] = 5;
		count[2 * i + 1] = i < 50 ? 20 : 2;
	}
	ck_assert_int_eq(da_density_cuts(&in, cuts), 1);
	ck_assert_uint_eq(cuts[0], 50);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("density");
	TCase *t = tcase_create("cuts");
	SRunner *r;
	int failed;

	tcase_add_test(t, uniform_stays_whole);
	tcase_add_test(t, hot_spot_is_found);
	tcase_add_test(t, few_samples);
	tcase_add_test(t, empty);
	tcase_add_test(t, best_of_all);
	tcase_add_test(t, none_passed_over);
	tcase_add_test(t, long_axis);
	tcase_add_test(t, several_events);
	tcase_set_timeout(t, 240);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed != 0;
}
