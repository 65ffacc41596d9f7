/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The checks of what was there before the run: environment and guard; and the causes of a refused open,
 * which the create layer names too. What became of the events is in verdict_run.c.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "verdict_priv.h"

static void paranoid_text(const struct da_facts *f, char *buf, size_t size)
{
	if (f->paranoid == INT_MIN)
		snprintf(buf, size, "unknown");
	else
		snprintf(buf, size, "%d", f->paranoid);
}

/* ---- environment ---- */

enum da_result vd_env_syscall(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	struct da_cause *k;

	if (f->perf_event_open_works || e->n.callback || e->sum.out[DA_STAGE_CREATE]) {
		vd_evidence(
			c,
			"the system call is there and no filter stops it (seccomp mode %d, kernel %.80s)",
			f->seccomp, f->kernel);
		return DA_PASS;
	}
	vd_evidence(c, "perf_event_open(2) does not get through (seccomp mode %d, kernel %.80s)",
		    f->seccomp, f->kernel);
	if (f->seccomp == 2) {
		k = vd_cause(c, "seccomp");
		vd_cause_evidence(k, "a seccomp filter is on (mode 2), as containers have it");
		vd_fix(k,
		       "run outside the container, or with: docker run --security-opt seccomp=unconfined");
	}
	if (f->paranoid == INT_MIN) {
		k = vd_cause(c, "no_perf_events");
		vd_cause_evidence(k, "/proc/sys/kernel/perf_event_paranoid is not there");
		vd_fix(k, "boot a kernel with CONFIG_PERF_EVENTS=y");
	}
	if (!c->nr_causes) {
		k = vd_cause(c, "blocked");
		vd_cause_evidence(
			k,
			"the call fails although perf_event_paranoid is there (%d) and no "
			"filter is seen (seccomp mode %d): an emulator, a sandbox?",
			f->paranoid, f->seccomp);
		vd_fix(k,
		       "run outside the sandbox; else: strace -e perf_event_open damon-attrs diagnose");
	}
	return DA_FAIL;
}

void vd_permission_causes(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	bool capable = f->cap_perfmon || f->cap_sys_admin;
	bool kernel_too = !(e->ev->attr.flags & DA_ATTR_EXCLUDE_KERNEL);
	int needed = f->target == DA_TARGET_SYSTEM ? 0 : kernel_too ? 1 : 2;
	struct da_cause *k;

	if (f->seccomp == 2 && (capable || f->paranoid <= needed)) {
		k = vd_cause(c, "seccomp");
		vd_cause_evidence(
			k,
			"rights would suffice (perf_event_paranoid %d, CAP_PERFMON %s), but a "
			"seccomp filter is on (mode 2)",
			f->paranoid, vd_yes_no(f->cap_perfmon));
		vd_fix(k,
		       "run outside the container, or with: docker run --security-opt seccomp=unconfined");
	}
	if (!capable && f->paranoid != INT_MIN && f->paranoid > needed) {
		k = vd_cause(c, "paranoid");
		vd_cause_evidence(
			k, "kernel.perf_event_paranoid is %d; %s needs %d or less, or CAP_PERFMON",
			f->paranoid,
			f->target == DA_TARGET_SYSTEM ? "the whole system"
			: kernel_too                  ? "sampling the kernel"
						      : "sampling one's own tasks",
			needed);
		vd_fix(k, "sudo sysctl kernel.perf_event_paranoid=%d", needed);
		k = vd_cause(c, "capability");
		vd_cause_evidence(k, "CAP_PERFMON no, CAP_SYS_ADMIN no, root %s",
				  vd_yes_no(f->root));
		vd_fix(k, "sudo setcap cap_perfmon+ep \"$(command -v damon-attrs)\"%s",
		       f->target == DA_TARGET_SYSTEM
			       ? ", or leave -a away: diagnose your own COMMAND"
		       : kernel_too ? ", or user space only: --all-user"
				    : "");
	} else if (!capable && (f->target == DA_TARGET_PID || f->target == DA_TARGET_TID)) {
		k = vd_cause(c, "foreign_task");
		vd_cause_evidence(
			k,
			"the target belongs to another user, or may not be traced (ptrace_scope)");
		vd_fix(k,
		       "run as its user, or: sudo setcap cap_perfmon+ep \"$(command -v damon-attrs)\"");
	}
	if (!c->nr_causes) {
		k = vd_cause(c, "permission");
		vd_cause_evidence(
			k,
			"the kernel said EACCES or EPERM although paranoid is %d and CAP_PERFMON %s: a "
			"security module?",
			f->paranoid, vd_yes_no(f->cap_perfmon));
		vd_fix(k, "sudo dmesg | grep -i -e perf -e lockdown -e avc");
	}
}

