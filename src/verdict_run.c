/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The checks of the run's own life: create, bind, enable, teardown. What was there before is in
 * verdict_env.c, what flows through it in verdict_flow.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "verdict_priv.h"

/* "EACCES on CPU 1", from the first error kept; the ledger has them all. */
static const char *first_error(const struct vd_event *e, char *buf, size_t size)
{
	const struct da_facts_open_error *x = &e->ev->errors[0];
	const char *name = e->ev->nr_errors ? strerrorname_np(x->sys) : NULL;

	if (!e->ev->nr_errors)
		snprintf(buf, size, "%.120s", e->f->error[0] ? e->f->error : "no errno kept");
	else if (name)
		snprintf(buf, size, "%s of %s on CPU %u", name, x->what, x->cpu);
	else
		snprintf(buf, size, "errno %d of %s on CPU %u", x->sys, x->what, x->cpu);
	return buf;
}

/* ---- create, bind, enable ---- */

static void state_evidence(const struct vd_event *e, struct da_check *c)
{
	vd_evidence(
		c,
		"highest state %s; of %zu CPUs %zu >= CREATED, %zu >= BOUND, %zu >= ENABLED, %zu RUNNING",
		da_state_name(e->max_state), e->rows, e->at_least[DA_STATE_CREATED],
		e->at_least[DA_STATE_BOUND], e->at_least[DA_STATE_ENABLED],
		e->at_least[DA_STATE_RUNNING]);
}

/* Descriptors ran out: for so many events or rings, or for something else that a run needs. */
static void fd_causes(const struct vd_event *e, struct da_check *c, const char *what, uint64_t nr)
{
	struct da_cause *k = vd_cause(c, "fd_limit");

	if (nr)
		vd_cause_evidence(k, "%" PRIu64 " %s had no descriptor left (limit %" PRId64 ")",
				  nr, what, e->f->fd_limit);
	else
		vd_cause_evidence(k, "no descriptor was left (limit %" PRId64 "): %.150s",
				  e->f->fd_limit, e->f->error);
	vd_fix(k, "ulimit -n %" PRIu64, 2 * (e->sum.in[DA_STAGE_CREATE] + 512));
}

static bool out_of_fds(const struct vd_event *e)
{
	return e->f->error_sys == EMFILE || e->f->error_sys == ENFILE;
}

/* The causes of failed opens are those that the environment's checks name: the same words here. */
static void create_causes(const struct vd_event *e, struct da_check *c)
{
	const uint64_t *drop = e->sum.drop;
	struct da_cause *k;

	if (drop[DA_DROP_CREATE_PERMISSION])
		vd_permission_causes(e, c);
	if (drop[DA_DROP_CREATE_NO_EVENT])
		vd_no_pmu_causes(e, c);
	if (drop[DA_DROP_CREATE_INVALID] || drop[DA_DROP_CREATE_UNSUPPORTED] ||
	    (vd_rate_too_high(e) && !e->sum.out[DA_STAGE_CREATE]))
		vd_config_causes(e, c);
	if (drop[DA_DROP_CREATE_NO_TASK]) {
		k = vd_cause(c, "wrong_target");
		vd_cause_evidence(k, "%" PRIu64 " opens found no such task",
				  drop[DA_DROP_CREATE_NO_TASK]);
		vd_fix(k, "pgrep -a NAME; damon-attrs diagnose -e %s -p PID", vd_spec(e));
	}
	if (drop[DA_DROP_CREATE_FD_LIMIT] || (out_of_fds(e) && !e->sum.out[DA_STAGE_CREATE]))
		fd_causes(e, c, "opens", drop[DA_DROP_CREATE_FD_LIMIT]);
	if (drop[DA_DROP_CREATE_BUSY]) {
		k = vd_cause(c, "unit_shared");
		vd_cause_evidence(k, "%" PRIu64 " opens found the unit busy",
				  drop[DA_DROP_CREATE_BUSY]);
		vd_fix(k,
		       "end the other user of the PMU: pgrep -a perf; sudo sysctl kernel.nmi_watchdog=0");
	}
	if (drop[DA_DROP_CREATE_CPU_OFFLINE]) {
		k = vd_cause(c, "cpu_offline");
		vd_cause_evidence(
			k, "%" PRIu64 " of %" PRIu64 " CPUs asked for are offline; %u are online",
			drop[DA_DROP_CREATE_CPU_OFFLINE], e->sum.in[DA_STAGE_CREATE],
			e->f->online_cpus);
		vd_fix(k,
		       "cat /sys/devices/system/cpu/online; echo 1 | sudo tee /sys/devices/system/cpu/cpuN/online");
	}
}

