/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The JSON texts of our own records: each survives the way out and back, and damaged text is refused.
 */
#include "da_own_json.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"

START_TEST(info)
{
	struct da_own_event ev[2] = {
		{.name = "cpu-clock:u",
		 .producer = DA_PROD_REGS,
		 .unit = "ns",
		 .period = 250000,
		 .dropped_bits = "read_format.lost"},
		{.name = "odd \"\n name", .producer = DA_PROD_FAULT, .unit = "faults", .period = 1},
	};
	struct da_own_info in = {.version = "1.2",
				 .arch = DA_ARCH_X86_64,
				 .host = "here",
				 .events = ev,
				 .nr_events = 2,
				 .options = (char *)(uintptr_t) "{\"drain\":\"single\"}"};
	struct da_own_info out;
	char *text = da_own_info_text(&in);

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(da_own_info_parse(text, strlen(text), &out), 0);
	ck_assert_str_eq(out.version, "1.2");
	ck_assert_int_eq(out.arch, DA_ARCH_X86_64);
	ck_assert_str_eq(out.host, "here");
	ck_assert_uint_eq(out.nr_events, 2);
	ck_assert_str_eq(out.events[0].name, "cpu-clock:u");
	ck_assert_int_eq(out.events[0].producer, DA_PROD_REGS);
	ck_assert_uint_eq(out.events[0].period, 250000);
	ck_assert_str_eq(out.events[0].dropped_bits, "read_format.lost");
	ck_assert_str_eq(out.events[1].name, "odd \"\n name");
	ck_assert_str_eq(out.events[1].unit, "faults");
	ck_assert_ptr_nonnull(strstr(out.options, "single"));
	da_own_info_release(&out);
	free(text);
}
END_TEST

START_TEST(ledger)
{
	struct da_own_ledger in = {.event = 3,
				   .cpu = {.cpu = 7,
					   .state = DA_STATE_RUNNING,
					   .count = 12,
					   .lost = -1,
					   .enabled_ns = 5,
					   .running_ns = 0,
					   .silent_due = 7,
					   .silent_since_ns = 1500000000,
					   .silent_ref = DA_SILENT_CPUS,
					   .target_absent = true}};
	struct da_own_ledger out;
	char *text;

	/* every counter distinct, large ones too */
	for (int s = 0; s < DA_STAGE_NR; s++) {
		in.cpu.ledger.in[s] = 1000 + (uint64_t)s;
		in.cpu.ledger.out[s] = UINT64_MAX - (uint64_t)s;
	}
	for (int d = 0; d < DA_DROP_NR; d++)
		in.cpu.ledger.drop[d] = 1 + (uint64_t)d;
	in.cpu.ledger.peak = 99;
	text = da_own_ledger_text(&in);
	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(da_own_ledger_parse(text, strlen(text), &out), 0);
	ck_assert_uint_eq(out.event, 3);
	ck_assert_uint_eq(out.cpu.cpu, 7);
	ck_assert_int_eq(out.cpu.state, DA_STATE_RUNNING);
	ck_assert_int_eq(out.cpu.count, 12);
	ck_assert_int_eq(out.cpu.lost, -1);
	ck_assert_int_eq(out.cpu.running_ns, 0);
	ck_assert(out.cpu.target_absent);
	ck_assert_uint_eq(out.cpu.silent_due, 7);
	ck_assert_uint_eq(out.cpu.silent_since_ns, 1500000000);
	ck_assert_uint_eq(out.cpu.silent_ref, DA_SILENT_CPUS);
	ck_assert_mem_eq(&out.cpu.ledger, &in.cpu.ledger, sizeof(in.cpu.ledger));
	free(text);
}
END_TEST

START_TEST(loss_and_end)
{
	struct da_own_loss loss = {.counter = 10,
				   .records = 7,
				   .samples = 0,
				   .throttled = 0,
				   .pending = 3},
			   loss2;
	struct da_own_end end = {.reason = "signal", .command_status = -1, .samples = 5}, end2;
	char *text = da_own_loss_text(&loss);

	ck_assert_int_eq(da_own_loss_parse(text, strlen(text), &loss2), 0);
	ck_assert_mem_eq(&loss, &loss2, sizeof(loss));
	free(text);
	text = da_own_end_text(&end);
	ck_assert_int_eq(da_own_end_parse(text, strlen(text), &end2), 0);
	ck_assert_str_eq(end2.reason, "signal");
	ck_assert_int_eq(end2.command_status, -1);
	ck_assert_uint_eq(end2.samples, 5);
	free(text);
}
END_TEST

START_TEST(damaged)
{
	static const char *const bad[] = {
		"", "{", "[]", "7", "{\"event\":", "null", "{\"event\":1}x"};
	struct da_own_ledger l;
	struct da_own_info i;

	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		ck_assert_int_eq(da_own_ledger_parse(bad[k], strlen(bad[k]), &l), -DA_EDAMAGED);
		ck_assert_int_eq(da_own_info_parse(bad[k], strlen(bad[k]), &i), -DA_EDAMAGED);
	}
	/* members of the wrong kind read as zero, not as something else */
	ck_assert_int_eq(da_own_ledger_parse("{\"event\":\"x\",\"cpu\":[],\"ledger\":3}", 33, &l),
			 0);
	ck_assert_uint_eq(l.event, 0);
	ck_assert_int_eq(da_own_info_parse("{\"events\":[1,null,{}]}", 22, &i), 0);
	ck_assert_uint_eq(i.nr_events, 3);
	ck_assert_int_eq(i.events[0].producer, DA_PROD_NONE);
	da_own_info_release(&i);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("own_json");
	TCase *t = tcase_create("own_json");
	SRunner *r;
	int failed;

	tcase_add_test(t, info);
	tcase_add_test(t, ledger);
	tcase_add_test(t, loss_and_end);
	tcase_add_test(t, damaged);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
