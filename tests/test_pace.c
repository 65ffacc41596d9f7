/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The adaptive period: a model of a sampler with a buffer that takes so many reports a round, and what the
 * controller makes of it.
 */
#include "da_pace.h"

#include <check.h>
#include <stdlib.h>

/* A round of a sampler that makes events / period reports of which `room` fit. */
static struct da_pace_seen run(const struct da_pace *a, uint64_t events, uint64_t room)
{
	struct da_pace_seen s = {.offered = events / a->period};

	s.dropped = s.offered > room ? s.offered - room : 0;
	s.busy = s.offered > room - room / 4;
	return s;
}

START_TEST(ten_times_too_high)
{
	struct da_pace a;
	struct da_pace_seen s;
	unsigned steps = 0;

	da_pace_init(&a, 100, 1);
	for (int i = 0; i < 10; i++) {
		s = run(&a, 1000000, 1000); /* 10000 a round, 1000 fit */
		if (da_pace_step(&a, &s) == DA_PACE_DROPS)
			steps++;
	}
	s = run(&a, 1000000, 1000);
	ck_assert(da_pace_drop_pct(&s) < 1);
	ck_assert_uint_ge(a.period, 1000);
	ck_assert_uint_le(a.period, 4000); /* and not far more than needed */
	ck_assert_uint_ge(steps, 1);
	ck_assert_uint_le(steps, 3);
}
END_TEST

/* When the load is gone it goes back, one step at a time, never below what was asked for. */
START_TEST(down_when_idle)
{
	struct da_pace a;
	struct da_pace_seen s;
	uint64_t before;

	da_pace_init(&a, 100, 1);
	s = run(&a, 1000000, 1000);
	ck_assert_int_eq(da_pace_step(&a, &s), DA_PACE_DROPS);
	ck_assert_uint_gt(a.period, 100);
	for (int i = 0; i < 1000 && a.period > 100; i++) {
		before = a.period;
		s = run(&a, 1000, 1000);
		if (da_pace_step(&a, &s) == DA_PACE_IDLE)
			ck_assert_uint_ge(a.period * 2, before);
	}
	ck_assert_uint_eq(a.period, 100);
	s = run(&a, 1000, 1000);
	ck_assert_int_eq(da_pace_step(&a, &s), DA_PACE_STAY);
}
END_TEST

/* Where going down brings the drops back, it is tried ever more seldom. */
START_TEST(no_swinging)
{
	struct da_pace a;
	unsigned ups[2] = {0, 0};

	da_pace_init(&a, 100, 1);
	for (int i = 0; i < 2000; i++) {
		struct da_pace_seen s = run(&a, 1000000, 3000);

		s.busy = false;
		if (da_pace_step(&a, &s) == DA_PACE_DROPS)
			ups[i / 1000]++;
	}
	ck_assert_uint_gt(ups[0], 1);
	ck_assert_uint_lt(ups[1], ups[0]);
}
END_TEST

START_TEST(throttle_and_limits)
{
	struct da_pace a;

	da_pace_init(&a, 7, 1);
	ck_assert_int_eq(da_pace_step(&a, &(struct da_pace_seen){.offered = 9, .throttled = 1}),
			 DA_PACE_THROTTLE);
	ck_assert_uint_eq(a.period, 14);
	ck_assert_int_eq(da_pace_step(&a, &(struct da_pace_seen){.lost = 5}), DA_PACE_DROPS);
	for (int i = 0; i < 20; i++)
		da_pace_step(&a, &(struct da_pace_seen){.offered = 9, .dropped = 9});
	ck_assert_uint_eq(a.period, 7 * DA_PACE_MAX);
	ck_assert_int_eq(da_pace_step(&a, &(struct da_pace_seen){.offered = 9, .dropped = 9}),
			 DA_PACE_STAY);
	ck_assert_int_eq(da_pace_step(&a, &(struct da_pace_seen){.offered = 1000, .dropped = 9}),
			 DA_PACE_STAY); /* under the limit of 1 % */
	da_pace_init(&a, UINT64_MAX / 2, 1);
	da_pace_step(&a, &(struct da_pace_seen){.offered = 9, .dropped = 9});
	ck_assert_uint_ge(a.period, UINT64_MAX / 2);
	da_pace_init(&a, 0, 1); /* no period is none */
	ck_assert_uint_eq(a.period, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pace");
	TCase *t = tcase_create("pace");
	SRunner *r;
	int failed;

	tcase_add_test(t, ten_times_too_high);
	tcase_add_test(t, down_when_idle);
	tcase_add_test(t, no_swinging);
	tcase_add_test(t, throttle_and_limits);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
