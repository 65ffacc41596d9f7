/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own pipeline, judged: one check a layer from what its tracepoints tell, and the comparison with the
 * same sampler from user space. A layer that they say nothing of is UNKNOWN. Pure, as the rest of the judge.
 *
 * It is one more entry of the verdict's events. It decides only where nothing of ours ran, or where the
 * comparison was asked for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verdict_priv.h"

#define LONG_NS 1000000000ull /* a kdamond looks every few ms: so long without a drain is none */
#define BATCH   8             /* of a PMU that writes by itself: far more than chance explains */

struct view {
	const struct da_kernel *k;
	struct da_kernel_ledger l;
	uint64_t span_ns; /* from the first sample to the last */
};

typedef enum da_result (*kernel_check_fn)(const struct view *v, struct da_check *c);

static const char event_option[] = "-e 'damon:damon_perf_*'";

/* ---- create, bind, enable ---- */

static enum da_result lifecycle(const struct view *v, struct da_check *c)
{
	if (!v->k->samples) {
		vd_evidence(c, "no tracepoint tells of it, and no sample proves it");
		return DA_UNKNOWN;
	}
	vd_evidence(c, "%" PRIu64 " samples on %zu CPUs prove it; no tracepoint tells of it",
		    v->k->samples, v->k->nr_cpus);
	return DA_PASS;
}

/* ---- sample ---- */

static enum da_result samples(const struct view *v, struct da_check *c)
{
	const struct da_kernel *k = v->k;
	struct da_cause *x;

	if (!k->recorded[DA_KTP_SAMPLE]) {
		vd_evidence(c, "damon_perf_sample was not recorded");
		return DA_UNKNOWN;
	}
	if (k->samples) {
		if (k->has_valid)
			vd_evidence(c, "%" PRIu64 " callbacks, %" PRIu64 " with an address",
				    k->samples, k->valid);
		else
			vd_evidence(c,
				    "%" PRIu64 " callbacks; no field says whether they hold an "
				    "address",
				    k->samples);
		return DA_PASS;
	}
	if (!k->records[DA_KTP_DRAIN] && !k->missed) {
		vd_evidence(c, "0 samples and 0 drains: no kdamond with a perf event was at work");
		return DA_UNKNOWN;
	}
	vd_evidence(c, "0 samples in %" PRIu64 " drains: a kdamond looks and is given nothing",
		    k->records[DA_KTP_DRAIN]);
	x = vd_cause(c, "kernel_no_samples");
	vd_cause_evidence(x, "the event was not created or enabled, or its PMU is silent: which of "
			     "both, the same PMU from user space tells");
	vd_fix(x, "damon-attrs diagnose --kernel-vs-user -e EVENT");
	return DA_FAIL;
}

/* ---- ring ---- */

/* CPUs that samples are of, that wrote them, whose rings were drained. */
static void spread(const struct da_kernel *k, size_t *of, size_t *by, size_t *rings)
{
	*of = *by = *rings = 0;
	for (size_t i = 0; i < k->nr_cpus; i++) {
		*of += k->cpus[i].samples > 0;
		*by += k->cpus[i].fired > 0;
		*rings += k->cpus[i].drained > 0;
	}
}

/* Samples of many CPUs end in one ring: one CPU writes them all, or one ring alone is ever drained of any. */
static bool is_fan_in(const struct da_kernel *k, size_t *of)
{
	size_t by, rings;

	spread(k, of, &by, &rings);
	return *of > 1 && !k->cpus_left_out &&
	       ((k->has_cpu && by == 1) || (k->has_ring && rings == 1));
}

/* It stood still while samples came. */
static bool is_stalled(const struct view *v, uint64_t *ns)
{
	const struct da_kernel *k = v->k;

	*ns = k->gap_ns;
	if (!k->records[DA_KTP_DRAIN])
		*ns = v->span_ns;
	else if (k->after_drain && k->drain_ns && k->last_ns > k->drain_ns &&
		 k->last_ns - k->drain_ns > *ns)
		*ns = k->last_ns - k->drain_ns;
	return k->recorded[DA_KTP_DRAIN] && k->samples && *ns >= LONG_NS;
}

