/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The judge on crafted facts: the seeds' configurations with their own numbers and tallies, every verdict of
 * PRODUCT 6, every cause from its own evidence, and no cause that is not there.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_verdict.h"
#include "verdict_facts.h"

/* ---- the table ---- */

static const struct row {
	const char *name;
	void (*spoil)(struct run *r);
	enum da_level level;
	int broken_at; /* -1 */
	unsigned passed, failed, skipped, unknown;
	int exit_status;
	const char *causes; /* exactly these, in any order, each once or more; notes' too */
	const char *notes;  /* exactly these short notes */
} rows[] = {
	/* The seeds' three configurations, and the SPE run with its 67.9 % drops. */
	{"seed: page faults", spoil_nothing, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "",
	 "first touches of pages, not accesses"},
	{"seed: cpu-clock without registers", spoil_no_regs, DA_LEVEL_PLUMBING, -1, 22, 0, 3, 0, 10,
	 "no_registers", "valid 0 of 1913 samples"},
	{"seed: SPE without AUX", spoil_spe_no_aux, DA_LEVEL_UNUSABLE, -1, 19, 1, 5, 0, 11,
	 "aux_missing sampler_silent", ""},
	{"seed: SPE with AUX, cause not measured", spoil_spe_with_aux, DA_LEVEL_FULL, -1, 27, 0, 0,
	 0, 0, "", "67.9 % of reports dropped: cause not measured"},
	{"seed: SPE with AUX, fan-in", spoil_spe_fan_in, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0,
	 "fan_in", "67.9 % of reports dropped: fan-in"},
	{"fan-in into a single buffer", spoil_fan_in_single, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0,
	 "fan_in", "67.9 % of reports dropped: fan-in"},
	{"all buffers full, and small", spoil_small_buffers, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0,
	 "report_buffer_small", "67.9 % of reports dropped: report buffer too small"},
	{"all buffers full, and large", spoil_slow_consumer, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0,
	 "slow_consumer", "67.9 % of reports dropped: slow consumer"},
	{"a sampler stopped", spoil_stopped, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "sampler_stopped",
	 "first touches of pages, not accesses; stopped sampling after 90 s on 1 of 2 CPUs"},
	{"an experiment is better evidence", spoil_experiment, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0,
	 "slow_consumer", "67.9 % of reports dropped: slow consumer"},
	{"one source is no fan-in", spoil_one_source, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0,
	 "report_buffer_small", "67.9 % of reports dropped: report buffer too small"},
	{"fake, silent", spoil_fake_silent, DA_LEVEL_UNUSABLE, -1, 19, 1, 5, 0, 11,
	 "sampler_silent", ""},

	/* BROKEN AT */
	{"no report in a region", spoil_no_match, DA_LEVEL_BROKEN, DA_STAGE_MATCH, 24, 1, 1, 0, 12,
	 "outside_regions", "first touches of pages, not accesses"},
	{"reports of another space", spoil_other_space, DA_LEVEL_BROKEN, DA_STAGE_MATCH, 24, 1, 1,
	 0, 12, "wrong_target", "first touches of pages, not accesses"},
	{"no credit", spoil_no_update, DA_LEVEL_BROKEN, DA_STAGE_UPDATE, 26, 1, 0, 0, 12,
	 "conservation", "first touches of pages, not accesses"},
	{"nothing enters the buffer", spoil_all_overflow, DA_LEVEL_BROKEN, DA_STAGE_RING, 22, 1, 3,
	 0, 12, "buffer_blocked",
	 "first touches of pages, not accesses; 100 % of reports dropped: cause not measured"},
	{"nothing leaves the buffer", spoil_not_closed, DA_LEVEL_BROKEN, DA_STAGE_RING, 22, 2, 2, 0,
	 12, "reader_stopped drain_order", "first touches of pages, not accesses"},

	/* UNKNOWN */
	{"no fault happened", spoil_nothing_happened, DA_LEVEL_UNKNOWN, -1, 19, 0, 5, 1, 13,
	 "nothing_occurred", ""},
	{"count of faults not read", spoil_count_not_read, DA_LEVEL_UNKNOWN, -1, 19, 0, 5, 1, 13,
	 "nothing_occurred", ""},
	{"period never reached", spoil_period_never_reached, DA_LEVEL_UNKNOWN, -1, 19, 0, 5, 1, 13,
	 "period_too_long", ""},
	{"clock ran too short", spoil_clock_too_short, DA_LEVEL_UNKNOWN, -1, 19, 0, 5, 1, 13,
	 "period_too_long", ""},
	{"target never ran", spoil_target_never_ran, DA_LEVEL_UNKNOWN, -1, 19, 0, 5, 1, 13,
	 "nothing_occurred", ""},
	{"counters not zero at the start", spoil_dirty_guard, DA_LEVEL_UNKNOWN, -1, 26, 1, 0, 0, 13,
	 "dirty_counters", "first touches of pages, not accesses"},
	{"not disabled before the drain", spoil_drain_not_last, DA_LEVEL_UNKNOWN, -1, 26, 1, 0, 0,
	 13, "drain_order", "first touches of pages, not accesses"},

	/* silence */
	{"clock silent", spoil_clock_silent, DA_LEVEL_UNUSABLE, -1, 19, 1, 5, 0, 11,
	 "counts_without_samples sampler_silent", ""},
	{"time_running 0", spoil_not_scheduled, DA_LEVEL_UNUSABLE, -1, 19, 1, 5, 0, 11,
	 "not_scheduled", "the event ran 0 % of the time: multiplexed"},
	{"counts without samples", spoil_counts_only, DA_LEVEL_UNUSABLE, -1, 19, 1, 5, 0, 11,
	 "counts_without_samples sampler_silent", ""},
	{"counts without samples, VM", spoil_counts_in_vm, DA_LEVEL_UNUSABLE, -1, 19, 1, 5, 0, 11,
	 "counts_without_samples sampler_silent", ""},
	{"kernel ring lost all", spoil_kernel_ring_ate_all, DA_LEVEL_UNUSABLE, -1, 19, 1, 5, 0, 11,
	 "kernel_ring_small counts_without_samples sampler_silent",
	 "100 % of samples lost in the kernel's ring"},

	/* plumbing */
	{"precise event without addresses", spoil_precise_without_address, DA_LEVEL_PLUMBING, -1,
	 22, 0, 3, 0, 10, "event_without_address", "valid 0 of 500 samples"},
	{"code is gone", spoil_jit_gone, DA_LEVEL_PLUMBING, -1, 22, 0, 3, 0, 10, "code_missing",
	 "valid 0 of 500 samples"},

	/* could not be created, bound, enabled */
	{"paranoid, -a", spoil_paranoid, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11,
	 "paranoid capability", ""},
	{"paranoid 4, own child", spoil_paranoid_4, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11,
	 "paranoid capability", ""},
	{"seccomp", spoil_seccomp, DA_LEVEL_UNUSABLE, -1, 8, 3, 9, 0, 11, "seccomp", ""},
	{"no PMU in a VM", spoil_no_pmu_in_vm, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11,
	 "hypervisor no_such_event", ""},
	{"SPE and kpti", spoil_spe_kpti, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11,
	 "kpti no_such_event", ""},
	{"IBS cannot exclude", spoil_ibs_exclusion, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11,
	 "exclusion_refused", ""},
	{"SPE has no frequency mode", spoil_spe_frequency, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11,
	 "frequency_refused", ""},
	{"rate above the sysctl", spoil_rate_too_high, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11,
	 "rate_above_limit", ""},
	{"dead pid", spoil_dead_pid, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11, "wrong_target", ""},
	{"out of descriptors", spoil_out_of_fds, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11, "fd_limit",
	 ""},
	{"unit busy", spoil_unit_busy, DA_LEVEL_UNUSABLE, -1, 9, 2, 9, 0, 11, "unit_shared", ""},
	{"session refused", spoil_not_started, DA_LEVEL_UNUSABLE, -1, 10, 1, 9, 0, 11, "refused",
	 ""},
	{"mlock limit", spoil_mlock, DA_LEVEL_UNUSABLE, -1, 13, 2, 7, 0, 11, "mlock_limit", ""},
	{"exec never came", spoil_exec_never, DA_LEVEL_UNUSABLE, -1, 16, 1, 6, 0, 11,
	 "exec_never_came", ""},
	{"command stayed on one CPU", spoil_exec_on_one_cpu, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "",
	 "first touches of pages, not accesses"},
	{"CPU went offline", spoil_cpu_went_offline, DA_LEVEL_BROKEN, DA_STAGE_ENABLE, 26, 1, 0, 0,
	 12, "cpu_offline", "first touches of pages, not accesses"},
	{"CPU is offline", spoil_cpu_offline, DA_LEVEL_BROKEN, DA_STAGE_CREATE, 26, 1, 0, 0, 12,
	 "cpu_offline", "first touches of pages, not accesses"},
	{"a thread ended before it was opened", spoil_thread_ended, DA_LEVEL_FULL, -1, 27, 0, 0, 0,
	 0, "", "first touches of pages, not accesses"},

	/* notes */
	{"low yield", spoil_low_yield, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "not_memory",
	 "valid 3 % of samples, decoded at IP, biased against missing loads"},
	{"one CPU silent", spoil_one_cpu_silent, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "silent_cpus",
	 "samples from 1 of 2 CPUs only"},
	{"throttled, sysctl lowered", spoil_throttled, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0,
	 "rate_clamped throttled",
	 "the kernel lowered perf_event_max_sample_rate while running; first touches of pages, not accesses; "
	 "throttled 12 times by the kernel"},
	{"kernel ring of 4 pages", spoil_ring_of_four, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0,
	 "kernel_ring_small",
	 "kernel rings of 4 pages instead of 512; first touches of pages, not accesses; "
	 "97.1 % of samples lost in the kernel's ring"},
	{"AUX truncated", spoil_aux_truncated, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "aux_small",
	 "AUX truncated 7 times, 0 collisions"},
	{"period raised", spoil_period_raised, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "",
	 "period 4096 instead of 256"},
	{"hotplug", spoil_hotplug, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "",
	 "CPU 1 went offline and came back; first touches of pages, not accesses"},
	{"hotplug, away", spoil_hotplug_away, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "cpu_offline",
	 "CPU 1 went offline; first touches of pages, not accesses"},
	{"multiplexed", spoil_multiplexed, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "",
	 "the event ran 50 % of the time: multiplexed; first touches of pages, not accesses"},
	{"optional bits refused", spoil_bits_refused, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "",
	 "without phys_addr; first touches of pages, not accesses"},

	/* conservation */
	{"sample does not conserve", spoil_broken_sample, DA_LEVEL_BROKEN, DA_STAGE_SAMPLE, 26, 1,
	 0, 0, 12, "conservation", "valid 99.4 % of samples, first touches of pages, not accesses"},
	{"ring does not conserve", spoil_broken_ring, DA_LEVEL_BROKEN, DA_STAGE_RING, 25, 1, 1, 0,
	 12, "conservation",
	 "first touches of pages, not accesses; 2.9 % of reports dropped: cause not measured"},
	{"breaks that cancel out", spoil_broken_both_ways, DA_LEVEL_BROKEN, DA_STAGE_MATCH, 26, 1,
	 0, 0, 12, "conservation", "first touches of pages, not accesses"},
	{"lost between ring and match", spoil_broken_between, DA_LEVEL_BROKEN, DA_STAGE_MATCH, 26,
	 1, 0, 0, 12, "conservation", "first touches of pages, not accesses"},
	{"create does not conserve", spoil_broken_create, DA_LEVEL_BROKEN, DA_STAGE_CREATE, 26, 1,
	 0, 0, 12, "conservation", "first touches of pages, not accesses"},
	{"fewer reports than valid samples", spoil_reports_missing, DA_LEVEL_BROKEN, DA_STAGE_RING,
	 26, 1, 0, 0, 12, "conservation", "first touches of pages, not accesses"},

	/* files */
	{"own file", spoil_own, DA_LEVEL_FULL, -1, 27, 0, 0, 0, 0, "",
	 "first touches of pages, not accesses"},
	{"own file, killed", spoil_own_killed, DA_LEVEL_FULL, -1, 25, 0, 0, 1, 0, "",
	 "first touches of pages, not accesses; the recording was cut short"},
	{"own file, killed with reports inside", spoil_own_killed_inside, DA_LEVEL_FULL, -1, 25, 0,
	 0, 1, 0, "", "first touches of pages, not accesses; the recording was cut short"},
	{"foreign file", spoil_foreign, DA_LEVEL_FULL, -1, 6, 0, 0, 7, 0, "",
	 "first touches of pages, not accesses; create, bind, enable and ring were not recorded"},
	{"foreign file without addresses", spoil_foreign_plumbing, DA_LEVEL_PLUMBING, -1, 3, 0, 2,
	 7, 10, "no_registers",
	 "valid 0 of 1913 samples; create, bind, enable and ring were not recorded"},
	{"foreign file without samples", spoil_foreign_empty, DA_LEVEL_UNKNOWN, -1, 0, 0, 4, 8, 13,
	 "", "create, bind, enable and ring were not recorded"},
	{"file without events", spoil_no_events, DA_LEVEL_UNKNOWN, -1, 0, 0, 4, 8, 13, "",
	 "create, bind, enable and ring were not recorded"},

	{"two events, the worse decides", spoil_worst_of_two, DA_LEVEL_PLUMBING, -1, 22, 0, 3, 0,
	 10, "no_registers",
	 "cpu-clock:u: valid 0 of 1913 samples; second: first touches of pages, not accesses"},
};

