/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts of a healthy run, and what spoils them: each spoiler makes one thing wrong as a machine would.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "da_abi.h"
#include "verdict_facts.h"

/* Moves n records or reports through a ledger with these numbers; the rest are drops as named. */
static void ledger(struct da_ledger *l, uint64_t callback, uint64_t valid, uint64_t enqueue,
		   uint64_t match, uint64_t update, enum da_drop sample_drop)
{
	memset(l, 0, sizeof(*l));
	for (int s = DA_STAGE_CREATE; s <= DA_STAGE_ENABLE; s++)
		l->in[s] = l->out[s] = 1;
	l->in[DA_STAGE_SAMPLE] = callback;
	l->out[DA_STAGE_SAMPLE] = l->in[DA_STAGE_RING] = valid;
	l->drop[sample_drop] = callback - valid;
	l->out[DA_STAGE_RING] = l->in[DA_STAGE_MATCH] = enqueue;
	l->drop[DA_DROP_OVERFLOW] = valid - enqueue;
	l->out[DA_STAGE_MATCH] = l->in[DA_STAGE_UPDATE] = match;
	l->drop[DA_DROP_MISS_REGION] = enqueue - match;
	l->out[DA_STAGE_UPDATE] = update;
	l->drop[DA_DROP_ALREADY_CREDITED] = match - update;
	l->peak = enqueue ? 100 : 0;
}

static void healthy_event(struct run *r, size_t i, const char *name, size_t nr_cpus)
{
	struct da_facts_event *e = &r->ev[i];

	snprintf(e->name, sizeof(e->name), "%s", name);
	e->producer = DA_PROD_FAULT;
	e->attr = (struct da_attr){.type = DA_TYPE_SOFTWARE,
				   .config = DA_SW_PAGE_FAULTS,
				   .sample_period = 1,
				   .sample_type = DA_SAMPLE_ADDR,
				   .flags = DA_ATTR_DISABLED | DA_ATTR_USE_CLOCKID};
	e->effective_period = 1;
	e->cpus = r->cpu[i];
	e->nr_cpus = nr_cpus;
	for (size_t c = 0; c < nr_cpus; c++) {
		r->cpu[i][c] = (struct da_facts_cpu){.cpu = (uint32_t)c,
						     .state = DA_STATE_ENABLED,
						     .lost = 0,
						     .enabled_ns = 1000000000,
						     .running_ns = 1000000000};
		ledger(&r->cpu[i][c].ledger, 0, 0, 0, 0, 0, DA_DROP_ADDR_NONE);
	}
}

static void set(struct run *r, size_t i, uint64_t callback, uint64_t valid, uint64_t enqueue,
		uint64_t match, uint64_t update, enum da_drop d)
{
	ledger(&r->cpu[i][0].ledger, callback, valid, enqueue, match, update, d);
	r->cpu[i][0].state = callback ? DA_STATE_RUNNING : DA_STATE_ENABLED;
	r->cpu[i][0].count = (int64_t)callback;
}

/* Page faults as in seed 000: 170 valid, 6 matched, 3 credited. */
void healthy(struct run *r)
{
	struct da_facts *f = &r->f;

	memset(r, 0, sizeof(*r));
	da_facts_init(f);
	f->live = true;
	f->machine_known = true;
	snprintf(f->kernel, sizeof(f->kernel), "6.18.0 x86_64");
	snprintf(f->pmus, sizeof(f->pmus), "breakpoint software tracepoint");
	f->paranoid = 2;
	f->cap_perfmon = f->cap_sys_admin = f->root = true;
	f->seccomp = 0;
	f->max_sample_rate_before = f->max_sample_rate_after = 100000;
	f->mlock_kb = 516;
	f->memlock_kb = 8192;
	f->fd_limit = 1024;
	f->fd_used = 20;
	f->online_cpus = 2;
	f->target = DA_TARGET_COMMAND;
	f->perf_event_open_works = f->target_ok = f->clock_ok = true;
	f->counters_zero = f->no_old_state = true;
	f->mmap_pages = f->mmap_pages_wanted = 512;
	f->duration_ns = 1000000000;
	f->lost_counter = f->lost_records = f->lost_samples = f->throttled = f->pending_at_stop = 0;
	f->disabled_before_drain = f->released_all = f->aux_before_event = true;
	f->command_status = 0;
	snprintf(f->end_reason, sizeof(f->end_reason), "exit");
	f->events = r->ev;
	f->nr_events = 1;
	healthy_event(r, 0, "page-faults:uk", 2);
	set(r, 0, 170, 170, 170, 6, 3, DA_DROP_ADDR_NONE);
}