static void stalled_cause(const struct view *v, uint64_t ns, struct da_check *c)
{
	struct da_cause *x = vd_cause(c, "kernel_drain_stalled");

	vd_cause_evidence(x,
			  "%" PRIu64 " drains for %" PRIu64 " samples; the longest time without "
			  "a drain was %.3g s",
			  v->k->records[DA_KTP_DRAIN], v->k->samples, (double)ns / 1e9);
	vd_fix(x, "look at the kdamond: cat /proc/$(pgrep -o kdamond)/stack; its sampling "
		  "interval is how often it drains");
}

static void overflow_causes(const struct view *v, struct da_check *c)
{
	struct da_cause *x;
	char pct[16];
	uint64_t ns;
	size_t of;

	if (is_stalled(v, &ns))
		stalled_cause(v, ns, c);
	if (is_fan_in(v->k, &of)) {
		x = vd_cause(c, "kernel_fan_in");
		vd_cause_evidence(x, "the samples of %zu CPUs went into one CPU's ring", of);
		vd_fix(x, "let each CPU's samples be reported on that CPU: its ring is idle");
	}
	if (c->nr_causes)
		return;
	x = vd_cause(c, "kernel_buffer_overflow");
	vd_cause_evidence(x,
			  "damon_perf_report_missed: %" PRIu64
			  " reports (%s); drains went on and samples are spread",
			  v->l.overflow,
			  vd_percent((double)v->l.overflow,
				     (double)v->l.overflow + (double)v->k->drained, pct));
	vd_fix(x, "a longer period, a shorter sampling interval of DAMON, or a larger ring "
		  "(DAMON_REPORT_RING_MASK)");
}

static enum da_result ring(const struct view *v, struct da_check *c)
{
	const struct da_kernel *k = v->k;
	uint64_t ns;

	if (!k->recorded[DA_KTP_DRAIN]) {
		vd_evidence(c, "damon_perf_drain was not recorded");
		return DA_UNKNOWN;
	}
	if (k->recorded[DA_KTP_SAMPLE] && (!k->samples || (k->has_valid && !k->valid))) {
		vd_evidence(c, "0 samples with an address: nothing to buffer");
		return DA_SKIP;
	}
	if (k->records[DA_KTP_DRAIN] && !k->has_drained) {
		vd_evidence(c,
			    "%" PRIu64
			    " drains, and no field says of how many reports; missed %" PRIu64,
			    k->records[DA_KTP_DRAIN], v->l.overflow);
		return DA_UNKNOWN;
	}
	if (k->drained) {
		vd_evidence(c,
			    "%" PRIu64 " drains took %" PRIu64 " reports out; missed %" PRIu64
			    "; inside at the end, or lost unseen %" PRIu64,
			    k->records[DA_KTP_DRAIN], k->drained, v->l.overflow, v->l.resident);
		return DA_PASS;
	}
	vd_evidence(c, "%" PRIu64 " reports went in, %" PRIu64 " drains took none out", k->valid,
		    k->records[DA_KTP_DRAIN]);
	if (!k->missed && v->span_ns < LONG_NS && !k->records[DA_KTP_DRAIN])
		return DA_UNKNOWN; /* too short to tell */
	if (is_stalled(v, &ns) || !k->records[DA_KTP_DRAIN])
		stalled_cause(v, ns, c);
	else
		overflow_causes(v, c);
	return DA_FAIL;
}

/* ---- match, update ---- */

static enum da_result match(const struct view *v, struct da_check *c)
{
	const struct da_kernel *k = v->k;
	struct da_cause *x;