static const struct da_verdict_opts defaults = {.max_drop_pct = -1, .min_valid_pct = -1};

static bool has_cause(const struct da_verdict *v, const char *id)
{
	for (size_t i = 0; i < v->nr_checks; i++)
		for (size_t k = 0; k < v->checks[i].nr_causes; k++)
			if (!strcmp(v->checks[i].causes[k].id, id))
				return true;
	return false;
}

static bool in_list(const char *list, const char *id)
{
	size_t n = strlen(id);

	for (const char *p = strstr(list, id); p; p = strstr(p + 1, id))
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
			return true;
	return false;
}

static void check_causes(const struct da_verdict *v, const struct row *r)
{
	char list[256], *save = NULL, *id;

	for (size_t i = 0; i < v->nr_checks; i++) {
		const struct da_check *c = &v->checks[i];

		for (size_t k = 0; k < c->nr_causes; k++) {
			ck_assert_msg(in_list(r->causes, c->causes[k].id), "%s: %s names %s",
				      r->name, c->id, c->causes[k].id);
			ck_assert_msg(c->causes[k].evidence[0] && c->causes[k].fix[0],
				      "%s: %s: bare cause", r->name, c->id);
		}
	}
	snprintf(list, sizeof(list), "%s", r->causes);
	for (id = strtok_r(list, " ", &save); id; id = strtok_r(NULL, " ", &save))
		ck_assert_msg(has_cause(v, id), "%s: %s is not named", r->name, id);
}