enum da_result vd_env_privilege(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	uint64_t refused = e->sum.drop[DA_DROP_CREATE_PERMISSION];
	char paranoid[16];

	paranoid_text(f, paranoid, sizeof(paranoid));
	vd_evidence(c,
		    "%" PRIu64 " of %" PRIu64
		    " opens refused for want of rights; perf_event_paranoid %s, root %s, "
		    "CAP_PERFMON %s, CAP_SYS_ADMIN %s, seccomp mode %d",
		    refused, e->sum.in[DA_STAGE_CREATE], paranoid, vd_yes_no(f->root),
		    vd_yes_no(f->cap_perfmon), vd_yes_no(f->cap_sys_admin), f->seccomp);
	if (!refused)
		return DA_PASS;
	vd_permission_causes(e, c);
	return DA_FAIL;
}

void vd_no_pmu_causes(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	struct da_cause *k;

	if (e->ev->needs_aux && f->kpti) {
		k = vd_cause(c, "kpti");
		vd_cause_evidence(
			k,
			"kernel page table isolation is on, and the SPE driver refuses to work with it");
		vd_fix(k, "boot with kpti=off");
	}
	if (f->hypervisor && vd_hardware(e->ev)) {
		k = vd_cause(c, "hypervisor");
		vd_cause_evidence(k, "this is a virtual machine, which offers the PMUs: %.150s",
				  f->pmus);
		vd_fix(k,
		       "run on the host, or give the guest a PMU (QEMU: -cpu host,pmu=on); else -e cpu-clock");
	}
	k = vd_cause(c, "no_such_event");
	vd_cause_evidence(k, "this CPU, firmware or kernel has no such event; PMUs here: %.150s",
			  f->pmus);
	vd_fix(k, "damon-attrs diagnose -e auto");
}

enum da_result vd_env_pmu(const struct vd_event *e, struct da_check *c)
{
	uint64_t missing = e->sum.drop[DA_DROP_CREATE_NO_EVENT];

	if (!missing) {
		if (e->ev->producer == DA_PROD_FAKE)
			vd_evidence(c, "fake needs no PMU; attr.type %u", e->ev->attr.type);
		else
			vd_evidence(c, "attr.type %u, config 0x%" PRIx64 "; PMUs here: %.150s",
				    e->ev->attr.type, e->ev->attr.config, e->f->pmus);
		return DA_PASS;
	}
	if (e->f->error[0]) /* said before there was an attr, or with more words than errno has */
		vd_evidence(c, "%" PRIu64 " of %" PRIu64 " opens found no such event: %.200s",
			    missing, e->sum.in[DA_STAGE_CREATE], e->f->error);
	else
		vd_evidence(c,
			    "%" PRIu64 " of %" PRIu64
			    " opens found no such event (attr.type %u, config 0x%" PRIx64 ")",
			    missing, e->sum.in[DA_STAGE_CREATE], e->ev->attr.type,
			    e->ev->attr.config);
	vd_no_pmu_causes(e, c);
	return DA_FAIL;
}

bool vd_rate_too_high(const struct vd_event *e)
{
	return (e->ev->attr.flags & DA_ATTR_FREQ) && e->f->max_sample_rate_before > 0 &&
	       e->ev->attr.sample_period > (uint64_t)e->f->max_sample_rate_before;
}

void vd_config_causes(const struct vd_event *e, struct da_check *c)
{
	const struct da_attr *a = &e->ev->attr;
	bool hardware = vd_hardware(e->ev);
	struct da_cause *k;

	if (vd_rate_too_high(e)) {
		k = vd_cause(c, "rate_above_limit");
		vd_cause_evidence(
			k, "%" PRIu64 " Hz asked, kernel.perf_event_max_sample_rate is %" PRId64,
			a->sample_period, e->f->max_sample_rate_before);
		vd_fix(k, "damon-attrs diagnose -e %s -F %" PRId64 ", or a fixed period: -c N",
		       vd_spec(e), e->f->max_sample_rate_before);
	}
	if (hardware &&
	    (a->flags & (DA_ATTR_EXCLUDE_USER | DA_ATTR_EXCLUDE_KERNEL | DA_ATTR_EXCLUDE_HV))) {
		k = vd_cause(c, "exclusion_refused");
		vd_cause_evidence(
			k,
			"the attr excludes user space, kernel or hypervisor, which IBS and some others "
			"cannot do");
		vd_fix(k, "leave the modifiers (:u, :k) and --all-user away");
	}
	if (hardware && (a->flags & DA_ATTR_FREQ)) {
		k = vd_cause(c, "frequency_refused");
		vd_cause_evidence(
			k, "frequency mode (%" PRIu64 " Hz) was asked, which SPE and IBS refuse",
			a->sample_period);
		vd_fix(k, "damon-attrs diagnose -e %s -c N", vd_spec(e));
	}
	if (!c->nr_causes) {
		k = vd_cause(c, "config_refused");
		vd_cause_evidence(k,
				  "config 0x%" PRIx64 ", config1 0x%" PRIx64 ", period %" PRIu64
				  ", flags 0x%" PRIx64,
				  a->config, a->config1, a->sample_period, a->flags);
		vd_fix(k,
		       "ls /sys/bus/event_source/devices/*/format; damon-attrs diagnose -e auto");
	}
}