void spoil_add_second(struct run *r)
{
	healthy_event(r, 1, "second", 2);
	set(r, 1, 10, 10, 10, 10, 5, DA_DROP_ADDR_NONE);
	r->f.nr_events = 2;
}

static void clock_event(struct run *r, const char *name)
{
	struct da_facts_event *e = &r->ev[0];

	snprintf(e->name, sizeof(e->name), "%s", name);
	e->producer = DA_PROD_REGS;
	e->attr.config = DA_SW_CPU_CLOCK;
	e->attr.sample_period = e->effective_period = 250000;
}

static void hardware_event(struct run *r, const char *name, enum da_producer p)
{
	struct da_facts_event *e = &r->ev[0];

	snprintf(e->name, sizeof(e->name), "%s", name);
	e->producer = p;
	e->attr.type = 11;
	e->attr.config = 1;
	e->attr.sample_period = e->effective_period = 256;
}

/* Nothing was opened, for this reason. */
static void refused(struct run *r, enum da_drop d, int sys)
{
	for (size_t c = 0; c < r->ev[0].nr_cpus; c++) {
		struct da_facts_cpu *x = &r->cpu[0][c];

		memset(&x->ledger, 0, sizeof(x->ledger));
		x->ledger.in[DA_STAGE_CREATE] = 1;
		x->ledger.drop[d] = 1;
		x->state = DA_STATE_NONE;
		x->count = x->lost = x->enabled_ns = x->running_ns = -1;
	}
	r->ev[0].errors[0] =
		(struct da_facts_open_error){.cpu = 0, .sys = sys, .what = "perf_event_open"};
	r->ev[0].nr_errors = 1;
	r->f.disabled_before_drain = false;
}

static void silent(struct run *r)
{
	for (size_t c = 0; c < r->ev[0].nr_cpus; c++) {
		ledger(&r->cpu[0][c].ledger, 0, 0, 0, 0, 0, DA_DROP_ADDR_NONE);
		r->cpu[0][c].state = DA_STATE_ENABLED;
		r->cpu[0][c].count = 0;
	}
}

static void buffers(struct run *r, size_t nr)
{
	r->f.buffers = r->buf;
	r->f.nr_buffers = nr;
	for (size_t i = 0; i < nr; i++) {
		r->buf[i] = (struct da_facts_buffer){.cpu = (int32_t)i, .slots = 65536};
		snprintf(r->buf[i].name, sizeof(r->buf[i].name), "cpu%zu", i);
	}
}

/* ---- spoilers ---- */

void spoil_nothing(struct run *r)
{
	(void)r;
}

void spoil_no_regs(struct run *r)
{
	clock_event(r, "cpu-clock:u");
	set(r, 0, 1913, 0, 0, 0, 0, DA_DROP_ADDR_NONE); /* the seeds: addr_zero=1913 */
}

void spoil_spe_no_aux(struct run *r)
{
	hardware_event(r, "arm_spe_0//", DA_PROD_SPE);
	r->ev[0].needs_aux = true;
	silent(r);
}

void spoil_spe_with_aux(struct run *r)
{
	hardware_event(r, "arm_spe_0//", DA_PROD_SPE);
	r->ev[0].needs_aux = r->ev[0].aux = true;
	set(r, 0, 47248, 47248, 15161, 255, 4, DA_DROP_INVALID);
}

void spoil_spe_fan_in(struct run *r)
{
	spoil_spe_with_aux(r);
	buffers(r, 4);
	r->buf[2].enqueue = 15161;
	r->buf[2].overflow = 32087;
	r->buf[2].slots = r->buf[2].peak = 256;
	r->buf[2].source_cpus = 256;
}

void spoil_fan_in_single(struct run *r)
{
	spoil_spe_with_aux(r);
	buffers(r, 1);
	r->buf[0] = (struct da_facts_buffer){.name = "single",
					     .cpu = -1,
					     .slots = 256,
					     .peak = 256,
					     .enqueue = 15161,
					     .overflow = 32087,
					     .source_cpus = 2};
}