	if (!k->recorded[DA_KTP_DRAIN] || !k->records[DA_KTP_DRAIN] || !k->has_matched) {
		vd_evidence(c, "no record says how many reports matched a region");
		return DA_UNKNOWN;
	}
	vd_evidence(c, "%" PRIu64 " reports matched a region, %" PRIu64 " did not", k->matched,
		    v->l.miss ? v->l.miss
			      : (k->drained > k->matched ? k->drained - k->matched : 0));
	if (k->matched)
		return DA_PASS;
	if (!k->drained)
		return k->has_drained ? DA_SKIP : DA_UNKNOWN;
	x = vd_cause(c, "kernel_outside_regions");
	vd_cause_evidence(x, "%" PRIu64 " reports were drained and none is in a region of DAMON",
			  k->drained);
	vd_fix(x, "compare the samples' addresses with DAMON's regions: damon-attrs record "
		  "--damon -a --duration 2s; damon-attrs report --regions=kernel");
	return DA_FAIL;
}

static enum da_result update(const struct view *v, struct da_check *c)
{
	const struct da_kernel *k = v->k;
	struct da_cause *x;

	if (!k->has_updated) {
		vd_evidence(c, "no record says how many regions were credited");
		return DA_UNKNOWN;
	}
	if (k->has_matched && !k->matched) {
		vd_evidence(c, "0 reports matched a region: nothing to credit");
		return DA_SKIP;
	}
	vd_evidence(c, "%" PRIu64 " updates of %" PRIu64 " matched reports", k->updated,
		    k->matched);
	if (k->updated)
		return DA_PASS;
	if (!k->has_matched)
		return DA_UNKNOWN;
	x = vd_cause(c, "kernel_not_credited");
	vd_cause_evidence(x, "%" PRIu64 " reports matched and no region was credited", k->matched);
	vd_fix(x, "perf record -a %s; the drain's own fields tell where they stay", event_option);
	return DA_FAIL;
}

/* ---- beside user space ---- */

static enum da_result beside_user(const struct view *v, struct da_check *c)
{
	const struct da_kernel *k = v->k;
	struct da_cause *x;

	vd_evidence(c, "user space: %" PRIu64 " samples of %s; the kernel's pipeline: %" PRIu64,
		    k->user.samples, k->user.name, k->samples);
	if (k->samples && k->user.samples)
		return DA_PASS;
	if (!k->samples && !k->user.samples && k->user.idle)
		return DA_UNKNOWN; /* nothing was due, or ours could not run: no silence of the PMU */
	if (k->user.samples) {
		x = vd_cause(c, "kernel_path");
		vd_cause_evidence(x, "the PMU delivers to user space at this moment: the fault "
				     "is in DAMON's path, not in the PMU");
		vd_fix(x,
		       "is a kdamond running with this event? damon_perf_drain: %" PRIu64
		       " records; its perf_event_create_kernel_counter() may have failed: dmesg",
		       k->records[DA_KTP_DRAIN]);
	} else if (!k->samples) {
		x = vd_cause(c, "kernel_pmu");
		vd_cause_evidence(x, "neither has a sample of it: the fault is in the PMU or its "
				     "driver, below DAMON");
		vd_fix(x, "damon-attrs diagnose --list; perf stat -e %s true", k->user.name);
	} else {
		x = vd_cause(c, "user_path");
		vd_cause_evidence(x, "the kernel's own event is served, ours is not: rights, "
				     "exclusion bits, or the unit is held by the kernel's event");
		vd_fix(x, "the checks of our own event say which");
	}
	return DA_FAIL;
}

