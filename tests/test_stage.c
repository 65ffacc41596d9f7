/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger: names, sums, conservation and the seeds' counters. The numbers of the three
 * configurations are those of the seeds' threads 000 and 001.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "da_report.h"
#include "da_stage.h"

/* A healthy ledger of `n` samples of which all are valid; the seed's ARM SPE run by default. */
static struct da_ledger seed_spe(void)
{
	struct da_ledger l = {0};

	for (int s = DA_STAGE_CREATE; s <= DA_STAGE_ENABLE; s++)
		l.in[s] = l.out[s] = 256;
	l.in[DA_STAGE_SAMPLE] = l.out[DA_STAGE_SAMPLE] = l.in[DA_STAGE_RING] = 47248;
	l.drop[DA_DROP_OVERFLOW] = 32087;
	l.out[DA_STAGE_RING] = l.in[DA_STAGE_MATCH] = 15161;
	l.drop[DA_DROP_MISS_REGION] = 15161 - 255;
	l.out[DA_STAGE_MATCH] = l.in[DA_STAGE_UPDATE] = 255;
	l.drop[DA_DROP_ALREADY_CREDITED] = 251;
	l.out[DA_STAGE_UPDATE] = 4;
	l.peak = 1024;
	return l;
}

START_TEST(names_unique_and_placed)
{
	static const char *const stages[] = {"create", "bind",  "enable", "sample",
					     "ring",   "match", "update"};

	for (int s = 0; s < DA_STAGE_NR; s++)
		ck_assert_str_eq(da_stage_name((enum da_stage)s), stages[s]);
	for (int d = 0; d < DA_DROP_NR; d++) {
		ck_assert_ptr_nonnull(da_drop_name((enum da_drop)d));
		ck_assert_int_lt(da_drop_stage((enum da_drop)d), DA_STAGE_NR);
		for (int o = 0; o < d; o++)
			if (da_drop_stage((enum da_drop)o) == da_drop_stage((enum da_drop)d))
				ck_assert_str_ne(da_drop_name((enum da_drop)o),
						 da_drop_name((enum da_drop)d));
	}
	ck_assert_int_eq(da_drop_stage(DA_DROP_ADDR_NONE), DA_STAGE_SAMPLE);
	ck_assert_int_eq(da_drop_stage(DA_DROP_OVERFLOW), DA_STAGE_RING);
	ck_assert_int_eq(da_drop_stage(DA_DROP_NO_TASK), DA_STAGE_MATCH);
	ck_assert_str_eq(da_drop_name(DA_DROP_ADDR_NONE), "addr_none");
	ck_assert_str_eq(da_state_name(DA_STATE_RUNNING), "RUNNING");
	ck_assert_str_eq(da_state_name(DA_STATE_NONE), "NONE");
	/* numbers from a file */
	ck_assert_str_eq(da_stage_name((enum da_stage)DA_STAGE_NR), "unknown");
	ck_assert_str_eq(da_drop_name((enum da_drop)DA_DROP_NR), "unknown");
	ck_assert_int_eq(da_drop_stage((enum da_drop)DA_DROP_NR), DA_STAGE_NR);
	ck_assert_str_eq(da_state_name((enum da_state)(DA_STATE_RUNNING + 1)), "unknown");
}
END_TEST

START_TEST(how_names)
{
	ck_assert_str_eq(da_how_name(DA_HOW_FAULT), "fault");
	ck_assert_str_eq(da_how_name(DA_HOW_DECODED), "decoded");
	for (int h = 0; h < DA_HOW_NR; h++)
		for (int o = 0; o < h; o++)
			ck_assert_str_ne(da_how_name((enum da_how)h), da_how_name((enum da_how)o));
	ck_assert_str_eq(da_how_name((enum da_how)DA_HOW_NR), "unknown");
}
END_TEST

