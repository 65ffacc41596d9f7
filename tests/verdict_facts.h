/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Crafted facts, shared by the tests of the judge and of its renderers.
 */
#ifndef VERDICT_FACTS_H
#define VERDICT_FACTS_H

#include "da_facts.h"

struct run {
	struct da_facts f;
	struct da_facts_event ev[2];
	struct da_facts_cpu cpu[2][4];
	struct da_facts_buffer buf[4];
};

/* Page faults as in seed 000: 170 valid, 6 matched, 3 credited. Nothing is to be released. */
void healthy(struct run *r);
/* A second event, healthy too. */
void spoil_add_second(struct run *r);

void spoil_nothing(struct run *r);
void spoil_no_regs(struct run *r);
void spoil_spe_no_aux(struct run *r);
void spoil_spe_with_aux(struct run *r);
void spoil_spe_fan_in(struct run *r);
void spoil_fan_in_single(struct run *r);
void spoil_experiment(struct run *r);
void spoil_stopped(struct run *r);
void spoil_small_buffers(struct run *r);
void spoil_slow_consumer(struct run *r);
void spoil_one_source(struct run *r);
void spoil_fake_silent(struct run *r);
void spoil_no_match(struct run *r);
void spoil_other_space(struct run *r);
void spoil_no_update(struct run *r);
void spoil_all_overflow(struct run *r);
void spoil_not_closed(struct run *r);
void spoil_nothing_happened(struct run *r);
void spoil_count_not_read(struct run *r);
void spoil_period_never_reached(struct run *r);
void spoil_clock_too_short(struct run *r);
void spoil_clock_silent(struct run *r);
void spoil_target_never_ran(struct run *r);
void spoil_not_scheduled(struct run *r);
void spoil_counts_only(struct run *r);
void spoil_counts_in_vm(struct run *r);
void spoil_kernel_ring_ate_all(struct run *r);
void spoil_precise_without_address(struct run *r);
void spoil_jit_gone(struct run *r);
void spoil_low_yield(struct run *r);
void spoil_paranoid(struct run *r);
void spoil_paranoid_4(struct run *r);
void spoil_seccomp(struct run *r);
void spoil_no_pmu_in_vm(struct run *r);
void spoil_spe_kpti(struct run *r);
void spoil_ibs_exclusion(struct run *r);
void spoil_spe_frequency(struct run *r);
void spoil_rate_too_high(struct run *r);
void spoil_dead_pid(struct run *r);
void spoil_out_of_fds(struct run *r);
void spoil_unit_busy(struct run *r);
void spoil_not_started(struct run *r);
void spoil_mlock(struct run *r);
void spoil_exec_never(struct run *r);
void spoil_exec_on_one_cpu(struct run *r);
void spoil_cpu_went_offline(struct run *r);
void spoil_cpu_offline(struct run *r);
void spoil_thread_ended(struct run *r);
void spoil_one_cpu_silent(struct run *r);
void spoil_throttled(struct run *r);
void spoil_ring_of_four(struct run *r);
void spoil_aux_truncated(struct run *r);
void spoil_period_raised(struct run *r);
void spoil_hotplug(struct run *r);
void spoil_hotplug_away(struct run *r);
void spoil_multiplexed(struct run *r);
void spoil_bits_refused(struct run *r);
void spoil_broken_sample(struct run *r);
void spoil_broken_ring(struct run *r);
void spoil_broken_both_ways(struct run *r);
void spoil_broken_between(struct run *r);
void spoil_broken_create(struct run *r);
void spoil_reports_missing(struct run *r);
void spoil_dirty_guard(struct run *r);
void spoil_drain_not_last(struct run *r);
void spoil_foreign(struct run *r);
void spoil_foreign_plumbing(struct run *r);
void spoil_foreign_empty(struct run *r);
void spoil_no_events(struct run *r);
void spoil_own(struct run *r);
void spoil_own_killed(struct run *r);
void spoil_own_killed_inside(struct run *r);
void spoil_worst_of_two(struct run *r);

#endif
