/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The checks of what flows: sample, ring, match, update. Here silence is told from idleness: a sampler that
 * owed samples and gave none has failed, one that owed none has shown nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verdict_priv.h"

/* ---- sample ---- */

/* Samples that the count or the time owes; -1 unknown. A clock's count is its running time. */
static double samples_due(const struct vd_event *e)
{
	const struct da_attr *a = &e->ev->attr;

	if (a->flags & DA_ATTR_FREQ)
		return e->running_ns < 0 ? -1
					 : (double)e->running_ns / 1e9 * (double)a->sample_period;
	return e->count < 0 || !e->ev->effective_period
		       ? -1
		       : (double)e->count / (double)e->ev->effective_period;
}

/* Without a sample: could there have been none? Then *why says so. */
static bool nothing_occurred(const struct vd_event *e, const char **why)
{
	double due = samples_due(e);
	bool part = e->ev->attr.flags & (DA_ATTR_EXCLUDE_USER | DA_ATTR_EXCLUDE_KERNEL);

	*why = NULL;
	if (!e->run_known)
		*why = e->f->error[0] ? e->f->error : "no samples are recorded";
	else if (e->ev->producer == DA_PROD_FAKE || (e->lost > 0))
		return false; /* the generator always owes; lost samples did occur */
	else if (vd_event_driven(e->ev) && e->count <= 0)
		*why = e->count == 0 ? "nothing occurred"
				     : "whether anything occurred was not measured";
	else if (vd_per_task(e) && e->rows && e->absent == e->rows)
		*why = "the target never ran";
	else if (e->count > 0 && due >= 0 && due < 1)
		*why = "not one period has passed";
	/* A clock counts all the time, and shows only those ticks that fall into the part asked for. */
	else if (vd_clock(e->ev) && part && e->count > 0 && due < 10)
		*why = "too few periods have passed to tell";
	return *why != NULL;
}

static void too_short_causes(const struct vd_event *e, struct da_check *c)
{
	char count[24], running[24];
	struct da_cause *k;

	if (e->count > 0 && e->ev->effective_period > 1) {
		k = vd_cause(c, "period_too_long");
		vd_cause_evidence(k, "count %" PRId64 ", one sample every %" PRIu64, e->count,
				  e->ev->effective_period);
		vd_fix(k, "damon-attrs diagnose -e %s -c %" PRIu64 " with a longer run", vd_spec(e),
		       e->ev->effective_period / 10 ? e->ev->effective_period / 10 : 1);
		return;
	}
	k = vd_cause(c, "nothing_occurred");
	vd_cause_evidence(k, "count %s, running for %s ns", vd_num(e->count, count),
			  vd_num(e->running_ns, running));
	vd_fix(k,
	       "damon-attrs diagnose -e %s (on the built-in workload, which touches fresh pages)",
	       vd_spec(e));
}