static void check_notes(const struct da_verdict *v, const struct row *r)
{
	char notes[1024] = "";

	for (size_t i = 0; i < v->nr_notes; i++) {
		size_t n = strlen(notes);

		snprintf(notes + n, sizeof(notes) - n, "%s%s", n ? "; " : "", v->notes[i]);
	}
	ck_assert_msg(!strcmp(notes, r->notes), "%s: notes are '%s'", r->name, notes);
}

static void check_evidence(const struct da_verdict *v, const struct row *r)
{
	for (size_t i = 0; i < v->nr_checks; i++) {
		const struct da_check *c = &v->checks[i];

		ck_assert_msg(c->evidence[0] && c->title[0] && c->id[0], "%s: %s says nothing",
			      r->name, c->id);
		/* what was judged is shown in numbers */
		if (c->result != DA_UNKNOWN || strchr(c->id, '.'))
			ck_assert_msg(strpbrk(c->evidence, "0123456789"),
				      "%s: %s: no number in '%s'", r->name, c->id, c->evidence);
		ck_assert_msg(strlen(c->evidence) < sizeof(c->evidence) - 1,
			      "%s: %s: evidence is cut", r->name, c->id);
		for (size_t k = 0; k < c->nr_causes; k++)
			ck_assert_msg(strlen(c->causes[k].fix) < sizeof(c->causes[k].fix) - 1 &&
					      strlen(c->causes[k].evidence) <
						      sizeof(c->causes[k].evidence) - 1,
				      "%s: %s: cause is cut", r->name, c->id);
		if (c->result == DA_FAIL)
			ck_assert_msg(c->nr_causes > 0, "%s: %s fails without a cause", r->name,
				      c->id);
	}
}

