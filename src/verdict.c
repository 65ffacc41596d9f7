/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The judge: walks the table of groups and checks for each event, derives the level, chooses the event that
 * decides. Pure: facts in, verdict out.
 *
 * The base checks, their groups and their number (27) are fixed by PRODUCT 6; doc/stages.md derives the
 * tallies. What is said beside them is a note and never counted. The checks are in verdict_run.c and
 * verdict_flow.c, the notes in verdict_note.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict_priv.h"

#define MAX_CHECKS  8  /* of a group, or its notes */
#define CHECKS_STEP 48 /* a list with notes has seldom more */

/* Why a group is not judged check by check: NULL, or the evidence of its one line. */
typedef const char *(*reason_fn)(const struct vd_event *e);

static const char *no_machine(const struct vd_event *e)
{
	return e->f->machine_known ? NULL
				   : "the file does not say on what machine and with what rights";
}

static const char *no_run(const struct vd_event *e)
{
	return e->run_known ? NULL : "a file of another program: it holds the samples, not the run";
}

/* What was so at the start is stored with the facts of the machine. */
static const char *no_start(const struct vd_event *e)
{
	return e->run_known && !e->f->machine_known ? "the recording does not say how its run began"
						    : no_run(e);
}

static const char *no_end(const struct vd_event *e)
{
	if (e->f->goes_on)
		return "the run went on in another file, which says how it ended";
	return e->cut_short ? "the recording was cut short: nobody wrote how it ended" : no_run(e);
}

static const char *none_opened(const struct vd_event *e)
{
	return e->sum.out[DA_STAGE_CREATE] ? NULL : "0 events were opened: nothing to bind";
}

static const char *none_created(const struct vd_event *e)
{
	return e->sum.out[DA_STAGE_CREATE] ? NULL : "0 events were opened: nothing to release";
}

static const char *none_bound(const struct vd_event *e)
{
	return e->sum.out[DA_STAGE_BIND] ? NULL : "0 rings were mapped: nothing to enable";
}

/* Callbacks are proof enough that it was enabled, whatever the states of a file say. */
static const char *none_enabled(const struct vd_event *e)
{
	return !e->run_known || e->max_state >= DA_STATE_ENABLED || e->n.callback
		       ? NULL
		       : "0 events were enabled: nothing can be sampled";
}

static const char *none_valid(const struct vd_event *e)
{
	return e->n.valid ? NULL : "0 samples with an address: nothing to buffer";
}

static const char *none_dequeued(const struct vd_event *e)
{
	uint64_t n = e->run_known ? e->n.dequeue : e->sum.in[DA_STAGE_MATCH];

	return n ? NULL : "0 reports came out of the buffer: nothing to match";
}

static const char *none_matched(const struct vd_event *e)
{
	return e->n.match ? NULL : "0 reports matched a region: nothing to credit";
}

struct check {
	const char *id, *title;
	vd_check_fn fn;
};

struct note {
	const char *id;
	vd_note_fn fn;
	bool of_run; /* measured of the run, not of one event: said once */
};