static void silent_causes(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	char enabled[24], count[24], ring[24];
	struct da_cause *k;

	if (e->ev->needs_aux && !e->ev->aux) {
		k = vd_cause(c, "aux_missing");
		vd_cause_evidence(k,
				  "this PMU delivers through an AUX area only, and 0 were mapped");
		vd_fix(k, "damon-attrs diagnose -e %s, without --no-aux", vd_spec(e));
	}
	if (e->lost > 0) {
		k = vd_cause(c, "kernel_ring_small");
		vd_cause_evidence(
			k, "the kernel dropped all %" PRId64 " samples: its ring (%s) was full",
			e->lost, vd_ring(f, ring));
		vd_fix(k, "damon-attrs diagnose -e %s -m 512", vd_spec(e));
	}
	if (e->running_ns == 0 && vd_per_task(e)) {
		k = vd_cause(c, "wrong_target");
		vd_cause_evidence(
			k,
			"time_running is 0 ns after %s ns enabled: the target did not run, or not on "
			"these CPUs",
			vd_num(e->enabled_ns, enabled));
		vd_fix(k, "ps -o pid,stat,psr,cmd -p PID; choose a target that runs");
	}
	if (e->running_ns == 0 && (!vd_per_task(e) || e->enabled_ns > 0)) {
		k = vd_cause(c, "not_scheduled");
		vd_cause_evidence(
			k,
			"time_running is 0 ns after %s ns enabled: the PMU gave the event no counter "
			"(others hold them?)",
			vd_num(e->enabled_ns, enabled));
		vd_fix(k,
		       "end other users of the PMU: pgrep -a perf; sudo sysctl kernel.nmi_watchdog=0");
	}
	if (e->count > 0) {
		k = vd_cause(c, "counts_without_samples");
		vd_cause_evidence(k, "it counted %" PRId64 " events and raised 0 interrupts%s",
				  e->count,
				  f->hypervisor && vd_hardware(e->ev)
					  ? "; virtual machine: the hypervisor may not deliver them"
					  : "");
		vd_fix(k,
		       "damon-attrs diagnose -e cpu-clock (a timer instead of the PMU's interrupt)");
	}
	if (f->unit_held) {
		k = vd_cause(c, "unit_shared");
		vd_cause_evidence(k, "another event holds the unit");
		vd_fix(k, "end the other user of the PMU: pgrep -a perf");
	}
	k = e->running_ns == 0 ? NULL : vd_cause(c, "sampler_silent");
	vd_cause_evidence(
		k, "state %s on %zu CPUs, count %s, 0 samples%s", da_state_name(e->max_state),
		e->at_least[DA_STATE_ENABLED], vd_num(e->count, count),
		f->hypervisor && vd_hardware(e->ev) ? "; virtual machine: its PMU may be a shell"
						    : "");
	vd_fix(k,
	       "damon-attrs diagnose -e cpu-clock: if that delivers, the fault is in this event or its driver");
}

enum da_result vd_sample_callback(const struct vd_event *e, struct da_check *c)
{
	char time[48] = "", ran[80] = "", count[24];
	const char *why;

	vd_num(e->count, count);
	if (e->run_known && e->f->duration_ns)
		snprintf(time, sizeof(time), " in %.2f s", (double)e->f->duration_ns / 1e9);
	if (e->running_ns >= 0)
		snprintf(ran, sizeof(ran), ", running %" PRId64 " of %" PRId64 " ns", e->running_ns,
			 e->enabled_ns);
	if (e->n.callback) {
		vd_evidence(c, "%" PRIu64 " callbacks on %zu of %zu CPUs%s; count %s",
			    e->n.callback, e->sampled, e->rows, time, count);
		return DA_PASS;
	}
	if (nothing_occurred(e, &why)) {
		vd_evidence(c, "0 callbacks%s: %s (count %s%s)", time, why, count, ran);
		if (e->run_known)
			too_short_causes(e, c);
		return DA_UNKNOWN;
	}
	vd_evidence(c, "0 callbacks%s: state %s on %zu of %zu CPUs, count %s%s", time,
		    da_state_name(e->max_state), e->at_least[DA_STATE_ENABLED], e->rows, count,
		    ran);
	silent_causes(e, c);
	return DA_FAIL;
}

enum da_result vd_sample_running(const struct vd_event *e, struct da_check *c)
{
	if (!e->n.callback) {
		vd_evidence(c, "0 callbacks: the state stays at %s", da_state_name(e->max_state));
		return DA_SKIP;
	}
	/* RUNNING is the first callback; a file of another program has the callbacks and no states. */
	vd_evidence(c, "highest state %s; RUNNING on %zu of %zu CPUs",
		    da_state_name(e->run_known ? e->max_state : DA_STATE_RUNNING),
		    e->run_known ? e->at_least[DA_STATE_RUNNING] : e->sampled, e->rows);
	return !e->run_known || e->max_state == DA_STATE_RUNNING ? DA_PASS : DA_FAIL;
}

enum da_result vd_sample_classified(const struct vd_event *e, struct da_check *c)
{
	char drops[200];

	if (!e->n.callback) {
		vd_evidence(c, "0 callbacks: nothing to classify");
		return DA_SKIP;
	}
	if (e->broken[DA_STAGE_SAMPLE])
		return vd_broken(e, DA_STAGE_SAMPLE, c);
	vd_drops(&e->sum, DA_STAGE_SAMPLE, drops, sizeof(drops));
	vd_evidence(c, "callback %" PRIu64 " = valid %" PRIu64 " + drops: %s", e->n.callback,
		    e->n.valid, drops);
	return DA_PASS;
}