/* CPU 1 of the healthy run stopped after 90 s while its counter went on. */
void spoil_stopped(struct run *r)
{
	r->cpu[0][1].silent_due = 5000;
	r->cpu[0][1].silent_since_ns = 90000000000;
	r->cpu[0][1].silent_ref = DA_SILENT_COUNTER;
}

/* The buffers look like fan-in, and the replay showed something else. */
void spoil_experiment(struct run *r)
{
	spoil_fan_in_single(r);
	snprintf(r->f.drops_cause, sizeof(r->f.drops_cause), "slow_consumer");
	snprintf(r->f.drops_evidence, sizeof(r->f.drops_evidence), "a faster reader drops 0");
}

void spoil_small_buffers(struct run *r)
{
	spoil_spe_with_aux(r);
	buffers(r, 4);
	for (size_t i = 0; i < 4; i++) {
		r->buf[i].enqueue = 3790;
		r->buf[i].overflow = 8021;
		r->buf[i].slots = r->buf[i].peak = 64;
		r->buf[i].source_cpus = 1;
	}
}

void spoil_slow_consumer(struct run *r)
{
	spoil_small_buffers(r);
	for (size_t i = 0; i < 4; i++)
		r->buf[i].slots = r->buf[i].peak = 16384; /* holds more than a second's reports */
}

/* One CPU alone in its buffer is not fan-in, however much is dropped. */
void spoil_one_source(struct run *r)
{
	spoil_fan_in_single(r);
	r->buf[0].source_cpus = 1;
}

void spoil_fake_silent(struct run *r)
{
	snprintf(r->ev[0].name, sizeof(r->ev[0].name), "fake/fail=silent/");
	r->ev[0].producer = DA_PROD_FAKE;
	silent(r);
	for (size_t c = 0; c < 2; c++)
		r->cpu[0][c].count = r->cpu[0][c].lost = r->cpu[0][c].running_ns =
			r->cpu[0][c].enabled_ns = -1;
}

void spoil_no_match(struct run *r)
{
	set(r, 0, 170, 170, 170, 0, 0, DA_DROP_ADDR_NONE);
}

void spoil_other_space(struct run *r)
{
	spoil_no_match(r);
	r->cpu[0][0].ledger.drop[DA_DROP_MISS_REGION] = 0;
	r->cpu[0][0].ledger.drop[DA_DROP_MISS_SPACE] = 170;
}

void spoil_no_update(struct run *r)
{
	set(r, 0, 170, 170, 170, 6, 0, DA_DROP_ADDR_NONE);
}

void spoil_all_overflow(struct run *r)
{
	set(r, 0, 170, 170, 0, 0, 0, DA_DROP_ADDR_NONE);
}

void spoil_not_closed(struct run *r)
{
	r->cpu[0][0].ledger.out[DA_STAGE_RING] = 0;
	r->cpu[0][0].ledger.drop[DA_DROP_RESIDENT] = 170;
	r->cpu[0][0].ledger.in[DA_STAGE_MATCH] = 0;
	memset(&r->cpu[0][0].ledger.out[DA_STAGE_MATCH], 0, 2 * sizeof(uint64_t));
	r->cpu[0][0].ledger.in[DA_STAGE_UPDATE] = 0;
	r->cpu[0][0].ledger.drop[DA_DROP_MISS_REGION] =
		r->cpu[0][0].ledger.drop[DA_DROP_ALREADY_CREDITED] = 0;
}

void spoil_nothing_happened(struct run *r)
{
	silent(r);
}

void spoil_count_not_read(struct run *r)
{
	silent(r);
	r->cpu[0][0].count = r->cpu[0][1].count = -1;
}

void spoil_period_never_reached(struct run *r)
{
	silent(r);
	r->ev[0].attr.sample_period = r->ev[0].effective_period = 100000;
	r->cpu[0][0].count = 500;
}

void spoil_clock_too_short(struct run *r)
{
	clock_event(r, "cpu-clock:u");
	r->ev[0].attr.flags |= DA_ATTR_EXCLUDE_KERNEL;
	silent(r);
	r->cpu[0][0].count = 1000000; /* 4 periods, any of them may have been in the kernel */
}

void spoil_clock_silent(struct run *r)
{
	clock_event(r, "cpu-clock");
	silent(r);
	r->cpu[0][0].count = 1000000000;
}