static const struct kernel_check {
	const char *id, *title;
	kernel_check_fn fn;
	int stage; /* -1: none of its own */
} checks[] = {
	/* clang-format off */
		{"kernel.create", "The kernel's event was created", lifecycle, DA_STAGE_CREATE},
		{"kernel.bind", "It was bound to a report ring", lifecycle, DA_STAGE_BIND},
		{"kernel.enable", "It was enabled", lifecycle, DA_STAGE_ENABLE},
		{"kernel.sample", "Samples reach DAMON", samples, DA_STAGE_SAMPLE},
		{"kernel.ring", "Reports come out of DAMON's rings", ring, DA_STAGE_RING},
		{"kernel.match", "Reports fall into DAMON's regions", match, DA_STAGE_MATCH},
		{"kernel.update", "DAMON's regions are credited", update, DA_STAGE_UPDATE},
		{"kernel.beside_user", "User space and kernel both have samples", beside_user, -1},
	/* clang-format on */
};

/* ---- notes ---- */

static bool note_missed(const struct view *v, struct da_check *c)
{
	double all = (double)v->l.overflow + (double)v->k->drained;
	char pct[16];

	if (!v->l.overflow || !v->k->drained) /* else it is the ring's failure */
		return false;
	snprintf(c->title, sizeof(c->title), "the kernel missed %s of its reports",
		 vd_percent((double)v->l.overflow, all, pct));
	vd_evidence(c, "%" PRIu64 " missed, %" PRIu64 " drained, %" PRIu64 " with an address",
		    v->l.overflow, v->k->drained, v->k->valid);
	overflow_causes(v, c);
	return true;
}

static bool note_stalled(const struct view *v, struct da_check *c)
{
	uint64_t ns;

	if (!v->k->records[DA_KTP_DRAIN] || (v->l.overflow && v->k->drained) || !is_stalled(v, &ns))
		return false;
	snprintf(c->title, sizeof(c->title), "the kernel's drain stood still for %.3g s",
		 (double)ns / 1e9);
	vd_evidence(c, "%" PRIu64 " samples since the last of %" PRIu64 " drains",
		    v->k->after_drain, v->k->records[DA_KTP_DRAIN]);
	stalled_cause(v, ns, c);
	return true;
}

/* A PMU that writes its samples by itself wakes the kernel when its buffer is full; a handler in the kernel is then
 * called once for all of them (seed 003). */
static bool note_wakeups(const struct view *v, struct da_check *c)
{
	const struct da_kernel *k = v->k;
	bool precise = k->precise || k->user.precise;
	bool far = k->user.ran && k->samples && k->user.samples / BATCH >= k->samples;
	struct da_cause *x;

	if (!precise || (!far && k->wakeup != 0))
		return false;
	snprintf(c->title, sizeof(c->title), "the kernel sees only the last sample of each batch");
	if (k->user.ran)
		vd_evidence(c, "%" PRIu64 " samples in the kernel, %" PRIu64 " in user space of %s",
			    k->samples, k->user.samples, k->user.name);
	else
		vd_evidence(c, "%" PRIu64 " samples in the kernel", k->samples);
	x = vd_cause(c, "kernel_no_wakeups");
	vd_cause_evidence(x,
			  "a precise event%s: its PMU gathers samples, and without a wakeup for "
			  "each the handler is called once a batch",
			  k->wakeup == 0 ? " with wakeup_events 0" : "");
	vd_fix(x, "create the kernel's event with attr.wakeup_events = 1");
	return true;
}

/* The comparison in a word. */
static bool note_compared(const struct view *v, struct da_check *c)
{
	const struct da_kernel *k = v->k;

	if (!k->user.ran)
		return false;
	snprintf(c->title, sizeof(c->title), "%s",
		 k->samples && k->user.samples ? "user space and kernel both have samples"
		 : k->user.samples
			 ? "user space has samples, the kernel none: DAMON's path is at fault"
		 : k->samples ? "the kernel has samples, user space none: our own path is at fault"
		 : k->user.idle ? "nothing was due in user space, or it could not run"
				: "neither user space nor kernel has samples: the PMU is at fault");
	vd_evidence(c, "%" PRIu64 " of %s in user space, %" PRIu64 " in the kernel",
		    k->user.samples, k->user.name, k->samples);
	return true;
}