/* ---- ring ---- */

enum da_result vd_ring_enqueue(const struct vd_event *e, struct da_check *c)
{
	struct da_cause *k;

	if (e->broken[DA_STAGE_RING])
		return vd_broken(e, DA_STAGE_RING, c);
	vd_evidence(c,
		    "valid %" PRIu64 ", reports %" PRIu64 " = enqueue %" PRIu64
		    " + overflow %" PRIu64 " + nested %" PRIu64 "; peak %" PRIu64,
		    e->n.valid, e->n.reports, e->n.enqueue, e->sum.drop[DA_DROP_OVERFLOW],
		    e->sum.drop[DA_DROP_NESTED], e->n.peak);
	if (e->n.enqueue && e->n.reports >= e->n.valid)
		return DA_PASS;
	if (e->n.enqueue) { /* a valid record has at least one report */
		k = vd_cause(c, "conservation");
		vd_cause_evidence(k,
				  "%" PRIu64 " valid samples, only %" PRIu64
				  " reports offered: a bug of damon-attrs",
				  e->n.valid, e->n.reports);
		vd_fix(k, "report it with the output of: damon-attrs diagnose --format=json -e %s",
		       vd_spec(e));
		return DA_FAIL;
	}
	k = vd_cause(c, e->sum.drop[DA_DROP_OVERFLOW] ? "buffer_blocked" : "nothing_offered");
	vd_cause_evidence(k, "%" PRIu64 " reports offered, %" PRIu64 " refused by full buffers",
			  e->n.reports, e->sum.drop[DA_DROP_OVERFLOW]);
	vd_fix(k, "damon-attrs diagnose -e %s --buffer slots=65536", vd_spec(e));
	return DA_FAIL;
}

enum da_result vd_ring_closed(const struct vd_event *e, struct da_check *c)
{
	const uint64_t *drop = e->sum.drop;
	struct da_cause *k;

	if (e->broken[DA_STAGE_RING]) {
		vd_evidence(c,
			    "enqueue %" PRIu64 ", dequeue %" PRIu64
			    ": cannot be closed while the layer does not conserve",
			    e->n.enqueue, e->n.dequeue);
		return DA_SKIP;
	}
	vd_evidence(c,
		    "enqueue %" PRIu64 " = dequeue %" PRIu64 " + overwritten %" PRIu64
		    " + resident %" PRIu64,
		    e->n.enqueue, e->n.dequeue, drop[DA_DROP_OVERWRITTEN], drop[DA_DROP_RESIDENT]);
	if (e->n.dequeue && !drop[DA_DROP_RESIDENT])
		return DA_PASS;
	if (!e->n.enqueue)
		return DA_SKIP;
	if (e->cut_short)
		return e->n.dequeue ? DA_PASS : DA_UNKNOWN; /* what was inside when it was cut */
	k = vd_cause(c, "reader_stopped");
	vd_cause_evidence(k, "%" PRIu64 " reports are still inside after the final drain",
			  drop[DA_DROP_RESIDENT]);
	vd_fix(k, "report it with the output of: damon-attrs diagnose --format=json -e %s",
	       vd_spec(e));
	return DA_FAIL;
}

/* ---- match, update ---- */

/* What one layer gives the next receives. Not looked at in a recording that was cut: its snapshots of two
 * layers are not of the same moment. */
static bool handed_over(const struct vd_event *e, enum da_stage from, enum da_stage to)
{
	return e->cut_short || e->sum.out[from] == e->sum.in[to];
}

static enum da_result lost_between(const struct vd_event *e, enum da_stage from, enum da_stage to,
				   struct da_check *c)
{
	struct da_cause *k = vd_cause(c, "conservation");

	vd_evidence(c, "%s gave %" PRIu64 ", %s received %" PRIu64, da_stage_name(from),
		    e->sum.out[from], da_stage_name(to), e->sum.in[to]);
	vd_cause_evidence(k, "what one layer gives the next must receive: a bug of damon-attrs");
	vd_fix(k, "report it with the output of: damon-attrs diagnose --format=json -e %s",
	       vd_spec(e));
	return DA_FAIL;
}