void spoil_target_never_ran(struct run *r)
{
	clock_event(r, "cpu-clock:u");
	silent(r);
	r->f.target = DA_TARGET_PID;
	for (size_t c = 0; c < 2; c++) {
		r->cpu[0][c].running_ns = 0;
		r->cpu[0][c].target_absent = true;
	}
}

void spoil_not_scheduled(struct run *r)
{
	hardware_event(r, "cpu/mem-loads/P", DA_PROD_ADDR);
	r->f.target = DA_TARGET_SYSTEM;
	silent(r);
	r->cpu[0][0].running_ns = r->cpu[0][1].running_ns = 0;
}

void spoil_counts_only(struct run *r)
{
	hardware_event(r, "cpu/mem-loads/P", DA_PROD_ADDR);
	silent(r);
	r->cpu[0][0].count = 1000000;
}

void spoil_counts_in_vm(struct run *r)
{
	spoil_counts_only(r);
	r->f.hypervisor = true;
}

void spoil_kernel_ring_ate_all(struct run *r)
{
	silent(r);
	r->cpu[0][0].count = r->cpu[0][0].lost = 500;
}

void spoil_precise_without_address(struct run *r)
{
	hardware_event(r, "cpu/mem-loads/P", DA_PROD_ADDR);
	r->ev[0].attr.flags |= 2ull << DA_ATTR_PRECISE_SHIFT;
	set(r, 0, 500, 0, 0, 0, 0, DA_DROP_ADDR_NONE);
}

void spoil_jit_gone(struct run *r)
{
	clock_event(r, "cpu-clock:u");
	set(r, 0, 500, 0, 0, 0, 0, DA_DROP_NO_CODE);
}

void spoil_low_yield(struct run *r)
{
	clock_event(r, "cpu-clock:u");
	set(r, 0, 1000, 30, 30, 30, 5, DA_DROP_NOT_MEMORY);
}

void spoil_paranoid(struct run *r)
{
	refused(r, DA_DROP_CREATE_PERMISSION, EACCES);
	r->f.cap_perfmon = r->f.cap_sys_admin = r->f.root = false;
	r->f.target = DA_TARGET_SYSTEM;
}

void spoil_paranoid_4(struct run *r)
{
	spoil_paranoid(r);
	r->f.target = DA_TARGET_COMMAND;
	r->ev[0].attr.flags |= DA_ATTR_EXCLUDE_KERNEL;
	r->f.paranoid = 4;
}

void spoil_seccomp(struct run *r)
{
	refused(r, DA_DROP_CREATE_PERMISSION, EPERM);
	r->f.seccomp = 2;
	r->f.perf_event_open_works = false;
}

void spoil_no_pmu_in_vm(struct run *r)
{
	hardware_event(r, "cpu/mem-loads/P", DA_PROD_ADDR);
	refused(r, DA_DROP_CREATE_NO_EVENT, ENOENT);
	r->f.hypervisor = true;
}

void spoil_spe_kpti(struct run *r)
{
	hardware_event(r, "arm_spe_0//", DA_PROD_SPE);
	r->ev[0].needs_aux = true;
	r->f.kpti = true;
	refused(r, DA_DROP_CREATE_NO_EVENT, ENOENT);
}

void spoil_ibs_exclusion(struct run *r)
{
	hardware_event(r, "ibs_op//u", DA_PROD_IBS_OP);
	r->ev[0].attr.flags |= DA_ATTR_EXCLUDE_KERNEL;
	refused(r, DA_DROP_CREATE_INVALID, EINVAL);
}

void spoil_spe_frequency(struct run *r)
{
	hardware_event(r, "arm_spe_0//", DA_PROD_SPE);
	r->ev[0].attr.flags |= DA_ATTR_FREQ;
	refused(r, DA_DROP_CREATE_UNSUPPORTED, EOPNOTSUPP);
}

void spoil_rate_too_high(struct run *r)
{
	clock_event(r, "cpu-clock:u");
	r->ev[0].attr.flags |= DA_ATTR_FREQ;
	r->ev[0].attr.sample_period = 200000;
	r->ev[0].effective_period = 0;
	r->ev[0].nr_cpus = 0; /* refused before anything was opened */
	snprintf(r->f.error, sizeof(r->f.error), "frequency 200000 is above the limit");
}

void spoil_dead_pid(struct run *r)
{
	refused(r, DA_DROP_CREATE_NO_TASK, ESRCH);
	r->f.target = DA_TARGET_PID;
	r->f.target_ok = false;
}