/* In the order of the run. stage: -1 for what is no layer of the pipeline. */
static const struct group {
	const char *name;
	int stage;
	reason_fn unknown, skip;
	struct check checks[MAX_CHECKS];
	struct note notes[MAX_CHECKS];
} groups[] = {
	/* clang-format off */
	{"environment", -1, no_machine, NULL, {
		{"environment.perf_event_open", "perf_event_open(2) answers", vd_env_syscall},
		{"environment.privilege", "Rights suffice", vd_env_privilege},
		{"environment.pmu", "PMU and event exist", vd_env_pmu},
		{"environment.config", "Period and configuration accepted", vd_env_config},
		{"environment.target", "Target is there", vd_env_target},
		{"environment.limits", "Descriptors and locked memory suffice", vd_env_limits},
		{"environment.clock", "Recording clock is readable", vd_env_clock},
	}, {
		{"environment.sample_rate", vd_note_rate_clamped, true},
	}},
	{"guard", -1, no_start, NULL, {
		{"guard.counters_zero", "Counters began at zero", vd_guard_counters},
		{"guard.no_old_state", "No state of an earlier run", vd_guard_state},
		{"guard.unit_free", "Unit not held by another event", vd_guard_unit},
	}, {{NULL, NULL, false}}},
	{"create", DA_STAGE_CREATE, no_run, NULL, {
		{"create.opened", "Event opened", vd_create_opened},
		{"create.state", "State reached CREATED", vd_create_state},
		{"create.no_errors", "No open failed", vd_create_errors},
	}, {
		{"create.optional_bits", vd_note_optional_bits, false},
		{"create.period", vd_note_period, false},
	}},
	{"bind", DA_STAGE_BIND, no_run, none_opened, {
		{"bind.state", "State reached BOUND", vd_bind_state},
		{"bind.mapped", "Rings mapped while disabled", vd_bind_mapped},
	}, {
		{"bind.ring_halved", vd_note_ring_halved, true},
	}},
	{"enable", DA_STAGE_ENABLE, no_run, none_bound, {
		{"enable.state", "State reached ENABLED", vd_enable_state},
		{"enable.cpus", "Every CPU enabled, or the target was never there", vd_enable_cpus},
	}, {
		{"enable.multiplexed", vd_note_multiplexed, false},
		{"enable.hotplug", vd_note_hotplug, true},
	}},
	{"sample", DA_STAGE_SAMPLE, NULL, none_enabled, {
		{"sample.callback", "Samples arrive", vd_sample_callback},
		{"sample.running", "State reached RUNNING", vd_sample_running},
		{"sample.classified", "Every sample is valid or a named drop", vd_sample_classified},
	}, {
		{"sample.yield", vd_note_yield, false},
		{"sample.cpus", vd_note_cpus, false},
		{"sample.silence", vd_note_silence, false},
		{"sample.throttled", vd_note_throttled, true},
		{"sample.aux", vd_note_aux, false},
	}},
	{"ring", DA_STAGE_RING, no_run, none_valid, {
		{"ring.enqueue", "Reports enter the buffer or are counted", vd_ring_enqueue},
		{"ring.closed", "What entered came out", vd_ring_closed},
	}, {
		{"ring.drops", vd_note_drops, false},
		{"ring.kernel", vd_note_kernel_loss, false},
	}},
	{"match", DA_STAGE_MATCH, NULL, none_dequeued, {
		{"match.match", "Reports fall into regions of the target", vd_match},
	}, {{NULL, NULL, false}}},
	{"update", DA_STAGE_UPDATE, NULL, none_matched, {
		{"update.drain", "The drain ran", vd_update_drain},
		{"update.credit", "Regions were credited", vd_update_credit},
	}, {{NULL, NULL, false}}},
	{"teardown", -1, no_end, none_created, {
		{"teardown.drain", "Disabled, then drained to the end", vd_teardown_drain},
		{"teardown.released", "All released, AUX before its event", vd_teardown_released},
	}, {{NULL, NULL, false}}},
	/* clang-format on */
};

#define NR_GROUPS (sizeof(groups) / sizeof(groups[0]))

const char *da_level_name(enum da_level l)
{
	static const char *const names[DA_LEVEL_NR] = {"FULLY INTEGRATED", "PLUMBING-ONLY",
						       "UNUSABLE", "BROKEN", "UNKNOWN"};

	return (unsigned)l < DA_LEVEL_NR ? names[l] : "unknown";
}

void da_level_text(enum da_level l, enum da_stage broken_at, char *buf, size_t size)
{
	if (l == DA_LEVEL_BROKEN)
		snprintf(buf, size, "BROKEN AT %s", da_stage_name(broken_at));
	else
		snprintf(buf, size, "%s", da_level_name(l));
}

const char *da_result_name(enum da_result r)
{
	static const char *const names[DA_RESULT_NR] = {"PASS", "FAIL", "SKIP", "UNKNOWN"};

	return (unsigned)r < DA_RESULT_NR ? names[r] : "unknown";
}

enum da_result da_group_result(const struct da_check *c, size_t nr, const char *group)
{
	bool seen[DA_RESULT_NR] = {false};
	size_t i;

	for (i = 0; i < nr; i++)
		if (!c[i].note && !strcmp(c[i].group, group))
			seen[c[i].result] = true;
	if (seen[DA_FAIL])
		return DA_FAIL;
	if (seen[DA_PASS])
		return DA_PASS;
	return seen[DA_UNKNOWN] ? DA_UNKNOWN : DA_SKIP;
}

/* ---- one event ---- */

/* Room for a whole list at once; trimmed when the event is judged. */
static struct da_check *add(struct da_event_verdict *v, const struct group *g, const char *id,
			    const char *title)
{
	struct da_check *grown, *c;

	if (v->nr_checks % CHECKS_STEP == 0) {
		grown = realloc(v->checks, (v->nr_checks + CHECKS_STEP) * sizeof(*grown));
		if (!grown)
			return NULL;
		v->checks = grown;
	}
	c = &v->checks[v->nr_checks++];
	memset(c, 0, sizeof(*c));
	snprintf(c->id, sizeof(c->id), "%s", id);
	snprintf(c->group, sizeof(c->group), "%s", g->name);
	snprintf(c->title, sizeof(c->title), "%s", title);
	return c;
}