START_TEST(verdict)
{
	const struct row *r = &rows[_i];
	struct da_verdict v;
	struct run run;
	char level[64];

	healthy(&run);
	r->spoil(&run);
	ck_assert_int_eq(da_verdict_judge(&run.f, &defaults, &v), 0);
	da_level_text(v.level, v.broken_at, level, sizeof(level));
	ck_assert_msg(v.level == r->level, "%s: %s", r->name, level);
	if (r->broken_at >= 0)
		ck_assert_msg((int)v.broken_at == r->broken_at, "%s: %s", r->name, level);
	ck_assert_msg(v.passed == r->passed && v.failed == r->failed && v.skipped == r->skipped &&
			      v.unknown == r->unknown,
		      "%s: %u passed, %u failed, %u skipped, %u unknown", r->name, v.passed,
		      v.failed, v.skipped, v.unknown);
	ck_assert_msg(v.exit_status == r->exit_status, "%s: exit %d", r->name, v.exit_status);
	check_causes(&v, r);
	check_notes(&v, r);
	check_evidence(&v, r);
	da_verdict_release(&v);
}
END_TEST

/* The base list of PRODUCT 6: so many checks in each group, 27 in all. */
START_TEST(base_list)
{
	static const struct {
		const char *group;
		unsigned nr;
	} groups[] = {{"environment", 7}, {"guard", 3},   {"create", 3}, {"bind", 2},
		      {"enable", 2},      {"sample", 3},  {"ring", 2},   {"match", 1},
		      {"update", 2},      {"teardown", 2}};
	struct da_verdict v;
	struct run run;

	healthy(&run);
	ck_assert_int_eq(da_verdict_judge(&run.f, &defaults, &v), 0);
	for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++) {
		unsigned nr = 0;

		for (size_t i = 0; i < v.nr_checks; i++)
			nr += !v.checks[i].note && !strcmp(v.checks[i].group, groups[g].group);
		ck_assert_msg(nr == groups[g].nr, "%s has %u checks", groups[g].group, nr);
	}
	/* ids are stable names: unique, and begin with their group */
	for (size_t i = 0; i < v.nr_checks; i++) {
		ck_assert_int_eq(
			strncmp(v.checks[i].id, v.checks[i].group, strlen(v.checks[i].group)), 0);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(v.checks[i].id, v.checks[k].id);
	}
	da_verdict_release(&v);
}
END_TEST