START_TEST(open_errno)
{
	static const struct {
		int err;
		enum da_drop drop;
	} rows[] = {
		{EACCES, DA_DROP_CREATE_PERMISSION}, {EPERM, DA_DROP_CREATE_PERMISSION},
		{ENOENT, DA_DROP_CREATE_NO_EVENT},   {ENODEV, DA_DROP_CREATE_NO_EVENT},
		{ENXIO, DA_DROP_CREATE_NO_EVENT},    {EINVAL, DA_DROP_CREATE_INVALID},
		{E2BIG, DA_DROP_CREATE_INVALID},     {EOPNOTSUPP, DA_DROP_CREATE_UNSUPPORTED},
		{ESRCH, DA_DROP_CREATE_NO_TASK},     {EMFILE, DA_DROP_CREATE_FD_LIMIT},
		{ENFILE, DA_DROP_CREATE_FD_LIMIT},   {EBUSY, DA_DROP_CREATE_BUSY},
		{ENOSPC, DA_DROP_CREATE_BUSY},       {ENOMEM, DA_DROP_CREATE_OTHER},
		{0, DA_DROP_CREATE_OTHER},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum da_drop d = da_drop_of_open_errno(rows[i].err);

		ck_assert_msg(d == rows[i].drop, "errno %d: %s", rows[i].err, da_drop_name(d));
		ck_assert_int_eq(da_drop_stage(d), DA_STAGE_CREATE);
	}
}
END_TEST

START_TEST(seed_counters)
{
	struct da_ledger l = seed_spe();
	struct da_counters c = da_ledger_counters(&l);

	ck_assert(da_ledger_conserves(&l, NULL));
	ck_assert_uint_eq(c.callback, 47248);
	ck_assert_uint_eq(c.valid, 47248);
	ck_assert_uint_eq(c.reports, 47248);
	ck_assert_uint_eq(c.enqueue, 15161);
	ck_assert_uint_eq(c.dequeue, 15161);
	ck_assert_uint_eq(c.overflow, 32087);
	ck_assert_uint_eq(c.peak, 1024);
	ck_assert_uint_eq(c.match, 255);
	ck_assert_uint_eq(c.miss, 14906);
	ck_assert_uint_eq(c.update, 4);
	/* the seeds' closures */
	ck_assert_uint_eq(c.valid, c.enqueue + c.overflow);
	ck_assert_uint_eq(c.dequeue, c.match + c.miss);
}
END_TEST

START_TEST(seed_page_faults)
{
	struct da_ledger l = {0};
	struct da_counters c;

	l.in[DA_STAGE_SAMPLE] = l.out[DA_STAGE_SAMPLE] = 170;
	l.in[DA_STAGE_RING] = l.out[DA_STAGE_RING] = l.in[DA_STAGE_MATCH] = 170;
	l.drop[DA_DROP_MISS_REGION] = 100;
	l.drop[DA_DROP_STRADDLE] = 64;
	l.out[DA_STAGE_MATCH] = l.in[DA_STAGE_UPDATE] = 6;
	l.drop[DA_DROP_ALREADY_CREDITED] = 3;
	l.out[DA_STAGE_UPDATE] = 3;
	ck_assert(da_ledger_conserves(&l, NULL));
	c = da_ledger_counters(&l);
	ck_assert_uint_eq(c.enqueue, 170);
	ck_assert_uint_eq(c.overflow, 0);
	ck_assert_uint_eq(c.match, 6);
	ck_assert_uint_eq(c.miss, 164);
	ck_assert_uint_eq(c.update, 3);
}
END_TEST

START_TEST(seed_no_address)
{
	struct da_ledger l = {0};
	struct da_counters c;

	l.in[DA_STAGE_SAMPLE] = l.drop[DA_DROP_ADDR_NONE] = 1913;
	ck_assert(da_ledger_conserves(&l, NULL));
	c = da_ledger_counters(&l);
	ck_assert_uint_eq(c.callback, 1913);
	ck_assert_uint_eq(c.valid, 0);
	ck_assert_uint_eq(c.enqueue, 0);
	ck_assert_uint_eq(da_ledger_drops(&l, DA_STAGE_SAMPLE), 1913);
	ck_assert_uint_eq(da_ledger_drops(&l, DA_STAGE_RING), 0);
}
END_TEST

/* keep=latest: an overwritten report was enqueued, was not dequeued, and counts as overflow. */
START_TEST(overwritten_is_enqueued)
{
	struct da_ledger l = {0};
	struct da_counters c;

	l.in[DA_STAGE_SAMPLE] = l.out[DA_STAGE_SAMPLE] = l.in[DA_STAGE_RING] = 100;
	l.drop[DA_DROP_OVERWRITTEN] = 30;
	l.drop[DA_DROP_NESTED] = 2;
	l.drop[DA_DROP_RESIDENT] = 8;
	l.out[DA_STAGE_RING] = l.in[DA_STAGE_MATCH] = 60;
	l.drop[DA_DROP_NO_TASK] = 60;
	ck_assert(da_ledger_conserves(&l, NULL));
	c = da_ledger_counters(&l);
	ck_assert_uint_eq(c.enqueue, 98);
	ck_assert_uint_eq(c.dequeue, 60);
	ck_assert_uint_eq(c.overflow, 30);
}
END_TEST