static void trim(struct da_event_verdict *v)
{
	struct da_check *less = realloc(v->checks, v->nr_checks * sizeof(*less));

	if (less)
		v->checks = less;
}

static void tally(struct da_event_verdict *v, enum da_result r)
{
	v->passed += r == DA_PASS;
	v->failed += r == DA_FAIL;
	v->skipped += r == DA_SKIP;
	v->unknown += r == DA_UNKNOWN;
}

/* A group that is not judged is one line. */
static int add_line(struct da_event_verdict *v, const struct group *g, enum da_result r,
		    const char *why)
{
	struct da_check *c = add(v, g, g->name, r == DA_SKIP ? "Not reached" : "Not recorded");

	if (!c)
		return -DA_ENOMEM;
	c->result = r;
	vd_evidence(c, "%s", why);
	tally(v, r);
	return 0;
}

static int judge_checks(struct da_event_verdict *v, const struct group *g, const struct vd_event *e)
{
	const char *why = g->unknown ? g->unknown(e) : NULL;
	struct da_check *c;
	size_t i;

	if (why)
		return add_line(v, g, DA_UNKNOWN, why);
	why = g->skip ? g->skip(e) : NULL;
	if (why)
		return add_line(v, g, DA_SKIP, why);
	for (i = 0; i < MAX_CHECKS && g->checks[i].id; i++) {
		c = add(v, g, g->checks[i].id, g->checks[i].title);
		if (!c)
			return -DA_ENOMEM;
		c->result = g->checks[i].fn(e, c);
		tally(v, c->result);
	}
	return 0;
}

static int judge_notes(struct da_event_verdict *v, const struct group *g, const struct vd_event *e)
{
	struct da_check *c;
	size_t i;

	for (i = 0; i < MAX_CHECKS && g->notes[i].id; i++) {
		c = add(v, g, g->notes[i].id, "");
		if (!c)
			return -DA_ENOMEM;
		c->note = true;
		if (!g->notes[i].fn(e, c))
			v->nr_checks--;
	}
	return 0;
}

/* PRODUCT 6, the table of verdicts. */
static enum da_level level_of(const struct da_event_verdict *v, const struct vd_event *e,
			      enum da_stage *broken_at)
{
	const enum da_result *layer = e->layer;
	int s;

	for (s = DA_STAGE_CREATE; s <= DA_STAGE_ENABLE; s++)
		if (layer[s] == DA_FAIL && !e->n.callback)
			return DA_LEVEL_UNUSABLE;
	if (!e->n.callback)
		return layer[DA_STAGE_SAMPLE] == DA_FAIL ? DA_LEVEL_UNUSABLE : DA_LEVEL_UNKNOWN;
	/* It delivers: a layer that failed all the same did so on some CPUs, or does not conserve. */
	for (s = 0; s < DA_STAGE_NR; s++) {
		if (layer[s] == DA_FAIL) {
			*broken_at = (enum da_stage)s;
			return DA_LEVEL_BROKEN;
		}
	}
	/* Outside the layers: then the run's own numbers cannot be trusted. */
	if (v->failed)
		return DA_LEVEL_UNKNOWN;
	if (!e->n.valid)
		return DA_LEVEL_PLUMBING;
	return layer[DA_STAGE_UPDATE] == DA_PASS ? DA_LEVEL_FULL : DA_LEVEL_UNKNOWN;
}

int vd_judge_event(const struct da_facts *f, const struct da_facts_event *ev,
		   uint64_t run_callbacks, struct da_event_verdict *v)
{
	struct vd_event e;
	size_t i;
	int ret;

	vd_event_init(&e, f, ev, run_callbacks);
	snprintf(v->name, sizeof(v->name), "%s", ev->name);
	for (i = 0; i < NR_GROUPS; i++) {
		ret = judge_checks(v, &groups[i], &e);
		if (!ret && groups[i].stage >= 0)
			e.layer[groups[i].stage] =
				da_group_result(v->checks, v->nr_checks, groups[i].name);
		if (!ret)
			ret = judge_notes(v, &groups[i], &e);
		if (ret)
			return ret;
	}
	trim(v);
	memcpy(v->layer, e.layer, sizeof(v->layer));
	v->level = level_of(v, &e, &v->broken_at);
	return 0;
}

bool vd_is_of_run(const char *id)
{
	size_t g, n;

	for (g = 0; g < NR_GROUPS; g++)
		for (n = 0; n < MAX_CHECKS && groups[g].notes[n].id; n++)
			if (!strcmp(groups[g].notes[n].id, id))
				return groups[g].notes[n].of_run;
	return false;
}