enum da_result vd_create_opened(const struct vd_event *e, struct da_check *c)
{
	struct da_cause *k;
	char first[160];

	if (e->sum.out[DA_STAGE_CREATE]) {
		vd_evidence(c, "%" PRIu64 " of %" PRIu64 " opens succeeded",
			    e->sum.out[DA_STAGE_CREATE], e->sum.in[DA_STAGE_CREATE]);
		return DA_PASS;
	}
	vd_evidence(c, "0 of %" PRIu64 " opens succeeded; first: %s", e->sum.in[DA_STAGE_CREATE],
		    first_error(e, first, sizeof(first)));
	create_causes(e, c);
	if (!c->nr_causes) {
		k = vd_cause(c, "refused");
		vd_cause_evidence(k, "%.200s", e->f->error[0] ? e->f->error : "no error was kept");
		vd_fix(k, "damon-attrs diagnose -e auto");
	}
	return DA_FAIL;
}

enum da_result vd_create_state(const struct vd_event *e, struct da_check *c)
{
	state_evidence(e, c);
	if (e->max_state >= DA_STATE_CREATED)
		return DA_PASS;
	return e->sum.out[DA_STAGE_CREATE] ? DA_FAIL : DA_SKIP;
}

enum da_result vd_create_errors(const struct vd_event *e, struct da_check *c)
{
	uint64_t failed = da_ledger_drops(&e->sum, DA_STAGE_CREATE);
	char drops[160], first[160];

	if (e->broken[DA_STAGE_CREATE])
		return vd_broken(e, DA_STAGE_CREATE, c);
	vd_drops(&e->sum, DA_STAGE_CREATE, drops, sizeof(drops));
	if (!e->sum.out[DA_STAGE_CREATE]) {
		vd_evidence(c, "%" PRIu64 " opens failed: %s", failed, drops);
		return DA_SKIP;
	}
	/* A thread that ended before it could be opened is not missed. */
	if (failed == e->sum.drop[DA_DROP_CREATE_NO_TASK]) {
		vd_evidence(c,
			    "0 of %" PRIu64 " opens failed (threads that had ended: %" PRIu64 ")",
			    e->sum.in[DA_STAGE_CREATE], failed);
		return DA_PASS;
	}
	vd_evidence(c, "%" PRIu64 " of %" PRIu64 " opens failed: %s; first: %s", failed,
		    e->sum.in[DA_STAGE_CREATE], drops, first_error(e, first, sizeof(first)));
	create_causes(e, c);
	return DA_FAIL;
}

static void bind_causes(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	char ring[24];
	struct da_cause *k;

	if (e->sum.drop[DA_DROP_BIND_MLOCK]) {
		k = vd_cause(c, "mlock_limit");
		vd_cause_evidence(k,
				  "%" PRIu64 " rings of %s were refused with EPERM: locked memory",
				  e->sum.drop[DA_DROP_BIND_MLOCK], vd_ring(f, ring));
		vd_fix(k,
		       "a smaller -m, or: ulimit -l unlimited, or raise kernel.perf_event_mlock_kb");
	}
	if (e->sum.drop[DA_DROP_BIND_FD_LIMIT] || (out_of_fds(e) && !e->sum.in[DA_STAGE_BIND]))
		fd_causes(e, c, "rings", e->sum.drop[DA_DROP_BIND_FD_LIMIT]);
	if (e->sum.drop[DA_DROP_BIND_INVALID] || e->sum.drop[DA_DROP_BIND_OTHER]) {
		k = vd_cause(c, "mmap_refused");
		vd_cause_evidence(
			k, "the kernel refused to map the ring or the AUX area (rings of %s)",
			vd_ring(f, ring));
		vd_fix(k, "damon-attrs diagnose -e %s -m 16", vd_spec(e));
	}
}

