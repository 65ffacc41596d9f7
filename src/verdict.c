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
/* Events that keep their checks (60 KiB each); beyond it only the deciding one does. Files can declare any
 * number of events. */
#define MAX_DETAILED 256

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
		{"environment.sample_rate", vd_note_rate_clamped},
	}},
	{"guard", -1, no_start, NULL, {
		{"guard.counters_zero", "Counters began at zero", vd_guard_counters},
		{"guard.no_old_state", "No state of an earlier run", vd_guard_state},
		{"guard.unit_free", "Unit not held by another event", vd_guard_unit},
	}, {{NULL, NULL}}},
	{"create", DA_STAGE_CREATE, no_run, NULL, {
		{"create.opened", "Event opened", vd_create_opened},
		{"create.state", "State reached CREATED", vd_create_state},
		{"create.no_errors", "No open failed", vd_create_errors},
	}, {
		{"create.optional_bits", vd_note_optional_bits},
		{"create.period", vd_note_period},
	}},
	{"bind", DA_STAGE_BIND, no_run, none_opened, {
		{"bind.state", "State reached BOUND", vd_bind_state},
		{"bind.mapped", "Rings mapped while disabled", vd_bind_mapped},
	}, {
		{"bind.ring_halved", vd_note_ring_halved},
	}},
	{"enable", DA_STAGE_ENABLE, no_run, none_bound, {
		{"enable.state", "State reached ENABLED", vd_enable_state},
		{"enable.cpus", "Every CPU enabled, or the target was never there", vd_enable_cpus},
	}, {
		{"enable.multiplexed", vd_note_multiplexed},
	}},
	{"sample", DA_STAGE_SAMPLE, NULL, none_enabled, {
		{"sample.callback", "Samples arrive", vd_sample_callback},
		{"sample.running", "State reached RUNNING", vd_sample_running},
		{"sample.classified", "Every sample is valid or a named drop", vd_sample_classified},
	}, {
		{"sample.yield", vd_note_yield},
		{"sample.cpus", vd_note_cpus},
		{"sample.throttled", vd_note_throttled},
		{"sample.aux", vd_note_aux},
	}},
	{"ring", DA_STAGE_RING, no_run, none_valid, {
		{"ring.enqueue", "Reports enter the buffer or are counted", vd_ring_enqueue},
		{"ring.closed", "What entered came out", vd_ring_closed},
	}, {
		{"ring.drops", vd_note_drops},
		{"ring.kernel", vd_note_kernel_loss},
	}},
	{"match", DA_STAGE_MATCH, NULL, none_dequeued, {
		{"match.match", "Reports fall into regions of the target", vd_match},
	}, {{NULL, NULL}}},
	{"update", DA_STAGE_UPDATE, NULL, none_matched, {
		{"update.drain", "The drain ran", vd_update_drain},
		{"update.credit", "Regions were credited", vd_update_credit},
	}, {{NULL, NULL}}},
	{"teardown", -1, no_end, none_created, {
		{"teardown.drain", "Disabled, then drained to the end", vd_teardown_drain},
		{"teardown.released", "All released, AUX before its event", vd_teardown_released},
	}, {{NULL, NULL}}},
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

static int judge_event(const struct da_facts *f, const struct da_facts_event *ev, uint32_t id,
		       struct da_event_verdict *v)
{
	struct vd_event e;
	size_t i;
	int ret;

