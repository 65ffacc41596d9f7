/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of the judge, shared by src/verdict*.c only.
 *
 * A check is a pure function of one event's view of the facts. It fills evidence and causes and returns
 * its result. Which checks there are, in which group, and what a group needs is the table in verdict.c.
 */
#ifndef DA_VERDICT_PRIV_H
#define DA_VERDICT_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_facts.h"
#include "da_verdict.h"

/* One event of the facts with what the checks derive from it. */
struct vd_event {
	const struct da_facts *f;
	const struct da_facts_event *ev;
	struct da_ledger sum; /* over the CPUs */
	struct da_counters n;
	bool broken[DA_STAGE_NR]; /* some (event, CPU) does not conserve at this layer */
	enum da_state max_state;
	size_t rows, absent, sampled;          /* CPUs; where the target never was; with samples */
	size_t at_least[DA_STATE_RUNNING + 1]; /* CPUs in this state or a later one */
	int64_t count, lost, enabled_ns, running_ns; /* sums, -1: no CPU measured it */
	uint64_t run_callbacks; /* of all events: what the run's losses are measured against */
	bool run_known;         /* create, bind, enable, ring were measured */
	bool cut_short;         /* a recording without an end */
	enum da_result layer[DA_STAGE_NR]; /* filled layer by layer as the groups are judged */
};

void vd_event_init(struct vd_event *e, const struct da_facts *f, const struct da_facts_event *ev,
		   uint64_t run_callbacks);
/* verdict_kernel.c: the same of the kernel's own pipeline. */
int vd_judge_kernel(const struct da_kernel *k, struct da_event_verdict *v);
uint64_t vd_run_callbacks(const struct da_facts *f);

/* verdict.c: judges one event; the caller frees v->checks, on failure too. 0 or -DA_ENOMEM. */
int vd_judge_event(const struct da_facts *f, const struct da_facts_event *ev,
		   uint64_t run_callbacks, struct da_event_verdict *v);
/* Is this note's text about the run, the same for every event? */
bool vd_is_of_run(const char *id);

/* ---- evidence and causes ---- */