/* Every counter takes part: one more or one less anywhere is seen, and the layer is named. */
START_TEST(each_counter_breaks_its_layer)
{
	enum da_stage bad;

	for (int s = 0; s < DA_STAGE_NR; s++) {
		struct da_ledger l = seed_spe();

		l.in[s]++;
		ck_assert(!da_ledger_conserves(&l, &bad));
		ck_assert_int_eq(bad, s);
		l = seed_spe();
		l.out[s]++;
		ck_assert(!da_ledger_conserves(&l, &bad));
		ck_assert_int_eq(bad, s);
	}
	for (int d = 0; d < DA_DROP_NR; d++) {
		struct da_ledger l = seed_spe();

		l.drop[d]++;
		ck_assert(!da_ledger_conserves(&l, &bad));
		ck_assert_int_eq(bad, da_drop_stage((enum da_drop)d));
	}
}
END_TEST

/* A ledger from a file may hold anything: a sum that wraps must not look balanced. */
START_TEST(no_wrap)
{
	struct da_ledger l = {0}, sum = {0};
	enum da_stage bad = DA_STAGE_NR;

	l.in[DA_STAGE_SAMPLE] = 4;
	l.out[DA_STAGE_SAMPLE] = UINT64_MAX;
	l.drop[DA_DROP_ADDR_NONE] = 5; /* UINT64_MAX + 5 is 4 in 64 bits */
	ck_assert(!da_ledger_conserves(&l, &bad));
	ck_assert_int_eq(bad, DA_STAGE_SAMPLE);

	memset(&l, 0, sizeof(l));
	l.in[DA_STAGE_MATCH] = 4;
	l.drop[DA_DROP_STRADDLE] = 5;
	l.drop[DA_DROP_NO_TASK] = UINT64_MAX;
	ck_assert(!da_ledger_conserves(&l, &bad));
	ck_assert_int_eq(bad, DA_STAGE_MATCH);

	memset(&l, 0, sizeof(l));
	l.drop[DA_DROP_OVERFLOW] = l.drop[DA_DROP_NESTED] = UINT64_MAX;
	ck_assert_uint_eq(da_ledger_drops(&l, DA_STAGE_RING), UINT64_MAX);
	ck_assert_uint_eq(da_ledger_counters(&l).enqueue, 0);
	da_ledger_add(&sum, &l);
	da_ledger_add(&sum, &l);
	ck_assert_uint_eq(sum.drop[DA_DROP_OVERFLOW], UINT64_MAX);
}
END_TEST

START_TEST(add_sums_and_takes_peak)
{
	struct da_ledger a = seed_spe(), b = seed_spe(), sum = {0};

	b.peak = 9;
	b.in[DA_STAGE_SAMPLE] += 7;
	b.drop[DA_DROP_KERNEL_IP] += 7;
	da_ledger_add(&sum, &a);
	da_ledger_add(&sum, &b);
	ck_assert_uint_eq(sum.in[DA_STAGE_SAMPLE], 2 * 47248 + 7);
	ck_assert_uint_eq(sum.out[DA_STAGE_UPDATE], 8);
	ck_assert_uint_eq(sum.drop[DA_DROP_KERNEL_IP], 7);
	ck_assert_uint_eq(sum.drop[DA_DROP_OVERFLOW], 2 * 32087);
	ck_assert_uint_eq(sum.peak, 1024);
	ck_assert(da_ledger_conserves(&sum, NULL));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stage");
	TCase *tc = tcase_create("ledger");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(tc, names_unique_and_placed);
	tcase_add_test(tc, how_names);
	tcase_add_test(tc, open_errno);
	tcase_add_test(tc, seed_counters);
	tcase_add_test(tc, seed_page_faults);
	tcase_add_test(tc, seed_no_address);
	tcase_add_test(tc, overwritten_is_enqueued);
	tcase_add_test(tc, each_counter_breaks_its_layer);
	tcase_add_test(tc, no_wrap);
	tcase_add_test(tc, add_sums_and_takes_peak);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