enum da_result vd_env_config(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts_event *ev = e->ev;
	uint64_t refused =
		e->sum.drop[DA_DROP_CREATE_INVALID] + e->sum.drop[DA_DROP_CREATE_UNSUPPORTED];

	if (!refused && !(vd_rate_too_high(e) && !e->sum.out[DA_STAGE_CREATE])) {
		vd_evidence(c,
			    "%s %" PRIu64 " taken; precise_ip %u; optional attr bits refused: %s",
			    ev->attr.flags & DA_ATTR_FREQ ? "frequency" : "period",
			    ev->attr.sample_period,
			    (unsigned)((ev->attr.flags & DA_ATTR_PRECISE_MASK) >>
				       DA_ATTR_PRECISE_SHIFT),
			    ev->dropped_bits[0] ? ev->dropped_bits : "0");
		return DA_PASS;
	}
	vd_evidence(c, "%" PRIu64 " of %" PRIu64 " opens refused the attr (%s %" PRIu64 ")",
		    refused, e->sum.in[DA_STAGE_CREATE],
		    ev->attr.flags & DA_ATTR_FREQ ? "frequency" : "period", ev->attr.sample_period);
	vd_config_causes(e, c);
	return DA_FAIL;
}

static const char *target_kind(enum da_target t)
{
	switch (t) {
	case DA_TARGET_COMMAND:
		return "command";
	case DA_TARGET_PID:
		return "process";
	case DA_TARGET_TID:
		return "thread";
	case DA_TARGET_SYSTEM:
		return "the whole system";
	default:
		return "none";
	}
}

enum da_result vd_env_target(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	uint64_t gone = e->sum.drop[DA_DROP_CREATE_NO_TASK];
	bool listed = f->target == DA_TARGET_PID || f->target == DA_TARGET_TID;
	struct da_cause *k;

	if (e->sum.in[DA_STAGE_CREATE])
		vd_evidence(c,
			    "target: %s%s%.100s; %" PRIu64 " of %" PRIu64
			    " opens found no such task",
			    target_kind(f->target), f->target_text[0] ? " " : "", f->target_text,
			    gone, e->sum.in[DA_STAGE_CREATE]);
	else
		vd_evidence(c, "target: %s%s%.100s; 0 opens tried", target_kind(f->target),
			    f->target_text[0] ? " " : "", f->target_text);
	/* A command is our own child. A thread that ended between listing and opening is no failure while
	 * others were opened. */
	if ((!listed || f->target_ok) && (!gone || e->sum.out[DA_STAGE_CREATE]))
		return DA_PASS;
	k = vd_cause(c, "wrong_target");
	vd_cause_evidence(k, "the %s did not exist when the events were opened",
			  target_kind(f->target));
	vd_fix(k, "pgrep -a NAME; damon-attrs diagnose -e %s -p PID", vd_spec(e));
	return DA_FAIL;
}

static void limit_text(int64_t kb, char *buf, size_t size)
{
	if (kb == INT64_MAX)
		snprintf(buf, size, "unlimited");
	else if (kb < 0)
		snprintf(buf, size, "unknown");
	else
		snprintf(buf, size, "%" PRId64 " kB", kb);
}

enum da_result vd_env_limits(const struct vd_event *e, struct da_check *c)
{
	const struct da_facts *f = e->f;
	uint64_t fds = e->sum.drop[DA_DROP_CREATE_FD_LIMIT] + e->sum.drop[DA_DROP_BIND_FD_LIMIT];
	uint64_t mlock = e->sum.drop[DA_DROP_BIND_MLOCK];
	char memlock[32], mlock_kb[32], used[24], limit[24], ring[24];
	struct da_cause *k;