void vd_evidence(struct da_check *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a cause, the most likely first; the fourth is dropped. Evidence and fix are filled with
 * vd_cause_evidence() and vd_fix(). */
struct da_cause *vd_cause(struct da_check *c, const char *id);
void vd_cause_evidence(struct da_cause *k, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void vd_fix(struct da_cause *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The event's name where it can be typed as it is, else "EVENT": names come from files. */
const char *vd_spec(const struct vd_event *e);
/* "3 %", "67.9 %", "<0.1 %"; never rounds to 0 or 100 what is not. */
const char *vd_percent(double part, double whole, char buf[16]);
/* A measured number, or "not measured" for -1. */
const char *vd_num(int64_t v, char buf[24]);
/* Size of the kernel rings: "512 pages", "unknown size". */
const char *vd_ring(const struct da_facts *f, char buf[24]);
/* The drops of a layer that are not 0: "not_memory 12, kernel_ip 3"; "none". */
void vd_drops(const struct da_ledger *l, enum da_stage s, char *buf, size_t size);
/* A break of conservation at a layer: FAIL with the cause `conservation`, a bug of ours. */
enum da_result vd_broken(const struct vd_event *e, enum da_stage s, struct da_check *c);
const char *vd_yes_no(bool b);
bool vd_clock(const struct da_facts_event *ev);    /* cpu-clock, task-clock */
bool vd_hardware(const struct da_facts_event *ev); /* of a PMU, not of the kernel and not ours */
bool vd_event_driven(const struct da_facts_event *ev);
bool vd_per_task(const struct vd_event *e);

/* ---- checks ---- */

typedef enum da_result (*vd_check_fn)(const struct vd_event *e, struct da_check *c);

/* verdict_env.c */
void vd_permission_causes(const struct vd_event *e, struct da_check *c);
void vd_no_pmu_causes(const struct vd_event *e, struct da_check *c);
void vd_config_causes(const struct vd_event *e, struct da_check *c);
bool vd_rate_too_high(const struct vd_event *e); /* frequency above the sysctl */
enum da_result vd_env_syscall(const struct vd_event *e, struct da_check *c);
enum da_result vd_env_privilege(const struct vd_event *e, struct da_check *c);
enum da_result vd_env_pmu(const struct vd_event *e, struct da_check *c);
enum da_result vd_env_config(const struct vd_event *e, struct da_check *c);
enum da_result vd_env_target(const struct vd_event *e, struct da_check *c);
enum da_result vd_env_limits(const struct vd_event *e, struct da_check *c);
enum da_result vd_env_clock(const struct vd_event *e, struct da_check *c);
enum da_result vd_guard_counters(const struct vd_event *e, struct da_check *c);
enum da_result vd_guard_state(const struct vd_event *e, struct da_check *c);
enum da_result vd_guard_unit(const struct vd_event *e, struct da_check *c);

/* verdict_run.c */
enum da_result vd_create_opened(const struct vd_event *e, struct da_check *c);
enum da_result vd_create_state(const struct vd_event *e, struct da_check *c);
enum da_result vd_create_errors(const struct vd_event *e, struct da_check *c);
enum da_result vd_bind_state(const struct vd_event *e, struct da_check *c);
enum da_result vd_bind_mapped(const struct vd_event *e, struct da_check *c);
enum da_result vd_enable_state(const struct vd_event *e, struct da_check *c);
enum da_result vd_enable_cpus(const struct vd_event *e, struct da_check *c);
enum da_result vd_teardown_drain(const struct vd_event *e, struct da_check *c);
enum da_result vd_teardown_released(const struct vd_event *e, struct da_check *c);

/* verdict_flow.c */
enum da_result vd_sample_callback(const struct vd_event *e, struct da_check *c);
enum da_result vd_sample_running(const struct vd_event *e, struct da_check *c);
enum da_result vd_sample_classified(const struct vd_event *e, struct da_check *c);
enum da_result vd_ring_enqueue(const struct vd_event *e, struct da_check *c);
enum da_result vd_ring_closed(const struct vd_event *e, struct da_check *c);
enum da_result vd_match(const struct vd_event *e, struct da_check *c);
enum da_result vd_update_drain(const struct vd_event *e, struct da_check *c);
enum da_result vd_update_credit(const struct vd_event *e, struct da_check *c);

/* ---- notes: checks beside the tallies; each returns true if it has something to say, with the short
 * text in c->title ---- */

typedef bool (*vd_note_fn)(const struct vd_event *e, struct da_check *c);

bool vd_note_hotplug(const struct vd_event *e, struct da_check *c); /* verdict_run.c */
/* verdict_note.c */
bool vd_note_optional_bits(const struct vd_event *e, struct da_check *c);
bool vd_note_period(const struct vd_event *e, struct da_check *c);
bool vd_note_rate_clamped(const struct vd_event *e, struct da_check *c);
bool vd_note_ring_halved(const struct vd_event *e, struct da_check *c);
bool vd_note_yield(const struct vd_event *e, struct da_check *c);
bool vd_note_cpus(const struct vd_event *e, struct da_check *c);
bool vd_note_multiplexed(const struct vd_event *e, struct da_check *c);
bool vd_note_throttled(const struct vd_event *e, struct da_check *c);
bool vd_note_drops(const struct vd_event *e, struct da_check *c);
bool vd_note_kernel_loss(const struct vd_event *e, struct da_check *c);
bool vd_note_aux(const struct vd_event *e, struct da_check *c);
/* verdict_silence.c */
bool vd_note_silence(const struct vd_event *e, struct da_check *c);
/* Percent of reports that the report buffers lost, and of samples lost before us. */
double vd_drop_pct(const struct vd_event *e);
double vd_kernel_loss_pct(const struct vd_event *e);
double vd_valid_pct(const struct vd_event *e); /* 100 without samples */

#endif