/* Which lines the 19/1/5 and the 22/0/3 are made of. */
START_TEST(skip_lines)
{
	static const char *const unusable[] = {"sample.running", "sample.classified", "ring",
					       "match", "update"};
	static const char *const plumbing[] = {"ring", "match", "update"};
	struct da_verdict v;
	struct run run;
	size_t n = 0;

	healthy(&run);
	spoil_spe_no_aux(&run);
	ck_assert_int_eq(da_verdict_judge(&run.f, &defaults, &v), 0);
	for (size_t i = 0; i < v.nr_checks; i++)
		if (v.checks[i].result == DA_SKIP && !v.checks[i].note)
			ck_assert_str_eq(v.checks[i].id, unusable[n++]);
	ck_assert_uint_eq(n, 5);
	da_verdict_release(&v);
	healthy(&run);
	spoil_no_regs(&run);
	ck_assert_int_eq(da_verdict_judge(&run.f, &defaults, &v), 0);
	for (size_t i = n = 0; i < v.nr_checks; i++)
		if (v.checks[i].result == DA_SKIP && !v.checks[i].note)
			ck_assert_str_eq(v.checks[i].id, plumbing[n++]);
	ck_assert_uint_eq(n, 3);
	da_verdict_release(&v);
}
END_TEST

static int exit_for(void (*spoil)(struct run *), struct da_verdict_opts o)
{
	struct da_verdict v;
	struct run run;
	int status;

	healthy(&run);
	spoil(&run);
	ck_assert_int_eq(da_verdict_judge(&run.f, &o, &v), 0);
	status = v.exit_status;
	da_verdict_release(&v);
	return status;
}

START_TEST(limits)
{
	struct da_verdict_opts o = defaults;

	o.max_drop_pct = 50;
	ck_assert_int_eq(exit_for(spoil_spe_with_aux, o), 14);
	ck_assert_int_eq(exit_for(spoil_nothing, o), 0);
	/* what the kernel lost counts too, but is never added */
	ck_assert_int_eq(exit_for(spoil_ring_of_four, o), 14);
	o.max_drop_pct = 68;
	ck_assert_int_eq(exit_for(spoil_spe_with_aux, o), 0);
	o.max_drop_pct = 0;
	ck_assert_int_eq(exit_for(spoil_nothing, o), 0);
	o = defaults;
	o.min_valid_pct = 50;
	ck_assert_int_eq(exit_for(spoil_low_yield, o), 14);
	ck_assert_int_eq(exit_for(spoil_nothing, o), 0);
	/* a verdict that fails by itself keeps its spoil_own status */
	ck_assert_int_eq(exit_for(spoil_no_regs, o), 10);
	ck_assert_int_eq(exit_for(spoil_no_match, o), 12);
	o.require_plumbing = true;
	ck_assert_int_eq(exit_for(spoil_no_regs, o), 14);
	o = defaults;
	o.require_plumbing = true;
	ck_assert_int_eq(exit_for(spoil_no_regs, o), 0);
	ck_assert_int_eq(exit_for(spoil_nothing, o), 0);
	ck_assert_int_eq(exit_for(spoil_nothing_happened, o), 13);
	ck_assert_int_eq(exit_for(spoil_spe_no_aux, o), 11);
}
END_TEST