enum da_result vd_bind_state(const struct vd_event *e, struct da_check *c)
{
	char first[160];

	if (e->max_state >= DA_STATE_BOUND) {
		state_evidence(e, c);
		return DA_PASS;
	}
	vd_evidence(c, "0 of %" PRIu64 " rings mapped; first: %s", e->sum.in[DA_STAGE_BIND],
		    first_error(e, first, sizeof(first)));
	bind_causes(e, c);
	return DA_FAIL;
}

enum da_result vd_bind_mapped(const struct vd_event *e, struct da_check *c)
{
	uint64_t failed = da_ledger_drops(&e->sum, DA_STAGE_BIND);
	char drops[120], ring[24];

	if (e->broken[DA_STAGE_BIND])
		return vd_broken(e, DA_STAGE_BIND, c);
	vd_drops(&e->sum, DA_STAGE_BIND, drops, sizeof(drops));
	vd_evidence(c,
		    "%" PRIu64 " of %" PRIu64
		    " rings of %s mapped before anything was enabled; AUX %s; "
		    "failed: %s",
		    e->sum.out[DA_STAGE_BIND], e->sum.in[DA_STAGE_BIND], vd_ring(e->f, ring),
		    e->ev->aux         ? "mapped"
		    : e->ev->needs_aux ? "not mapped"
				       : "not needed",
		    drops);
	if (!e->sum.out[DA_STAGE_BIND])
		return DA_SKIP;
	if (!failed)
		return DA_PASS;
	bind_causes(e, c);
	return DA_FAIL;
}

enum da_result vd_enable_state(const struct vd_event *e, struct da_check *c)
{
	struct da_cause *k;
	char first[160];

	if (e->max_state >= DA_STATE_ENABLED) {
		state_evidence(e, c);
		return DA_PASS;
	}
	vd_evidence(c,
		    "0 of %" PRIu64 " enabled (refused %" PRIu64 ", not fired %" PRIu64
		    "); first: %s",
		    e->sum.in[DA_STAGE_ENABLE], e->sum.drop[DA_DROP_ENABLE_REFUSED],
		    e->sum.drop[DA_DROP_ENABLE_NOT_FIRED], first_error(e, first, sizeof(first)));
	if (e->sum.drop[DA_DROP_ENABLE_NOT_FIRED]) {
		k = vd_cause(c, "exec_never_came");
		vd_cause_evidence(
			k, "events were to begin with the command's exec, which did not happen");
		vd_fix(k,
		       "run the command alone first; then: damon-attrs diagnose -e %s -- COMMAND",
		       vd_spec(e));
	}
	if (e->sum.drop[DA_DROP_ENABLE_REFUSED]) {
		k = vd_cause(c, "enable_refused");
		vd_cause_evidence(k, "%" PRIu64 " ioctl ENABLE failed",
				  e->sum.drop[DA_DROP_ENABLE_REFUSED]);
		vd_fix(k, "sudo dmesg | tail; damon-attrs diagnose -e auto");
	}
	return DA_FAIL;
}

enum da_result vd_enable_cpus(const struct vd_event *e, struct da_check *c)
{
	size_t i, missing = 0, offline = 0, absent = 0;
	bool per_task = vd_per_task(e);
	uint32_t first = 0;
	struct da_cause *k;

	if (e->broken[DA_STAGE_ENABLE])
		return vd_broken(e, DA_STAGE_ENABLE, c);
	if (e->max_state < DA_STATE_ENABLED) {
		vd_evidence(c, "0 of %zu CPUs enabled", e->rows);
		return DA_SKIP;
	}
	for (i = 0; i < e->ev->nr_cpus; i++) {
		const struct da_facts_cpu *r = &e->ev->cpus[i];

		if (r->state >= DA_STATE_ENABLED || !r->ledger.out[DA_STAGE_BIND])
			continue; /* not opened, not bound: told there */
		/* Exec enables an event where the task is: a CPU that it never visited is left out. A recording
		 * that was cut short has not asked yet. */
		if (r->target_absent || (per_task && r->ledger.drop[DA_DROP_ENABLE_NOT_FIRED]) ||
		    (e->cut_short && !r->ledger.in[DA_STAGE_ENABLE])) {
			absent++;
			continue;
		}
		if (!missing++)
			first = r->cpu;
		offline += r->ledger.drop[DA_DROP_ENABLE_CPU_OFFLINE] > 0;
	}
	vd_evidence(c, "%zu of %zu CPUs enabled; on %zu the target never was; missing: %zu",
		    e->at_least[DA_STATE_ENABLED], e->rows, absent > e->absent ? absent : e->absent,
		    missing);
	if (!missing)
		return DA_PASS;
	k = vd_cause(c, offline ? "cpu_offline" : "enable_refused");
	vd_cause_evidence(k,
			  "%zu CPUs, the first is %u, were not enabled; %zu of them went offline",
			  missing, first, offline);
	vd_fix(k,
	       "cat /sys/devices/system/cpu/online; echo 1 | sudo tee /sys/devices/system/cpu/cpu%u/online",
	       first);
	return DA_FAIL;
}