	limit_text(f->memlock_kb, memlock, sizeof(memlock));
	limit_text(f->mlock_kb, mlock_kb, sizeof(mlock_kb));
	vd_evidence(c,
		    "%s of %s descriptors used, %" PRIu64
		    " refused; perf_event_mlock_kb %s, ulimit -l "
		    "%s, rings of %s, %" PRIu64 " refused",
		    vd_num(f->fd_used, used), vd_num(f->fd_limit, limit), fds, mlock_kb, memlock,
		    vd_ring(f, ring), mlock);
	if (fds) {
		k = vd_cause(c, "fd_limit");
		vd_cause_evidence(k,
				  "an event needs a descriptor for each CPU and thread: %" PRIu64
				  " wanted, limit %" PRId64,
				  e->sum.in[DA_STAGE_CREATE], f->fd_limit);
		vd_fix(k, "ulimit -n %" PRIu64, 2 * (e->sum.in[DA_STAGE_CREATE] + 512));
	}
	if (mlock) {
		k = vd_cause(c, "mlock_limit");
		vd_cause_evidence(
			k,
			"rings of %s on %zu CPUs exceed perf_event_mlock_kb %s a CPU and ulimit -l %s",
			vd_ring(f, ring), e->rows, mlock_kb, memlock);
		vd_fix(k,
		       "a smaller -m, or: ulimit -l unlimited, or: sudo sysctl kernel.perf_event_mlock_kb=%" PRId64,
		       f->mlock_kb > 0 && f->mlock_kb < INT64_MAX / 8 ? 8 * f->mlock_kb : 4128);
	}
	return fds || mlock ? DA_FAIL : DA_PASS;
}

enum da_result vd_env_clock(const struct vd_event *e, struct da_check *c)
{
	struct da_cause *k;

	vd_evidence(c, "clock id %d, %s; use_clockid %d", e->ev->attr.clockid,
		    e->f->clock_ok ? "readable from user space" : "not readable from user space",
		    (e->ev->attr.flags & DA_ATTR_USE_CLOCKID) != 0);
	if (e->f->clock_ok)
		return DA_PASS;
	/* The clock is looked at with the first open: what failed before it leaves it unknown. */
	if (!e->sum.in[DA_STAGE_CREATE])
		return DA_UNKNOWN;
	k = vd_cause(c, "clock");
	vd_cause_evidence(k, "without a common clock, samples cannot be ordered against mappings");
	vd_fix(k,
	       "boot with another clocksource: cat /sys/devices/system/clocksource/*/available_clocksource");
	return DA_FAIL;
}

/* ---- guard ---- */

enum da_result vd_guard_counters(const struct vd_event *e, struct da_check *c)
{
	struct da_cause *k;

	vd_evidence(c, "counters of %zu (event, CPU) pairs were %s at the start", e->rows,
		    e->f->counters_zero ? "0" : "not 0");
	if (e->f->counters_zero)
		return DA_PASS;
	k = vd_cause(c, "dirty_counters");
	vd_cause_evidence(k, "something counted before the session began: a bug of damon-attrs");
	vd_fix(k, "report it with the output of: damon-attrs diagnose --format=json -e %s",
	       vd_spec(e));
	return DA_FAIL;
}

enum da_result vd_guard_state(const struct vd_event *e, struct da_check *c)
{
	struct da_cause *k;

	vd_evidence(c, "states of %zu (event, CPU) pairs were %s at the start", e->rows,
		    e->f->no_old_state ? "NONE" : "not NONE");
	if (e->f->no_old_state)
		return DA_PASS;
	k = vd_cause(c, "old_state");
	vd_cause_evidence(
		k,
		"a state of an earlier run can mask a failure of this one: a bug of damon-attrs");
	vd_fix(k, "report it with the output of: damon-attrs diagnose --format=json -e %s",
	       vd_spec(e));
	return DA_FAIL;
}

enum da_result vd_guard_unit(const struct vd_event *e, struct da_check *c)
{
	uint64_t busy = e->sum.drop[DA_DROP_CREATE_BUSY];
	struct da_cause *k;

	vd_evidence(c,
		    "%" PRIu64 " of %" PRIu64
		    " opens found the unit busy; another event holds it: %s",
		    busy, e->sum.in[DA_STAGE_CREATE], vd_yes_no(e->f->unit_held || busy));
	if (!busy && !e->f->unit_held)
		return DA_PASS;
	k = vd_cause(c, "unit_shared");
	vd_cause_evidence(
		k,
		"two events want one unit: another perf, a watchdog (nmi_watchdog), or two of -e");
	vd_fix(k,
	       "end the other user of the PMU: pgrep -a perf; sudo sysctl kernel.nmi_watchdog=0; or ask for one event only");
	return DA_FAIL;
}