	vd_event_init(&e, f, ev);
	snprintf(v->name, sizeof(v->name), "%s", ev->name);
	v->id = id;
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

/* ---- all events ---- */

/* Greater is worse. UNKNOWN is worse than PLUMBING-ONLY: who is content with plumbing has not seen it. */
static int badness(const struct da_event_verdict *v)
{
	static const int rank[DA_LEVEL_NR] = {
		[DA_LEVEL_FULL] = 0,   [DA_LEVEL_PLUMBING] = 1, [DA_LEVEL_UNKNOWN] = 2,
		[DA_LEVEL_BROKEN] = 3, [DA_LEVEL_UNUSABLE] = 4,
	};
	int r = rank[v->level] * DA_STAGE_NR;

	/* Of two broken ones the earlier layer is the worse. */
	return v->level == DA_LEVEL_BROKEN ? r + DA_STAGE_NR - 1 - (int)v->broken_at : r;
}

static void drop_checks(struct da_event_verdict *v)
{
	free(v->checks);
	v->checks = NULL;
	v->nr_checks = 0;
}

static int judge_all(const struct da_facts *f, bool any, struct da_verdict *out)
{
	static const struct da_facts_event nothing = {.name = ""};
	struct da_event_verdict *v, *best = NULL;
	size_t i;
	int ret;

	for (i = 0; i < out->nr_events; i++) {
		v = &out->events[i];
		ret = judge_event(f, i < f->nr_events ? &f->events[i] : &nothing, (uint32_t)i, v);
		if (ret)
			return ret;
		if (best && (any ? badness(v) >= badness(best) : badness(v) <= badness(best))) {
			if (i >= MAX_DETAILED)
				drop_checks(v);
			continue;
		}
		if (best && out->decider >= MAX_DETAILED)
			drop_checks(best);
		best = v;
		out->decider = i;
	}
	return 0;
}

static void add_note(struct da_verdict *out, const struct da_event_verdict *v, const char *text)
{
	bool named = out->nr_events > 1 && v;

	if (out->nr_notes < sizeof(out->notes) / sizeof(out->notes[0]))
		snprintf(out->notes[out->nr_notes++], sizeof(out->notes[0]), "%s%s%s",
			 named ? v->name : "", named ? ": " : "", text);
}

static void collect_notes(const struct da_facts *f, struct da_verdict *out)
{
	const struct da_event_verdict *v;
	size_t i, k;

	for (i = 0; i < out->nr_events; i++)
		for (v = &out->events[i], k = 0; k < v->nr_checks; k++)
			if (v->checks[k].note)
				add_note(out, v, v->checks[k].title);
	if (!f->live && f->own_file && !f->end_reason[0])
		add_note(out, NULL, "the recording was cut short");
	if (!f->live && !f->own_file)
		add_note(out, NULL, "create, bind, enable and ring were not recorded");
}

static int exit_of(enum da_level l, const struct da_verdict_opts *o)
{
	static const int codes[DA_LEVEL_NR] = {
		[DA_LEVEL_FULL] = 0,    [DA_LEVEL_PLUMBING] = 10, [DA_LEVEL_UNUSABLE] = 11,
		[DA_LEVEL_BROKEN] = 12, [DA_LEVEL_UNKNOWN] = 13,
	};

	return l == DA_LEVEL_PLUMBING && o->require_plumbing ? 0 : codes[l];
}

/* --max-drop and --min-valid, for the event that decides or, if all must be good, for all. */
static void apply_limits(const struct da_facts *f, const struct da_verdict_opts *o,
			 struct da_verdict *out)
{
	struct vd_event e;
	char text[128];
	double drop, lost, valid;
	size_t i;

	for (i = 0; i < f->nr_events; i++) {
		if (o->any && i != out->decider)
			continue;
		vd_event_init(&e, f, &f->events[i]);
		drop = vd_drop_pct(&e);
		lost = vd_kernel_loss_pct(&e);
		valid = vd_valid_pct(&e);
		text[0] = '\0';
		if (o->max_drop_pct >= 0 && (drop > o->max_drop_pct || lost > o->max_drop_pct))
			snprintf(text, sizeof(text), "%.1f %% lost is more than --max-drop %g %%",
				 drop > lost ? drop : lost, o->max_drop_pct);
		else if (o->min_valid_pct >= 0 && valid < o->min_valid_pct)
			snprintf(text, sizeof(text), "%.1f %% valid is less than --min-valid %g %%",
				 valid, o->min_valid_pct);
		if (!text[0])
			continue;
		add_note(out, &out->events[i], text);
		if (!out->exit_status)
			out->exit_status = 14;
	}
}

int da_verdict_judge(const struct da_facts *f, const struct da_verdict_opts *o,
		     struct da_verdict *out)
{
	const struct da_event_verdict *v;
	int ret;

	memset(out, 0, sizeof(*out));
	out->nr_events = f->nr_events ? f->nr_events : 1;
	out->events = calloc(out->nr_events, sizeof(*out->events));
	if (!out->events)
		return -DA_ENOMEM;
	ret = judge_all(f, o->any, out);
	if (ret) {
		da_verdict_release(out);
		return ret;
	}
	v = &out->events[out->decider];
	out->level = v->level;
	out->broken_at = v->broken_at;
	memcpy(out->layer, v->layer, sizeof(out->layer));
	out->checks = v->checks;
	out->nr_checks = v->nr_checks;
	out->passed = v->passed;
	out->failed = v->failed;
	out->skipped = v->skipped;
	out->unknown = v->unknown;
	out->ring_recorded = f->live || f->own_file;
	out->exit_status = exit_of(out->level, o);
	collect_notes(f, out);
	apply_limits(f, o, out);
	return 0;
}

void da_verdict_release(struct da_verdict *v)
{
	size_t i;

	for (i = 0; v->events && i < v->nr_events; i++)
		free(v->events[i].checks);
	free(v->events);
	memset(v, 0, sizeof(*v));
}