/* Which CPUs went away while they were recorded, and came back. */
bool vd_note_hotplug(const struct vd_event *e, struct da_check *c)
{
	char list[160] = "";
	size_t went = 0, missing = 0, at = 0;
	uint32_t first = 0, one = 0;
	struct da_cause *k;

	for (size_t i = 0; i < e->ev->nr_cpus; i++) {
		const struct da_facts_cpu *r = &e->ev->cpus[i];

		if (!r->went_offline)
			continue;
		went++;
		one = r->cpu;
		if (r->came_back < r->went_offline && !missing++)
			first = r->cpu;
		if (at + 64 < sizeof(list))
			at += (size_t)snprintf(list + at, sizeof(list) - at,
					       "%sCPU %" PRIu32 " went %" PRIu64
					       ", came back %" PRIu64 ", away %.1f s",
					       at ? "; " : "", r->cpu, r->went_offline,
					       r->came_back, (double)r->away_ns / 1e9);
	}
	if (!went)
		return false;
	if (went == 1)
		snprintf(c->title, sizeof(c->title), "CPU %" PRIu32 " went offline%s", one,
			 missing ? "" : " and came back");
	else
		snprintf(c->title, sizeof(c->title), "%zu CPUs went offline, %zu came back", went,
			 went - missing);
	vd_evidence(c, "%s; their events were opened anew into the same ledger", list);
	if (missing) {
		k = vd_cause(c, "cpu_offline");
		vd_cause_evidence(k, "%zu CPUs were still away at the end; the first is %" PRIu32,
				  missing, first);
		vd_fix(k, "echo 1 | sudo tee /sys/devices/system/cpu/cpu%" PRIu32 "/online", first);
	}
	return true;
}

/* ---- teardown ---- */

enum da_result vd_teardown_drain(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	struct da_cause *k;

	if (e->max_state < DA_STATE_ENABLED) {
		vd_evidence(c, "0 events were enabled: nothing to drain");
		return DA_SKIP;
	}
	vd_evidence(c,
		    "events disabled before the final drain: %s; reports left inside: %" PRIu64
		    "; ended by %s",
		    vd_yes_no(f->disabled_before_drain), e->sum.drop[DA_DROP_RESIDENT],
		    f->end_reason[0] ? f->end_reason : "nothing");
	if (f->disabled_before_drain && !e->sum.drop[DA_DROP_RESIDENT])
		return DA_PASS;
	k = vd_cause(c, "drain_order");
	vd_cause_evidence(k, "samples can be lost at the end: a bug of damon-attrs");
	vd_fix(k, "report it with the output of: damon-attrs diagnose --format=json -e %s",
	       vd_spec(e));
	return DA_FAIL;
}

enum da_result vd_teardown_released(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	struct da_cause *k;

	vd_evidence(c, "all of %" PRIu64 " opened events released: %s; AUX before its event: %s",
		    e->sum.out[DA_STAGE_CREATE], vd_yes_no(f->released_all),
		    vd_yes_no(f->aux_before_event));
	if (f->released_all && f->aux_before_event)
		return DA_PASS;
	k = vd_cause(c, "release_order");
	vd_cause_evidence(k, "descriptors or rings were left behind: a bug of damon-attrs");
	vd_fix(k, "report it with the output of: damon-attrs diagnose --format=json -e %s",
	       vd_spec(e));
	return DA_FAIL;
}
