/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The causes that test_verdict.c has no row for: each named from its own evidence, and nothing else named.
 * Most are a spoiled run of tests/verdict_facts.c in which one drop is moved to another name, as the kernel,
 * a PMU or a recording would have given it. The tallies of verdicts are test_verdict.c's.
 */
#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_verdict.h"
#include "verdict_facts.h"

/* ---- what a drop alone does not say ---- */

static void no_perf_events(struct run *r)
{
	spoil_not_started(r);
	r->f.perf_event_open_works = false;
	r->f.paranoid = INT_MIN;
}

static void blocked(struct run *r)
{
	spoil_not_started(r);
	r->f.perf_event_open_works = false;
}

static void foreign_task(struct run *r)
{
	spoil_paranoid(r);
	r->f.target = DA_TARGET_PID;
	r->f.paranoid = 1;
}

/* A security module: rights suffice, nothing filters. */
static void lockdown(struct run *r)
{
	spoil_paranoid(r);
	r->f.cap_perfmon = true;
}

static void no_clock(struct run *r)
{
	r->f.clock_ok = false;
}

static void old_state(struct run *r)
{
	r->f.no_old_state = false;
}

static void unit_held(struct run *r)
{
	r->f.unit_held = true;
}

static void not_released(struct run *r)
{
	r->f.released_all = false;
}

static void nothing_offered(struct run *r)
{
	struct da_ledger *l = &r->cpu[0][0].ledger;

	spoil_all_overflow(r);
	l->in[DA_STAGE_RING] = l->drop[DA_DROP_OVERFLOW] = 0;
}

/* The event's own sampling stopped, and the kernel took it off its unit for another. */
static void held_and_silent(struct run *r)
{
	spoil_counts_only(r);
	r->f.unit_held = true;
}

static void aux_off(struct run *r)
{
	spoil_spe_with_aux(r);
	r->f.aux_truncated = 0;
	r->f.aux_collisions = 0;
	r->f.aux_off_ns = 5000000;
}

/* ---- the table ---- */

static const struct row {
	const char *causes; /* exactly these */
	void (*spoil)(struct run *r);
	enum da_drop from, to; /* this drop becomes that one; the same: none does */
	enum da_level level;
} rows[] = {
	{"no_perf_events refused", no_perf_events, 0, 0, DA_LEVEL_UNUSABLE},
	{"blocked refused", blocked, 0, 0, DA_LEVEL_UNUSABLE},
	{"foreign_task", foreign_task, 0, 0, DA_LEVEL_UNUSABLE},
	{"permission", lockdown, 0, 0, DA_LEVEL_UNUSABLE},
	{"config_refused", spoil_unit_busy, DA_DROP_CREATE_BUSY, DA_DROP_CREATE_INVALID,
	 DA_LEVEL_UNUSABLE},
	{"fd_limit", spoil_mlock, DA_DROP_BIND_MLOCK, DA_DROP_BIND_FD_LIMIT, DA_LEVEL_UNUSABLE},
	{"mmap_refused", spoil_mlock, DA_DROP_BIND_MLOCK, DA_DROP_BIND_INVALID, DA_LEVEL_UNUSABLE},
	{"enable_refused", spoil_exec_never, DA_DROP_ENABLE_NOT_FIRED, DA_DROP_ENABLE_REFUSED,
	 DA_LEVEL_UNUSABLE},
	{"clock", no_clock, 0, 0, DA_LEVEL_UNKNOWN},
	{"old_state", old_state, 0, 0, DA_LEVEL_UNKNOWN},
	{"unit_shared", unit_held, 0, 0, DA_LEVEL_UNKNOWN},
	{"release_order", not_released, 0, 0, DA_LEVEL_UNKNOWN},
	{"counts_without_samples unit_shared sampler_silent", held_and_silent, 0, 0,
	 DA_LEVEL_UNUSABLE},
	{"aux_small", aux_off, 0, 0, DA_LEVEL_FULL},

	{"registers_missing", spoil_jit_gone, DA_DROP_NO_CODE, DA_DROP_NO_REGS, DA_LEVEL_PLUMBING},
	{"kernel_samples", spoil_jit_gone, DA_DROP_NO_CODE, DA_DROP_KERNEL_IP, DA_LEVEL_PLUMBING},
	{"undecodable_code", spoil_jit_gone, DA_DROP_NO_CODE, DA_DROP_UNDECODED, DA_LEVEL_PLUMBING},
	{"not_memory", spoil_jit_gone, DA_DROP_NO_CODE, DA_DROP_NOT_MEMORY, DA_LEVEL_PLUMBING},
	{"base_overwritten", spoil_jit_gone, DA_DROP_NO_CODE, DA_DROP_BASE_OVERWRITTEN,
	 DA_LEVEL_PLUMBING},
	{"unresolved", spoil_jit_gone, DA_DROP_NO_CODE, DA_DROP_UNRESOLVED, DA_LEVEL_PLUMBING},
	{"segment", spoil_jit_gone, DA_DROP_NO_CODE, DA_DROP_SEGMENT, DA_LEVEL_PLUMBING},
	{"hardware_invalid", spoil_precise_without_address, DA_DROP_ADDR_NONE, DA_DROP_INVALID,
	 DA_LEVEL_PLUMBING},
	{"damaged_stream", spoil_precise_without_address, DA_DROP_ADDR_NONE, DA_DROP_BAD_PACKET,
	 DA_LEVEL_PLUMBING},
	{"truncated_records", spoil_precise_without_address, DA_DROP_ADDR_NONE, DA_DROP_TRUNCATED,
	 DA_LEVEL_PLUMBING},

	{"nothing_offered", nothing_offered, 0, 0, DA_LEVEL_BROKEN},
	{"unknown_task", spoil_no_match, DA_DROP_MISS_REGION, DA_DROP_NO_TASK, DA_LEVEL_BROKEN},
	{"outside_regions", spoil_no_match, DA_DROP_MISS_REGION, DA_DROP_STRADDLE, DA_LEVEL_BROKEN},
	{"probe_filter", spoil_no_match, DA_DROP_MISS_REGION, DA_DROP_MISS_PROBE, DA_LEVEL_BROKEN},
};

