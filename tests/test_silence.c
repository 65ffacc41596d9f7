/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samplers that stop: found against each reference, with the time of the last sample; and nothing found where
 * everything stopped, where chance would do, or where there is too little to go by.
 */
#include <check.h>
#include <stdlib.h>

#include "da_silence.h"

#define MS 1000000ull

/* Two rows that sample each ms, row 0 until `stop` ms, row 1 until 1000. */
static struct da_silence *two(uint64_t stop)
{
	struct da_silence *s = da_silence_new(3);

	for (uint64_t t = 0; t < 1000; t++) {
		if (t < stop)
			da_silence_add(s, 0, 5000 * MS + t * MS, 1);
		da_silence_add(s, 1, 5000 * MS + t * MS, 1);
	}
	return s;
}

START_TEST(by_rows)
{
	static const size_t one[] = {1}, self[] = {0};
	struct da_silence *s = two(400);
	struct da_silence_finding f = da_silence_by_rows(s, 0, one, 1);

	ck_assert(f.silent);
	ck_assert_uint_eq(f.since_ns, 5399 * MS);
	ck_assert_uint_eq(f.samples, 400);
	/* 600, less what shares the bucket of the last one */
	ck_assert_double_gt(f.due, 590);
	ck_assert_double_lt(f.due, 601);
	ck_assert(!da_silence_by_rows(s, 1, self, 1).silent);
	ck_assert(!da_silence_by_rows(s, 0, self, 1).silent);
	ck_assert(!da_silence_by_rows(s, 2, one, 1).silent); /* never gave any: not this question */
	da_silence_free(s);
	s = two(990);
	ck_assert(!da_silence_by_rows(s, 0, one, 1).silent);
	da_silence_free(s);
	s = two(10);
	ck_assert(!da_silence_by_rows(s, 0, one, 1).silent); /* too few to know its rate */
	da_silence_free(s);
}
END_TEST

/* A row of a tenth of the rate is not silent because it gave nothing for 100 ms. */
START_TEST(slow_rows)
{
	static const size_t one[] = {1};
	struct da_silence *s = da_silence_new(2);

	for (uint64_t t = 0; t < 1000; t++) {
		if (t % 10 == 0 && t < 900)
			da_silence_add(s, 0, t * MS, 1);
		da_silence_add(s, 1, t * MS, 1);
	}
	ck_assert(!da_silence_by_rows(s, 0, one, 1).silent);
	ck_assert_double_lt(da_silence_by_rows(s, 0, one, 1).due, 12);
	da_silence_free(s);
}
END_TEST

START_TEST(by_counter)
{
	struct da_silence *s = da_silence_new(2);
	struct da_silence_finding f;

	ck_assert(!da_silence_by_counter(s, 0).silent);
	/* a sample per 1000 counts; the counter goes on after 5000 ms, the samples do not */
	for (uint64_t t = 1; t <= 10; t++)
		da_silence_count(s, 0, t * 1000 * MS, t * 100000, (t < 5 ? t : 5) * 100);
	f = da_silence_by_counter(s, 0);
	ck_assert(f.silent);
	ck_assert_uint_eq(f.since_ns, 5000 * MS);
	ck_assert_double_eq_tol(f.due, 500, 1e-6);
	/* both stop: an idle CPU */
	for (uint64_t t = 1; t <= 10; t++)
		da_silence_count(s, 1, t * 1000 * MS, (t < 5 ? t : 5) * 100000,
				 (t < 5 ? t : 5) * 100);
	ck_assert(!da_silence_by_counter(s, 1).silent);
	da_silence_free(s);
}
END_TEST

/* Hours, times at the ends of the range and times that go back: counts are kept. */
START_TEST(any_time)
{
	static const size_t one[] = {1};
	struct da_silence *s = da_silence_new(2);

	for (uint64_t t = 0; t < 10000; t++)
		da_silence_add(s, 0, 7 + t * 1000 * MS, 1);
	da_silence_add(s, 0, 3, 1);
	da_silence_add(s, 1, UINT64_MAX, 30);
	da_silence_add(s, 1, 0, 30);
	da_silence_add(s, 0, UINT64_MAX, 0);
	ck_assert_uint_eq(da_silence_by_rows(s, 0, one, 1).samples, 10001);
	ck_assert(da_silence_by_rows(s, 0, one, 1).silent);
	da_silence_free(s);
	ck_assert_ptr_null(da_silence_new(SIZE_MAX / 8));
	da_silence_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("silence");
	TCase *t = tcase_create("silence");
	SRunner *r;
	int failed;

	tcase_add_test(t, by_rows);
	tcase_add_test(t, slow_rows);
	tcase_add_test(t, by_counter);
	tcase_add_test(t, any_time);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