void spoil_out_of_fds(struct run *r)
{
	refused(r, DA_DROP_CREATE_FD_LIMIT, EMFILE);
}

void spoil_unit_busy(struct run *r)
{
	hardware_event(r, "ibs_op//", DA_PROD_IBS_OP);
	refused(r, DA_DROP_CREATE_BUSY, EBUSY);
}

void spoil_not_started(struct run *r)
{
	r->ev[0].nr_cpus = 0;
	snprintf(r->f.error, sizeof(r->f.error), "CPU 77 does not exist on this machine");
}

void spoil_mlock(struct run *r)
{
	for (size_t c = 0; c < 2; c++) {
		struct da_ledger *l = &r->cpu[0][c].ledger;

		memset(l, 0, sizeof(*l));
		l->in[DA_STAGE_CREATE] = l->out[DA_STAGE_CREATE] = l->in[DA_STAGE_BIND] = 1;
		l->drop[DA_DROP_BIND_MLOCK] = 1;
		r->cpu[0][c].state = DA_STATE_CREATED;
	}
}

void spoil_exec_never(struct run *r)
{
	for (size_t c = 0; c < 2; c++) {
		struct da_ledger *l = &r->cpu[0][c].ledger;

		ledger(l, 0, 0, 0, 0, 0, DA_DROP_ADDR_NONE);
		l->out[DA_STAGE_ENABLE] = 0;
		l->drop[DA_DROP_ENABLE_NOT_FIRED] = 1;
		r->cpu[0][c].state = DA_STATE_BOUND;
	}
}

void spoil_exec_on_one_cpu(struct run *r)
{
	struct da_ledger *l = &r->cpu[0][1].ledger;

	l->out[DA_STAGE_ENABLE] = 0;
	l->drop[DA_DROP_ENABLE_NOT_FIRED] = 1;
	r->cpu[0][1].state = DA_STATE_BOUND;
}

void spoil_cpu_went_offline(struct run *r)
{
	struct da_ledger *l = &r->cpu[0][1].ledger;

	r->f.target = DA_TARGET_SYSTEM;
	l->out[DA_STAGE_ENABLE] = 0;
	l->drop[DA_DROP_ENABLE_CPU_OFFLINE] = 1;
	r->cpu[0][1].state = DA_STATE_BOUND;
}

void spoil_cpu_offline(struct run *r)
{
	struct da_ledger *l = &r->cpu[0][1].ledger;

	memset(l, 0, sizeof(*l));
	l->in[DA_STAGE_CREATE] = 1;
	l->drop[DA_DROP_CREATE_CPU_OFFLINE] = 1;
	r->cpu[0][1].state = DA_STATE_NONE;
	r->ev[0].errors[0] =
		(struct da_facts_open_error){.cpu = 1, .sys = ENODEV, .what = "perf_event_open"};
	r->ev[0].nr_errors = 1;
}

void spoil_thread_ended(struct run *r)
{
	spoil_cpu_offline(r);
	r->cpu[0][1].ledger.drop[DA_DROP_CREATE_CPU_OFFLINE] = 0;
	r->cpu[0][1].ledger.drop[DA_DROP_CREATE_NO_TASK] = 1;
}

void spoil_one_cpu_silent(struct run *r)
{
	r->ev[0].producer = DA_PROD_FAKE;
	r->f.target = DA_TARGET_SYSTEM;
}

void spoil_throttled(struct run *r)
{
	r->f.throttled = 12;
	r->f.max_sample_rate_after = 25000;
}

void spoil_ring_of_four(struct run *r)
{
	r->f.mmap_pages = 4;
	r->cpu[0][0].lost = r->f.lost_counter = 5638;
	r->f.lost_records = 1957;
	r->f.pending_at_stop = 3681;
}

void spoil_aux_truncated(struct run *r)
{
	spoil_spe_with_aux(r);
	set(r, 0, 170, 170, 170, 6, 3, DA_DROP_INVALID);
	r->f.aux_truncated = 7;
	r->f.aux_off_ns = 1000000;
}

void spoil_period_raised(struct run *r)
{
	hardware_event(r, "ibs_op//", DA_PROD_IBS_OP);
	r->ev[0].effective_period = 4096;
}