static bool note_incomplete(const struct view *v, struct da_check *c)
{
	const struct da_kernel *k = v->k;

	if (!k->lost && !k->bad && !k->cpus_left_out)
		return false;
	snprintf(c->title, sizeof(c->title), "the tracepoints' records are not complete");
	vd_evidence(c,
		    "%" PRIu64 " records lost while recording, %" PRIu64
		    " without their fields, %" PRIu64 " of too many CPUs: sums are too small",
		    k->lost, k->bad, k->cpus_left_out);
	return true;
}

static const struct kernel_note {
	const char *id;
	bool (*fn)(const struct view *v, struct da_check *c);
} notes[] = {
	{"kernel.missed", note_missed},      {"kernel.drain", note_stalled},
	{"kernel.wakeups", note_wakeups},    {"kernel.compared", note_compared},
	{"kernel.records", note_incomplete},
};

/* ---- all ---- */

static void level_of(struct da_event_verdict *e, const struct da_kernel *k)
{
	e->level = DA_LEVEL_FULL;
	if (!k->samples) {
		e->level = e->failed ? DA_LEVEL_UNUSABLE : DA_LEVEL_UNKNOWN;
		return;
	}
	for (int s = 0; s < DA_STAGE_NR; s++) {
		if (e->layer[s] == DA_FAIL) {
			e->level = DA_LEVEL_BROKEN;
			e->broken_at = (enum da_stage)s;
			return;
		}
		if (e->layer[s] != DA_PASS)
			e->level = DA_LEVEL_UNKNOWN;
	}
	if (k->has_valid && !k->valid)
		e->level = DA_LEVEL_PLUMBING;
}

/* The comparison says where the fault is: in DAMON's path if user space is served, else in the PMU. */
static void compared(struct da_event_verdict *e, const struct da_kernel *k)
{
	if (k->user.samples && !k->samples) {
		e->level = DA_LEVEL_BROKEN;
		e->broken_at = DA_STAGE_SAMPLE;
		e->layer[DA_STAGE_SAMPLE] = DA_FAIL;
	}
}

static void put(struct da_check *c, const char *id, const char *title)
{
	memset(c, 0, sizeof(*c));
	snprintf(c->id, sizeof(c->id), "%s", id);
	snprintf(c->group, sizeof(c->group), "kernel");
	snprintf(c->title, sizeof(c->title), "%s", title);
}

int vd_judge_kernel(const struct da_kernel *k, struct da_event_verdict *e)
{
	const size_t nr = sizeof(checks) / sizeof(checks[0]);
	struct view v = {.k = k};

	da_kernel_ledger(k, &v.l);
	v.span_ns = k->last_ns > k->first_ns ? k->last_ns - k->first_ns : 0;
	snprintf(e->name, sizeof(e->name), "kernel pipeline");
	e->kernel = true;
	e->checks = calloc(nr + sizeof(notes) / sizeof(notes[0]), sizeof(*e->checks));
	if (!e->checks)
		return -DA_ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct da_check *c = &e->checks[e->nr_checks];

		if (checks[i].stage < 0 && !k->user.ran)
			continue;
		put(c, checks[i].id, checks[i].title);
		c->result = checks[i].fn(&v, c);
		e->nr_checks++;
		e->passed += c->result == DA_PASS;
		e->failed += c->result == DA_FAIL;
		e->skipped += c->result == DA_SKIP;
		e->unknown += c->result == DA_UNKNOWN;
		if (checks[i].stage >= 0)
			e->layer[checks[i].stage] = c->result;
	}
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		struct da_check *c = &e->checks[e->nr_checks];

		put(c, notes[i].id, "");
		c->note = true;
		e->nr_checks += notes[i].fn(&v, c);
	}
	level_of(e, k);
	if (k->user.ran)
		compared(e, k);
	return 0;
}
