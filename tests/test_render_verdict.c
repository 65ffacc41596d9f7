/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The verdict in its four formats: the seeds' last two lines, the first screen, shapes that machines read,
 * and bytes that no format may let through.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_facts.h"
#include "da_json.h"
#include "da_render_verdict.h"
#include "verdict_facts.h"

struct shown {
	struct run run;
	struct da_verdict v;
	struct da_verdict_view view;
	char *text;
	size_t len;
};

typedef void (*render_fn)(FILE *f, const struct da_verdict_view *v);

static const struct da_verdict_opts defaults = {.max_drop_pct = -1, .min_valid_pct = -1};

static void judge(struct shown *s, void (*spoil)(struct run *))
{
	memset(s, 0, sizeof(*s));
	healthy(&s->run);
	spoil(&s->run);
	ck_assert_int_eq(da_verdict_judge(&s->run.f, &defaults, &s->v), 0);
	s->view =
		(struct da_verdict_view){.verdict = &s->v, .facts = &s->run.f, .resync_bytes = -1};
}

static void render(struct shown *s, render_fn fn)
{
	FILE *f = open_memstream(&s->text, &s->len);

	ck_assert_ptr_nonnull(f);
	fn(f, &s->view);
	ck_assert_int_eq(fclose(f), 0);
}

static void show(struct shown *s, void (*spoil)(struct run *), render_fn fn)
{
	judge(s, spoil);
	render(s, fn);
}

static void done(struct shown *s)
{
	da_verdict_release(&s->v);
	free(s->text);
}

