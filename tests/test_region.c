/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frozen sorted set: what is refused, and every boundary of what is found, against a linear walk.
 */
#include <check.h>
#include <stdlib.h>

#include "da_error.h"
#include "da_region_set.h"

static struct da_region_set set_of(const struct da_range *r, size_t nr)
{
	struct da_region_set s;

	da_region_set_init(&s);
	for (size_t i = 0; i < nr; i++)
		ck_assert_int_eq(da_region_set_add(&s, r[i].start, r[i].end, r[i].tag), 0);
	return s;
}

START_TEST(empty_finds_nothing)
{
	struct da_region_set s = set_of(NULL, 0);

	ck_assert_int_eq(da_region_set_freeze(&s), 0);
	ck_assert_uint_eq(da_region_set_find(&s, 0), DA_REGION_NONE);
	ck_assert_uint_eq(da_region_set_find(&s, UINT64_MAX), DA_REGION_NONE);
	da_region_set_release(&s);
}
END_TEST

START_TEST(refuses_what_is_no_set)
{
	static const struct da_range overlap[] = {{0x3000, 0x5000, 0}, {0x1000, 0x3001, 1}};
	static const struct da_range touching[] = {{0x3000, 0x5000, 0}, {0x1000, 0x3000, 1}};
	struct da_region_set s = set_of(overlap, 2);

	ck_assert_int_eq(da_region_set_freeze(&s), -DA_EFORMAT);
	ck_assert(!s.frozen);
	da_region_set_release(&s);

	s = set_of(touching, 2);
	ck_assert_int_eq(da_region_set_add(&s, 0x7000, 0x7000, 0), -DA_EFORMAT);
	ck_assert_int_eq(da_region_set_add(&s, 0x7001, 0x7000, 0), -DA_EFORMAT);
	ck_assert_int_eq(da_region_set_freeze(&s), 0);
	ck_assert_int_eq(da_region_set_freeze(&s), 0);
	ck_assert_uint_eq(s.nr, 2);
	ck_assert_int_eq(da_region_set_add(&s, 0x9000, 0xa000, 0), -DA_EBUG); /* frozen is frozen */
	da_region_set_release(&s);
}
END_TEST

START_TEST(boundaries)
{
	static const struct da_range r[] = {
		{0x5000, 0x6000, 50},
		{0, 1, 10},
		{UINT64_MAX - 1, UINT64_MAX, 90},
		{0x6000, 0x9000, 60},
	};
	static const struct {
		uint64_t addr;
		size_t at;
	} want[] = {
		{0, 0},
		{1, DA_REGION_NONE},
		{0x4fff, DA_REGION_NONE},
		{0x5000, 1},
		{0x5fff, 1},
		{0x6000, 2},
		{0x8fff, 2},
		{0x9000, DA_REGION_NONE},
		{UINT64_MAX - 2, DA_REGION_NONE},
		{UINT64_MAX - 1, 3},
		{UINT64_MAX, DA_REGION_NONE},
	};
	struct da_region_set s = set_of(r, 4);

	ck_assert_int_eq(da_region_set_freeze(&s), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		ck_assert_msg(da_region_set_find(&s, want[i].addr) == want[i].at, "0x%llx",
			      (unsigned long long)want[i].addr);
	ck_assert_uint_eq(s.ranges[2].tag, 60); /* tags travel with their ranges */
	da_region_set_release(&s);
}
END_TEST

/* Sets of 1 to 200 ranges, added in mixed order: bisection and a linear walk agree everywhere. */
START_TEST(agrees_with_linear_walk)
{
	for (size_t nr = 1; nr <= 200; nr++) {
		struct da_region_set s;

		da_region_set_init(&s);
		for (size_t i = 0; i < nr; i++) {
			size_t k =
				(i * 7919) % nr; /* a permutation where 7919 does not divide nr */

			ck_assert_int_eq(da_region_set_add(&s, k * 10 + 3, k * 10 + 9, k), 0);
		}
		ck_assert_int_eq(da_region_set_freeze(&s), 0);
		for (uint64_t a = 0; a < nr * 10 + 20; a++) {
			size_t want = DA_REGION_NONE;

			for (size_t i = 0; i < s.nr; i++)
				if (s.ranges[i].start <= a && a < s.ranges[i].end)
					want = i;
			ck_assert_uint_eq(da_region_set_find(&s, a), want);
		}
		da_region_set_release(&s);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("region");
	TCase *t = tcase_create("set");
	SRunner *run;
	int failed;

	tcase_add_test(t, empty_finds_nothing);
	tcase_add_test(t, refuses_what_is_no_set);
	tcase_add_test(t, boundaries);
	tcase_add_test(t, agrees_with_linear_walk);
	suite_add_tcase(suite, t);
	run = srunner_create(suite);
	srunner_run_all(run, CK_NORMAL);
	failed = srunner_ntests_failed(run);
	srunner_free(run);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