/* Worst of all events, or with any the best; every event keeps its spoil_own verdict. */
START_TEST(several_events)
{
	static const struct {
		void (*first)(struct run *);
		int worst, best;
		size_t decider; /* of the worst */
	} cases[] = {
		{spoil_nothing, 0, 0, 0},           {spoil_no_regs, 10, 0, 0},
		{spoil_nothing_happened, 13, 0, 0}, {spoil_no_match, 12, 0, 0},
		{spoil_spe_no_aux, 11, 0, 0},
	};
	struct da_verdict_opts o = defaults;
	struct da_verdict v;
	struct run run;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		healthy(&run);
		spoil_add_second(&run);
		cases[i].first(&run);
		o.any = false;
		ck_assert_int_eq(da_verdict_judge(&run.f, &o, &v), 0);
		ck_assert_uint_eq(v.nr_events, 2);
		ck_assert_int_eq(v.exit_status, cases[i].worst);
		ck_assert_uint_eq(v.decider, cases[i].decider);
		ck_assert_int_eq(v.events[1].level, DA_LEVEL_FULL);
		ck_assert_ptr_eq(v.checks, v.events[v.decider].checks);
		da_verdict_release(&v);
		o.any = true;
		ck_assert_int_eq(da_verdict_judge(&run.f, &o, &v), 0);
		ck_assert_int_eq(v.exit_status, cases[i].best);
		da_verdict_release(&v);
	}
}
END_TEST

/* A file may declare any number of events: memory stays small, and the one that decides keeps its checks. */
START_TEST(many_events)
{
	size_t nr = 2000, bad = 1321, kept = 0;
	struct da_facts_event *ev = calloc(nr, sizeof(*ev));
	struct da_verdict v;
	struct run run, worse;

	healthy(&run);
	healthy(&worse);
	spoil_no_match(&worse);
	for (size_t i = 0; i < nr; i++)
		ev[i] = i == bad ? worse.ev[0] : run.ev[0];
	run.f.events = ev;
	run.f.nr_events = nr;
	ck_assert_int_eq(da_verdict_judge(&run.f, &defaults, &v), 0);
	ck_assert_uint_eq(v.decider, bad);
	ck_assert_uint_gt(v.nr_checks, 20);
	ck_assert_ptr_eq(v.checks, v.events[bad].checks);
	for (size_t i = 0; i < nr; i++)
		kept += v.events[i].checks != NULL;
	ck_assert_uint_le(kept, 257);
	da_verdict_release(&v);
	free(ev);
}
END_TEST

/* Names come from files: a fix is a command to be typed. */
START_TEST(hostile_name)
{
	struct da_verdict v;
	struct run run;

	healthy(&run);
	spoil_no_regs(&run);
	snprintf(run.ev[0].name, sizeof(run.ev[0].name), "x; rm -rf ~ #");
	ck_assert_int_eq(da_verdict_judge(&run.f, &defaults, &v), 0);
	for (size_t i = 0; i < v.nr_checks; i++)
		for (size_t k = 0; k < v.checks[i].nr_causes; k++)
			ck_assert_ptr_null(strstr(v.checks[i].causes[k].fix, "rm -rf"));
	da_verdict_release(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("verdict");
	TCase *t = tcase_create("judge");
	SRunner *r;
	int failed;

	tcase_add_loop_test(t, verdict, 0, (int)(sizeof(rows) / sizeof(rows[0])));
	tcase_add_test(t, base_list);
	tcase_add_test(t, skip_lines);
	tcase_add_test(t, limits);
	tcase_add_test(t, several_events);
	tcase_add_test(t, many_events);
	tcase_add_test(t, hostile_name);
	suite_add_tcase(s, t);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