static void match_causes(const struct vd_event *e, struct da_check *c)
{
	const uint64_t *drop = e->sum.drop;
	struct da_cause *k;

	if (drop[DA_DROP_MISS_SPACE]) {
		k = vd_cause(c, "wrong_target");
		vd_cause_evidence(
			k, "%" PRIu64 " reports belong to tasks or spaces that are no targets",
			drop[DA_DROP_MISS_SPACE]);
		vd_fix(k, "pgrep -a NAME; damon-attrs diagnose -e %s -p PID, or -a", vd_spec(e));
	}
	if (drop[DA_DROP_NO_TASK]) {
		k = vd_cause(c, "unknown_task");
		vd_cause_evidence(k, "%" PRIu64 " reports come from tasks that no record announced",
				  drop[DA_DROP_NO_TASK]);
		vd_fix(k, "record from the start of the target: damon-attrs record -- COMMAND");
	}
	if (drop[DA_DROP_MISS_REGION] || drop[DA_DROP_STRADDLE]) {
		k = vd_cause(c, "outside_regions");
		vd_cause_evidence(k,
				  "%" PRIu64 " reports are in no region, %" PRIu64
				  " reach over the end of one: mappings "
				  "that were not recorded?",
				  drop[DA_DROP_MISS_REGION], drop[DA_DROP_STRADDLE]);
		vd_fix(k,
		       "perf record -d (data mappings too), or damon-attrs record, which has them");
	}
	if (drop[DA_DROP_MISS_PROBE]) {
		k = vd_cause(c, "probe_filter");
		vd_cause_evidence(k, "%" PRIu64 " reports passed no probe",
				  drop[DA_DROP_MISS_PROBE]);
		vd_fix(k, "widen the filters of --probe");
	}
}

enum da_result vd_match(const struct vd_event *e, struct da_check *c)
{
	char misses[160];

	if (e->broken[DA_STAGE_MATCH])
		return vd_broken(e, DA_STAGE_MATCH, c);
	if (e->run_known && !handed_over(e, DA_STAGE_RING, DA_STAGE_MATCH))
		return lost_between(e, DA_STAGE_RING, DA_STAGE_MATCH, c);
	vd_drops(&e->sum, DA_STAGE_MATCH, misses, sizeof(misses));
	vd_evidence(c, "%" PRIu64 " reports = match %" PRIu64 " + misses: %s",
		    e->sum.in[DA_STAGE_MATCH], e->n.match, misses);
	if (e->n.match)
		return DA_PASS;
	match_causes(e, c);
	return DA_FAIL;
}

enum da_result vd_update_drain(const struct vd_event *e, struct da_check *c)
{
	uint64_t drained = e->run_known ? e->n.dequeue : e->sum.in[DA_STAGE_MATCH];

	if (!handed_over(e, DA_STAGE_MATCH, DA_STAGE_UPDATE))
		return lost_between(e, DA_STAGE_MATCH, DA_STAGE_UPDATE, c);
	vd_evidence(c, "%" PRIu64 " reports drained, %" PRIu64 " of them brought to regions",
		    drained, e->sum.in[DA_STAGE_UPDATE]);
	return drained ? DA_PASS : DA_FAIL;
}

enum da_result vd_update_credit(const struct vd_event *e, struct da_check *c)
{
	struct da_cause *k;

	if (e->broken[DA_STAGE_UPDATE])
		return vd_broken(e, DA_STAGE_UPDATE, c);
	vd_evidence(c,
		    "0 < update %" PRIu64 " <= match %" PRIu64
		    "; already credited in their interval: %" PRIu64,
		    e->n.update, e->n.match, e->sum.drop[DA_DROP_ALREADY_CREDITED]);
	if (e->n.update && e->n.update <= e->n.match)
		return DA_PASS;
	vd_evidence(c, "update %" PRIu64 " of match %" PRIu64, e->n.update, e->n.match);
	k = vd_cause(c, "conservation");
	vd_cause_evidence(
		k,
		"the first report of a region in an interval is always credited: a bug of damon-attrs");
	vd_fix(k, "report it with the output of: damon-attrs diagnose --format=json -e %s",
	       vd_spec(e));
	return DA_FAIL;
}