void spoil_hotplug(struct run *r)
{
	r->cpu[0][1].went_offline = 2;
	r->cpu[0][1].came_back = 2;
	r->cpu[0][1].away_ns = 1500000000;
}

void spoil_hotplug_away(struct run *r)
{
	r->cpu[0][1].went_offline = 1;
	r->cpu[0][1].away_ns = 700000000;
}

void spoil_multiplexed(struct run *r)
{
	r->f.target = DA_TARGET_SYSTEM;
	r->cpu[0][0].running_ns = r->cpu[0][1].running_ns = 500000000;
}

void spoil_bits_refused(struct run *r)
{
	snprintf(r->ev[0].dropped_bits, sizeof(r->ev[0].dropped_bits), "phys_addr");
}

void spoil_broken_sample(struct run *r)
{
	r->cpu[0][0].ledger.in[DA_STAGE_SAMPLE]++;
}

void spoil_broken_ring(struct run *r)
{
	r->cpu[0][0].ledger.drop[DA_DROP_OVERFLOW] = 5;
}

/* Two CPUs whose breaks cancel out in the sum. */
void spoil_broken_both_ways(struct run *r)
{
	set(r, 0, 170, 170, 170, 6, 3, DA_DROP_ADDR_NONE);
	r->cpu[0][1] = r->cpu[0][0];
	r->cpu[0][0].ledger.drop[DA_DROP_STRADDLE] = 1;
	r->cpu[0][1].ledger.drop[DA_DROP_MISS_REGION] -= 1;
}

void spoil_broken_between(struct run *r)
{
	struct da_ledger *l = &r->cpu[0][0].ledger;

	l->in[DA_STAGE_MATCH] -= 10;
	l->drop[DA_DROP_MISS_REGION] -= 10;
}

void spoil_broken_create(struct run *r)
{
	r->cpu[0][0].ledger.in[DA_STAGE_CREATE] = 2;
}

void spoil_reports_missing(struct run *r)
{
	struct da_ledger *l = &r->cpu[0][0].ledger;

	l->in[DA_STAGE_RING] -= 10;
	l->out[DA_STAGE_RING] -= 10;
	l->in[DA_STAGE_MATCH] -= 10;
	l->drop[DA_DROP_MISS_REGION] -= 10;
}

void spoil_dirty_guard(struct run *r)
{
	r->f.counters_zero = false;
}

void spoil_drain_not_last(struct run *r)
{
	r->f.disabled_before_drain = false;
}

void spoil_foreign(struct run *r)
{
	r->f.live = r->f.machine_known = false;
	memset(r->cpu[0][0].ledger.in, 0, 3 * sizeof(uint64_t));
	memset(r->cpu[0][0].ledger.out, 0, 3 * sizeof(uint64_t));
	memset(&r->cpu[0][1], 0, sizeof(r->cpu[0][1]));
	r->cpu[0][0].ledger.in[DA_STAGE_RING] = r->cpu[0][0].ledger.out[DA_STAGE_RING] = 0;
	r->cpu[0][0].state = DA_STATE_NONE;
	r->ev[0].nr_cpus = 1;
}

void spoil_foreign_plumbing(struct run *r)
{
	spoil_no_regs(r);
	spoil_foreign(r);
}

void spoil_foreign_empty(struct run *r)
{
	set(r, 0, 0, 0, 0, 0, 0, DA_DROP_ADDR_NONE);
	spoil_foreign(r);
}

void spoil_no_events(struct run *r)
{
	spoil_foreign(r);
	r->f.nr_events = 0;
}

void spoil_own(struct run *r)
{
	r->f.live = false;
	r->f.own_file = true;
}

void spoil_own_killed(struct run *r)
{
	spoil_own(r);
	r->f.end_reason[0] = '\0';
	r->f.disabled_before_drain = r->f.released_all = false;
}

void spoil_own_killed_inside(struct run *r)
{
	spoil_own_killed(r);
	r->cpu[0][0].ledger.out[DA_STAGE_RING] -= 20;
	r->cpu[0][0].ledger.drop[DA_DROP_RESIDENT] = 20;
	r->cpu[0][0].ledger.in[DA_STAGE_MATCH] -= 20;
	r->cpu[0][0].ledger.drop[DA_DROP_MISS_REGION] -= 20;
}

void spoil_worst_of_two(struct run *r)
{
	spoil_add_second(r);
	spoil_no_regs(r);
}