/* Is the word in the list? */
static bool listed(const char *list, const char *id)
{
	size_t n = strlen(id);

	for (const char *p = strstr(list, id); p; p = strstr(p + 1, id))
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
			return true;
	return false;
}

static size_t words(const char *list)
{
	size_t n = 1;

	for (; *list; list++)
		n += *list == ' ';
	return n;
}

START_TEST(cause)
{
	const struct da_verdict_opts opts = {.max_drop_pct = -1, .min_valid_pct = -1};
	const struct row *w = &rows[_i];
	char found[256] = "";
	struct da_verdict v;
	struct run run;

	healthy(&run);
	w->spoil(&run);
	for (size_t c = 0; w->from != w->to && c < 2; c++) {
		uint64_t *drop = run.cpu[0][c].ledger.drop;

		drop[w->to] += drop[w->from];
		drop[w->from] = 0;
	}
	ck_assert_int_eq(da_verdict_judge(&run.f, &opts, &v), 0);
	for (size_t i = 0; i < v.nr_checks; i++) {
		const struct da_check *c = &v.checks[i];

		ck_assert_msg(c->result != DA_FAIL || c->nr_causes, "%s: %s fails without a cause",
			      w->causes, c->id);
		for (size_t k = 0; k < c->nr_causes; k++) {
			const struct da_cause *x = &c->causes[k];
			size_t n = strlen(found);

			ck_assert_msg(x->evidence[0] && x->fix[0], "%s: bare", x->id);
			ck_assert_msg(strlen(x->evidence) < sizeof(x->evidence) - 1 &&
					      strlen(x->fix) < sizeof(x->fix) - 1,
				      "%s: cut", x->id);
			if (!listed(found, x->id))
				snprintf(found + n, sizeof(found) - n, "%s%s", n ? " " : "", x->id);
			ck_assert_msg(listed(w->causes, x->id), "%s: %s names %s", w->causes, c->id,
				      x->id);
		}
	}
	ck_assert_msg(found[0] && words(found) == words(w->causes), "%s: only %s is named",
		      w->causes, found);
	ck_assert_msg(v.level == w->level, "%s: level %d", w->causes, v.level);
	da_verdict_release(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("verdict_causes");
	TCase *t = tcase_create("causes");
	SRunner *r;
	int failed;

	tcase_add_loop_test(t, cause, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