static void ends_with(const struct shown *s, const char *end)
{
	ck_assert_msg(s->len >= strlen(end) && !strcmp(s->text + s->len - strlen(end), end),
		      "ends: %s", s->len > 300 ? s->text + s->len - 300 : s->text);
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* Seed 000's own lines. */
START_TEST(seed_tails)
{
	struct shown s;

	show(&s, spoil_nothing, da_render_verdict_text);
	ends_with(
		&s,
		"\ncallback=170, valid=170, enqueue=170, dequeue=170, overflow=0, match=6, update=3\n"
		"SUMMARY: 27 passed, 0 failed, 0 skipped (FULLY INTEGRATED)\n");
	ck_assert_uint_eq(count(s.text, "[PASS]"), 27);
	done(&s);
	show(&s, spoil_no_regs, da_render_verdict_text);
	ends_with(&s,
		  "\ncallback=1913, valid=0, enqueue=0, dequeue=0, overflow=0, match=0, update=0\n"
		  "SUMMARY: 22 passed, 0 failed, 3 skipped (PLUMBING-ONLY)\n");
	ck_assert_uint_eq(count(s.text, "[PASS]"), 22);
	ck_assert_uint_eq(count(s.text, "[SKIP]"), 3);
	done(&s);
	show(&s, spoil_spe_no_aux, da_render_verdict_text);
	ends_with(&s, "SUMMARY: 19 passed, 1 failed, 5 skipped (UNUSABLE)\n");
	ck_assert_uint_eq(count(s.text, "[PASS]"), 19);
	ck_assert_uint_eq(count(s.text, "[SKIP]"), 5);
	done(&s);
	show(&s, spoil_spe_fan_in, da_render_verdict_text);
	ends_with(
		&s,
		"\ncallback=47248, valid=47248, enqueue=15161, dequeue=15161, overflow=32087, match=255, "
		"update=4\nSUMMARY: 27 passed, 0 failed, 0 skipped (FULLY INTEGRATED)\n");
	ck_assert_ptr_nonnull(
		strstr(s.text, "VERDICT: FULLY INTEGRATED; 67.9 % of reports dropped: fan-in\n"));
	ck_assert_ptr_nonnull(strstr(s.text, "[NOTE] 67.9 % of reports dropped: fan-in"));
	done(&s);
}
END_TEST

/* A terminal of 80 columns: the verdict, the layer, its cause and the remedy are on the first 24 lines, and
 * no line but one long word is wider. */
START_TEST(first_screen)
{
	const char *p, *cause, *fix, *check;
	struct shown s;
	size_t line;

	judge(&s, spoil_spe_no_aux);
	s.view.width = 80;
	render(&s, da_render_verdict_text);
	ck_assert_int_eq(strncmp(s.text, "VERDICT: UNUSABLE\n", 18), 0);
	check = strstr(s.text, "[FAIL] Samples arrive");
	cause = strstr(s.text, "aux_missing");
	fix = strstr(s.text, "without --no-aux");
	ck_assert(check && cause && fix && check < cause && cause < fix);
	for (p = s.text, line = 1; p < fix; p++)
		line += *p == '\n';
	ck_assert_uint_le(line, 20);
	for (p = s.text; *p; p += strcspn(p, "\n") + 1)
		ck_assert_msg(strcspn(p, "\n") <= 80, "%.*s", (int)strcspn(p, "\n"), p);
	done(&s);
}
END_TEST

START_TEST(not_recorded)
{
	struct shown s;

	show(&s, spoil_foreign, da_render_verdict_text);
	ends_with(&s,
		  "\ncallback=170, valid=170, enqueue=-, dequeue=-, overflow=-, match=6, update=3\n"
		  "SUMMARY: 6 passed, 0 failed, 0 skipped, 7 unknown (FULLY INTEGRATED)\n");
	done(&s);
}
END_TEST

START_TEST(quiet_and_color)
{
	struct shown s;

	judge(&s, spoil_nothing);
	s.view.quiet = true;
	render(&s, da_render_verdict_text);
	ck_assert_str_eq(s.text, "SUMMARY: 27 passed, 0 failed, 0 skipped (FULLY INTEGRATED)\n");
	done(&s);
	judge(&s, spoil_nothing);
	render(&s, da_render_verdict_text);
	ck_assert_ptr_null(strchr(s.text, '\033'));
	free(s.text);
	s.view.color = true;
	render(&s, da_render_verdict_text);
	ck_assert_ptr_nonnull(strstr(s.text, "\033[32mPASS\033[0m"));
	done(&s);
}
END_TEST

START_TEST(two_events)
{
	struct shown s;

	show(&s, spoil_worst_of_two, da_render_verdict_text);
	ck_assert_ptr_nonnull(strstr(
		s.text, "cpu-clock:u: PLUMBING-ONLY (22 passed, 0 failed, 3 skipped) <- decides"));
	ck_assert_ptr_nonnull(strstr(s.text, "second: FULLY INTEGRATED (27 passed"));
	ck_assert_ptr_nonnull(strstr(s.text, "\nsecond: callback=10, "));
	ck_assert_ptr_nonnull(strstr(s.text, "\ncallback=1923, valid=10, "));
	done(&s);
}
END_TEST

static bool member(const struct da_json *v, const char *key, struct da_json *out)
{
	return da_json_get(v, key, out);
}

/* The shape of PRODUCT 6, and that its parts agree. */
START_TEST(json_shape)
{
	static const char *const keys[] = {"notes",  "events",    "layers",          "counters",
					   "ledger", "ledger_by", "recorded_ledger", "lost"};
	static void (*const spoilers[])(struct run *) = {spoil_nothing, spoil_no_regs,
							 spoil_spe_no_aux, spoil_foreign};
	struct da_json v, m, layer, check, list;
	struct shown s;
	uint64_t n, in, out;
	char text[64];

	for (size_t i = 0; i < sizeof(spoilers) / sizeof(spoilers[0]); i++) {
		unsigned seen[4] = {0};
		size_t pos = 0, at;

		show(&s, spoilers[i], da_render_verdict_json);
		ck_assert(da_json_open(s.text, s.len, &v));
		ck_assert(da_json_get_u64(&v, "schema_version", &n) && n == 1);
		ck_assert(da_json_get_u64(&v, "exit_status", &n) && (int)n == s.v.exit_status);
		ck_assert(da_json_get_string(&v, "verdict", text, sizeof(text)));
		ck_assert_str_eq(text, da_level_name(s.v.level));
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			ck_assert_msg(member(&v, keys[k], &m), "no %s", keys[k]);
		ck_assert(member(&v, "layers", &m));
		while (da_json_next(&m, &pos, &layer)) {
			ck_assert(da_json_get_string(&layer, "name", text, sizeof(text)));
			ck_assert(da_json_get_string(&layer, "result", text, sizeof(text)));
			ck_assert(member(&layer, "checks", &list));
			at = 0;
			while (da_json_next(&list, &at, &check)) {
				ck_assert(da_json_get_string(&check, "result", text, sizeof(text)));
				for (int r = 0; r < DA_RESULT_NR; r++)
					seen[r] += !strcmp(text, da_result_name((enum da_result)r));
				ck_assert(da_json_get_string(&check, "id", text, sizeof(text)));
				ck_assert(
					da_json_get_string(&check, "evidence", text, sizeof(text)));
			}
		}
		ck_assert(member(&v, "summary", &m));
		ck_assert(da_json_get_u64(&m, "passed", &n) && n == seen[DA_PASS]);
		ck_assert(da_json_get_u64(&m, "failed", &n) && n == seen[DA_FAIL]);
		ck_assert(da_json_get_u64(&m, "skipped", &n) && n == seen[DA_SKIP]);
		ck_assert(da_json_get_u64(&m, "unknown", &n) && n == seen[DA_UNKNOWN]);
		ck_assert(member(&v, "ledger", &m));
		for (int l = 0; l < DA_STAGE_NR; l++) {
			uint64_t drops = 0;

			ck_assert(member(&m, da_stage_name((enum da_stage)l), &layer));
			if (da_json_is_null(&layer)) {
				ck_assert(spoilers[i] == spoil_foreign && l != DA_STAGE_SAMPLE &&
					  l < DA_STAGE_MATCH);
				continue;
			}
			ck_assert(da_json_get_u64(&layer, "in", &in) &&
				  da_json_get_u64(&layer, "out", &out));
			ck_assert(member(&layer, "drops", &list));
			for (int d = 0; d < DA_DROP_NR; d++)
				if (da_drop_stage((enum da_drop)d) == (enum da_stage)l) {
					/* 0 is measured: it is there */
					ck_assert(da_json_get_u64(
						&list, da_drop_name((enum da_drop)d), &n));
					drops += n;
				}
			ck_assert_uint_eq(in, out + drops);
		}
		ck_assert(member(&v, "counters", &m));
		ck_assert(da_json_get_u64(&m, "callback", &n));
		ck_assert(member(&m, "enqueue", &list) &&
			  da_json_is_null(&list) == (spoilers[i] == spoil_foreign));
		da_json_free(&v);
		done(&s);
	}
}
END_TEST

/* From a file: the decode's ledger and the recorded one stand side by side. */
START_TEST(json_recorded)
{
	struct da_json v, m, layer;
	struct shown s;
	struct run other;
	uint64_t n;

	judge(&s, spoil_nothing);
	healthy(&other);
	other.cpu[0][0].ledger.in[DA_STAGE_SAMPLE] = 99;
	s.view.decode = &other.f;
	s.view.recorded = true;
	render(&s, da_render_verdict_json);
	ck_assert(da_json_open(s.text, s.len, &v));
	ck_assert(da_json_get(&v, "ledger", &m) && da_json_get(&m, "sample", &layer) &&
		  da_json_get_u64(&layer, "in", &n) && n == 99);
	ck_assert(da_json_get(&v, "recorded_ledger", &m) && da_json_get(&m, "sample", &layer) &&
		  da_json_get_u64(&layer, "in", &n) && n == 170);
	da_json_free(&v);
	done(&s);
	show(&s, spoil_nothing, da_render_verdict_json);
	ck_assert(da_json_open(s.text, s.len, &v));
	ck_assert(da_json_get(&v, "recorded_ledger", &m) && da_json_is_null(&m));
	da_json_free(&v);
	done(&s);
}
END_TEST

START_TEST(tap)
{
	struct shown s;

	show(&s, spoil_nothing, da_render_verdict_tap);
	ck_assert_int_eq(strncmp(s.text, "KTAP version 1\n1..28\n", 21), 0);
	ck_assert_uint_eq(count(s.text, "\nok "), 28);
	ck_assert_uint_eq(count(s.text, "\nnot ok "), 0);
	ck_assert_ptr_nonnull(strstr(s.text, "\nok 28 - verdict as required: FULLY INTEGRATED\n"));
	done(&s);
	show(&s, spoil_no_regs, da_render_verdict_tap);
	ck_assert_int_eq(strncmp(s.text, "KTAP version 1\n1..26\n", 21), 0);
	ck_assert_uint_eq(count(s.text, " # SKIP "), 3);
	/* no check failed, yet a harness sees that the level was not reached */
	ck_assert_uint_eq(count(s.text, "\nnot ok "), 1);
	ck_assert_ptr_nonnull(strstr(s.text, "\nnot ok 26 - verdict as required: PLUMBING-ONLY\n"));
	done(&s);
	show(&s, spoil_spe_no_aux, da_render_verdict_tap);
	ck_assert_uint_eq(count(s.text, "\nnot ok "), 2);
	ck_assert_ptr_nonnull(strstr(s.text, " - sample.callback\n#   0 callbacks"));
	ck_assert_ptr_nonnull(strstr(s.text, "#   cause: aux_missing\n"));
	done(&s);
}
END_TEST

START_TEST(junit)
{
	struct shown s;

	show(&s, spoil_spe_no_aux, da_render_verdict_junit);
	ck_assert_ptr_nonnull(strstr(
		s.text, "<testsuite name=\"arm_spe_0//\" tests=\"25\" failures=\"1\" errors=\"0\" "
			"skipped=\"5\">"));
	ck_assert_uint_eq(count(s.text, "<testcase "), 26);
	ck_assert_uint_eq(count(s.text, "</testcase>"), 26);
	ck_assert_uint_eq(count(s.text, "<failure "), 2);
	ck_assert_uint_eq(count(s.text, "<skipped "), 5);
	done(&s);
}
END_TEST

/* Names hold any byte: no format lets a control character, broken UTF-8 or markup through. */
START_TEST(hostile_bytes)
{
	static const render_fn all[] = {da_render_verdict_text, da_render_verdict_json,
					da_render_verdict_tap, da_render_verdict_junit};
	struct da_json v;
	struct shown s;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		judge(&s, spoil_worst_of_two);
		da_verdict_release(&s.v);
		snprintf(s.run.ev[0].name, sizeof(s.run.ev[0].name),
			 "\033[2J\xff\xc2\x9b<&\"#\n]]>\xed\xa0\x80");
		snprintf(s.run.f.target_text, sizeof(s.run.f.target_text), "\033]0;x\007<b>");
		ck_assert_int_eq(da_verdict_judge(&s.run.f, &defaults, &s.v), 0);
		s.view.verbose = true;
		render(&s, all[i]);
		for (size_t k = 0; k < s.len; k++)
			ck_assert((unsigned char)s.text[k] >= 0x20 || s.text[k] == '\n');
		ck_assert_ptr_null(memchr(s.text, 0xff, s.len));
		ck_assert_ptr_null(memmem(s.text, s.len, "\xc2\x9b", 2));
		ck_assert_ptr_null(memmem(s.text, s.len, "\xed\xa0", 2));
		if (all[i] == da_render_verdict_json) {
			ck_assert(da_json_open(s.text, s.len, &v));
			da_json_free(&v);
		}
		if (all[i] == da_render_verdict_junit)
			ck_assert_ptr_null(strstr(s.text, "<b>"));
		if (all[i] == da_render_verdict_tap)
			for (char *p = strstr(s.text, "\nok "); p; p = strstr(p + 1, "\nok "))
				ck_assert(strcspn(p + 1, "#") >= strcspn(p + 1, "\n") ||
					  !strncmp(p + 1 + strcspn(p + 1, "#"), "# SKIP ", 7));
		done(&s);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("render_verdict");
	TCase *t = tcase_create("text"), *m = tcase_create("machine formats");
	SRunner *r;
	int failed;

	tcase_add_test(t, seed_tails);
	tcase_add_test(t, first_screen);
	tcase_add_test(t, not_recorded);
	tcase_add_test(t, quiet_and_color);
	tcase_add_test(t, two_events);
	tcase_add_test(m, json_shape);
	tcase_add_test(m, json_recorded);
	tcase_add_test(m, tap);
	tcase_add_test(m, junit);
	tcase_add_test(m, hostile_bytes);
	suite_add_tcase(s, t);
	suite_add_tcase(s, m);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
