/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two runs side by side: which changes count, which do not, and what is not measured is not compared.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "da_compare.h"

static struct da_compare_side side(uint64_t callback, uint64_t valid, uint64_t dequeue)
{
	return (struct da_compare_side){.level = DA_LEVEL_FULL,
					.ring = true,
					.lost = 0,
					.n = {.callback = callback,
					      .valid = valid,
					      .reports = valid,
					      .enqueue = valid,
					      .dequeue = dequeue,
					      .match = dequeue}};
}

static enum da_change changed(struct da_compare *c, enum da_share s)
{
	da_compare(c);
	return c->share[s].change;
}

START_TEST(shares)
{
	struct da_compare c = {.side = {side(1000, 900, 900), side(10000, 5000, 5000)}};

	ck_assert_int_eq(changed(&c, DA_SHARE_VALID), DA_CHANGE_WORSE);
	ck_assert(c.worse && !c.better);
	ck_assert_double_eq_tol(da_compare_pct(&c.share[DA_SHARE_VALID], 0), 90, 1e-9);
	ck_assert_double_eq_tol(da_compare_pct(&c.share[DA_SHARE_VALID], 1), 50, 1e-9);
	/* ten times the samples are neither */
	ck_assert_int_eq(c.share[DA_SHARE_DROPPED].change, DA_CHANGE_NONE);
	ck_assert_int_eq(c.share[DA_SHARE_MATCHED].change, DA_CHANGE_NONE);
	c = (struct da_compare){.side = {side(1000, 1000, 321), side(1000, 1000, 1000)}};
	ck_assert_int_eq(changed(&c, DA_SHARE_DROPPED), DA_CHANGE_BETTER);
	ck_assert(c.better && !c.worse);
	c.side[1].lost = 500;
	ck_assert_int_eq(changed(&c, DA_SHARE_LOST), DA_CHANGE_WORSE);
	ck_assert(c.better && c.worse);
}
END_TEST

/* 3 of 10 and 5 of 10 may be chance; 30,000 of 100,000 and 30,900 are surely different and not worth a word. */
START_TEST(chance_and_trifles)
{
	struct da_compare c = {.side = {side(10, 3, 3), side(10, 5, 5)}};

	ck_assert_int_eq(changed(&c, DA_SHARE_VALID), DA_CHANGE_NONE);
	c = (struct da_compare){.side = {side(100000, 30000, 30000), side(100000, 30900, 30900)}};
	ck_assert_int_eq(changed(&c, DA_SHARE_VALID), DA_CHANGE_NONE);
	c = (struct da_compare){.side = {side(100000, 30000, 30000), side(100000, 31100, 31100)}};
	ck_assert_int_eq(changed(&c, DA_SHARE_VALID), DA_CHANGE_BETTER);
}
END_TEST

START_TEST(not_measured)
{
	struct da_compare c = {.side = {side(10, 10, 10), side(10, 10, 0)}};

	c.side[0].ring = false;
	c.side[0].lost = -1;
	ck_assert_int_eq(changed(&c, DA_SHARE_DROPPED), DA_CHANGE_UNKNOWN);
	ck_assert_int_eq(c.share[DA_SHARE_LOST].change, DA_CHANGE_UNKNOWN);
	ck_assert_int_eq(c.share[DA_SHARE_MATCHED].change, DA_CHANGE_UNKNOWN);
	ck_assert(isnan(da_compare_pct(&c.share[DA_SHARE_DROPPED], 0)));
	ck_assert(!c.better && !c.worse);
}
END_TEST

START_TEST(verdicts)
{
	static const struct {
		enum da_level was, is;
		enum da_change change;
	} rows[] = {
		{DA_LEVEL_FULL, DA_LEVEL_FULL, DA_CHANGE_NONE},
		{DA_LEVEL_FULL, DA_LEVEL_PLUMBING, DA_CHANGE_WORSE},
		{DA_LEVEL_PLUMBING, DA_LEVEL_BROKEN, DA_CHANGE_WORSE},
		{DA_LEVEL_BROKEN, DA_LEVEL_UNUSABLE, DA_CHANGE_WORSE},
		{DA_LEVEL_UNUSABLE, DA_LEVEL_FULL, DA_CHANGE_BETTER},
		{DA_LEVEL_UNKNOWN, DA_LEVEL_FULL, DA_CHANGE_UNKNOWN},
		{DA_LEVEL_FULL, DA_LEVEL_UNKNOWN, DA_CHANGE_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct da_compare c = {.side = {side(1, 1, 1), side(1, 1, 1)}};

		c.side[0].level = rows[i].was;
		c.side[1].level = rows[i].is;
		da_compare(&c);
		ck_assert_int_eq(c.verdict, rows[i].change);
	}
}
END_TEST

/* What the renderer writes is read again as the same side; a text that is cut is refused, at every byte. */
START_TEST(from_json)
{
	static const char text[] =
		"{\"schema_version\": 1, \"verdict\": \"BROKEN AT match\", \"counters\": {\"callback\": 10, "
		"\"valid\": 9, \"reports\": 9, \"enqueue\": 8, \"dequeue\": 8, \"overflow\": 1, \"peak\": 4, "
		"\"match\": 0, \"miss\": 8, \"update\": 0}, \"lost\": {\"counter\": null, \"records\": 5, "
		"\"samples\": 7}}";
	struct da_compare_side s;

	ck_assert_int_eq(da_compare_parse(&s, "x", text, strlen(text)), 0);
	ck_assert_int_eq(s.level, DA_LEVEL_BROKEN);
	ck_assert_uint_eq(s.n.valid, 9);
	ck_assert_uint_eq(s.n.overflow, 1);
	ck_assert(s.ring);
	ck_assert_int_eq(s.lost, 7); /* two accounts of one loss: not 12 */
	for (size_t n = 0; n < strlen(text); n++)
		ck_assert_int_eq(da_compare_parse(&s, "x", text, n), -DA_EFORMAT);
	ck_assert_int_eq(da_compare_parse(&s, "x", "{}", 2), -DA_EFORMAT);
}
END_TEST

/* Numbers that no run can have: nothing overflows, no share is above 1. */
START_TEST(absurd)
{
	struct da_compare c = {.side = {side(UINT64_MAX, UINT64_MAX, UINT64_MAX),
					side(1, UINT64_MAX, UINT64_MAX)}};

	c.side[0].lost = c.side[1].lost = INT64_MAX;
	c.side[0].n.miss = UINT64_MAX;
	da_compare(&c);
	for (int i = 0; i < DA_SHARE_NR; i++)
		for (unsigned k = 0; k < 2; k++)
			ck_assert(!(da_compare_pct(&c.share[i], k) > 100));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("compare");
	TCase *t = tcase_create("compare");
	SRunner *r;
	int failed;

	tcase_add_test(t, shares);
	tcase_add_test(t, chance_and_trifles);
	tcase_add_test(t, not_measured);
	tcase_add_test(t, verdicts);
	tcase_add_test(t, from_json);
	tcase_add_test(t, absurd);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
