/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All events together: which one decides, what is said beside the verdict, the exit status. How one event
 * is judged is in verdict.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict_priv.h"

/* Events that keep their checks (60 KiB each); beyond it only the deciding one does. Files can declare any
 * number of events. */
#define MAX_DETAILED 256

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

static void add_note(struct da_verdict *out, const struct da_event_verdict *v, const char *text)
{
	bool named = out->nr_events > 1 && v;

	if (out->nr_notes < sizeof(out->notes) / sizeof(out->notes[0]))
		snprintf(out->notes[out->nr_notes++], sizeof(out->notes[0]), "%s%s%s",
			 named ? v->name : "", named ? ": " : "", text);
}

static int judge_all(const struct da_facts *f, bool any, struct da_verdict *out)
{
	static const struct da_facts_event nothing = {.name = ""};
	struct da_event_verdict *v, *best = NULL;
	uint64_t callbacks = vd_run_callbacks(f);
	size_t i;
	int ret;

	for (i = 0; i < out->nr_events - (f->damon != NULL); i++) {
		v = &out->events[i];
		v->id = (uint32_t)i;
		ret = vd_judge_event(f, i < f->nr_events ? &f->events[i] : &nothing, callbacks, v);
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
	if (!f->damon)
		return 0;
	v = &out->events[i];
	v->id = (uint32_t)i;
	ret = vd_judge_kernel(f->damon, v);
	/* beside ours it is shown; compared with ours it may be the worse */
	if (!best || (f->damon->user.ran && badness(v) > badness(best)))
		out->decider = i;
	return ret;
}

/* The header line has it wherever another verdict decides. */
static void note_kernel(struct da_verdict *out)
{
	const struct da_event_verdict *v = &out->events[out->nr_events - 1];
	char level[64], text[128];

	if (!v->kernel || out->decider == out->nr_events - 1)
		return;
	da_level_text(v->level, v->broken_at, level, sizeof(level));
	snprintf(text, sizeof(text), "the kernel's own pipeline: %s", level);
	add_note(out, NULL, text);
}

static void collect_event(struct da_verdict *out, size_t i)
{
	const struct da_event_verdict *v = &out->events[i];
	size_t k;

	for (k = 0; k < v->nr_checks; k++) {
		const struct da_check *c = &v->checks[k];

		if (!c->note)
			continue;
		if (!vd_is_of_run(c->id))
			add_note(out, v, c->title);
		else if (i == 0) /* every event has it, in the same words */
			add_note(out, NULL, c->title);
	}
}

static void add_piece_note(const struct da_facts *f, struct da_verdict *out)
{
	char text[128];

	snprintf(text, sizeof(text), "file %" PRIu64 " of a run%s: the counters are of the run%s",
		 f->piece, f->goes_on ? " that went on in another" : ", its last",
		 f->goes_on ? " until then" : "");
	add_note(out, NULL, text);
}

static void collect_notes(const struct da_facts *f, struct da_verdict *out)
{
	size_t i;

	if (out->events[0].kernel)
		add_note(out, NULL, "this is the kernel's own pipeline, by its tracepoints");
	for (i = 0; i < out->nr_events; i++)
		collect_event(out, i);
	note_kernel(out);
	if (f->goes_on || f->piece > 1)
		add_piece_note(f, out);
	else if (!f->live && f->own_file && !f->end_reason[0])
		add_note(out, NULL, "the recording was cut short");
	if (!f->live && !f->own_file && (f->nr_events || !f->damon))
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

/* What an event lost (in that word) and what of it was valid, in percent, against what was asked for. */
static void limit(struct da_verdict *out, size_t event, const struct da_verdict_opts *o,
		  const char *word, double drop, double valid)
{
	char text[128];

	if (o->max_drop_pct >= 0 && drop > o->max_drop_pct)
		snprintf(text, sizeof(text), "%.1f %% %s is more than --max-drop %g %%", drop, word,
			 o->max_drop_pct);
	else if (o->min_valid_pct >= 0 && valid < o->min_valid_pct)
		snprintf(text, sizeof(text), "%.1f %% valid is less than --min-valid %g %%", valid,
			 o->min_valid_pct);
	else
		return;
	add_note(out, &out->events[event], text);
	if (!out->exit_status)
		out->exit_status = 14;
}

/* --max-drop and --min-valid, for the event that decides or, if all must be good, for all. */
static void apply_limits(const struct da_facts *f, const struct da_verdict_opts *o,
			 struct da_verdict *out)
{
	uint64_t callbacks = vd_run_callbacks(f);
	struct vd_event e;
	double drop, lost, valid;
	size_t i;

	for (i = 0; i < f->nr_events; i++) {
		if (o->any && i != out->decider)
			continue;
		vd_event_init(&e, f, &f->events[i], callbacks);
		drop = vd_drop_pct(&e);
		lost = vd_kernel_loss_pct(&e);
		valid = vd_valid_pct(&e);
		limit(out, i, o, "lost", drop > lost ? drop : lost, valid);
	}
}

/* The same for the kernel's own pipeline, where it decides. */
static void apply_kernel_limits(const struct da_kernel *k, const struct da_verdict_opts *o,
				struct da_verdict *out)
{
	struct da_kernel_ledger l;
	double all, drop, valid;

	da_kernel_ledger(k, &l);
	all = (double)l.overflow + (double)k->drained;
	drop = all > 0 ? 100 * (double)l.overflow / all : 0;
	valid = k->has_valid && k->samples ? 100 * (double)k->valid / (double)k->samples : 100;
	limit(out, out->decider, o, "missed", drop, valid);
}

int da_verdict_judge(const struct da_facts *f, const struct da_verdict_opts *o,
		     struct da_verdict *out)
{
	const struct da_event_verdict *v;
	int ret;

	memset(out, 0, sizeof(*out));
	out->nr_events = f->nr_events + (f->damon != NULL);
	out->nr_events += !out->nr_events;
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
	if (v->kernel)
		apply_kernel_limits(f->damon, o, out);
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
