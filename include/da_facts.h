/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts: everything that the judge may look at, as plain values. Gathered by src/facts.c (machine),
 * filled by the session (run) or from a recording. The judge (da_verdict.h) reads nothing else.
 *
 * Numbers are -1 when not measured (signed fields); counters of absent layers are marked by `measured`.
 */
#ifndef DA_FACTS_H
#define DA_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_kernel.h"
#include "da_pmu.h"
#include "da_stage.h"

struct da_facts_open_error {
	uint32_t cpu;
	int sys;       /* errno */
	char what[96]; /* "perf_event_open", "mmap", "ioctl ENABLE" */
};

struct da_facts_cpu { /* one event on one CPU */
	uint32_t cpu;
	enum da_state state;
	struct da_ledger ledger;
	int64_t count;                  /* the event's value, -1 not read */
	int64_t lost;                   /* read_format LOST, -1 not available */
	int64_t enabled_ns, running_ns; /* -1 not read */
	bool target_absent;             /* per-task event on a CPU that the task never visited */
	/* It stopped while a reference went on: samples that were due since; 0: it did not, or not known. */
	uint64_t silent_due, silent_since_ns; /* since: after the start of the run */
	uint64_t silent_ref;                  /* enum da_silent_ref */
	/* hotplug: how often the CPU went and its events were opened anew, and how long it was away in all */
	uint64_t went_offline, came_back, away_ns;
};

/* What went on when a sampler stopped. */
enum da_silent_ref { DA_SILENT_COUNTER, DA_SILENT_EVENTS, DA_SILENT_CPUS };

struct da_facts_event {
	char name[64];
	enum da_producer producer;
	struct da_attr attr; /* as opened */
	char dropped_bits
		[128]; /* optional attr bits that the kernel refused, comma-separated; "" none */
	uint64_t effective_period; /* 0: frequency mode; of an adaptive period the last one */
	uint64_t period_steps;     /* of an adaptive period */
	char last_step[128];       /* why it was stepped last */
	bool needs_aux;            /* its samples come through AUX only */
	bool aux;                  /* AUX was mapped */
	struct da_facts_cpu *cpus;
	size_t nr_cpus;
	struct da_facts_open_error errors[8];
	size_t nr_errors; /* kept ones; all are in the ledger */
};

struct da_facts_buffer { /* one report buffer */
	char name[32];
	int32_t cpu; /* -1 global */
	uint64_t slots, peak, enqueue, overflow;
	uint32_t source_cpus; /* distinct CPUs whose reports were offered */
};

enum da_target {
	DA_TARGET_COMMAND,
	DA_TARGET_PID,
	DA_TARGET_TID,
	DA_TARGET_SYSTEM,
	DA_TARGET_NONE
};

struct da_facts {
	bool live;     /* from a run of this process; false: from a file */
	bool own_file; /* the file has our records; false: foreign, run layers not recorded */
	/* machine */
	bool machine_known; /* da_facts_machine() ran, here or when the file was recorded */
	char kernel[128];
	char cpu[128];
	int paranoid; /* perf_event_paranoid, -1..4; INT_MIN unknown */
	bool cap_perfmon, cap_sys_admin, root;
	int seccomp; /* /proc/self/status Seccomp; -1 unknown */
	bool hypervisor;
	bool kpti;
	int64_t max_sample_rate_before, max_sample_rate_after;
	int64_t mlock_kb;   /* perf_event_mlock_kb */
	int64_t memlock_kb; /* RLIMIT_MEMLOCK; INT64_MAX unlimited */
	int64_t fd_limit, fd_used;
	uint32_t online_cpus;
	char pmus[512]; /* space-separated names in sysfs */
	/* run */
	enum da_target target;
	bool perf_event_open_works;       /* the system call exists and is not filtered */
	bool target_ok;                   /* the target existed when the events were opened */
	bool clock_ok;                    /* recording clock readable from user space */
	bool counters_zero, no_old_state; /* guard checks at session start */
	bool unit_held;                   /* another event holds the unit */
	char target_text[128];
	struct da_facts_event *events;
	size_t nr_events;
	struct da_facts_buffer *buffers;
	size_t nr_buffers;
	uint32_t mmap_pages, mmap_pages_wanted; /* data pages of each kernel ring; 0 unknown */
	uint64_t duration_ns;
	/* loss before us (ring.kernel): different units, never added */
	int64_t lost_counter, lost_records, lost_samples, throttled, aux_truncated, aux_collisions,
		aux_off_ns;
	int64_t pending_at_stop; /* lost_counter - lost_records */
	/* drops of the report buffers, when an experiment named their cause (da_lab.h); "" none did */
	char drops_cause[32], drops_evidence[256], drops_advice[256];
	/* teardown */
	bool disabled_before_drain, released_all, aux_before_event;
	/* the kernel's own pipeline, beside ours; NULL: not seen */
	struct da_kernel *damon;
	char damon_note[128]; /* of a run: why it was not seen */
	int command_status;   /* wait(2) status; -1 none */
	char end_reason[32];  /* "exit", "duration", "signal", "" not ended */
	/* The recording is the n-th file of a run, from 1 (0: the only one), and not its last. Counters are of the
	 * run, up to the end of the file. */
	uint64_t piece;
	bool goes_on;
	char error[256]; /* what stopped create, bind or enable; "" nothing did */
	int error_sys;   /* its errno; 0 none, or from a file */
};

/* An empty *f: everything that can be unknown is. */
void da_facts_init(struct da_facts *f);
/* Machine facts; never fails (unknown stays unknown). Both sample rates are set to the present one: the
 * session keeps the one from before its run. */
void da_facts_machine(struct da_facts *f);
/* kernel.perf_event_max_sample_rate now, -1 unknown. */
int64_t da_facts_sample_rate(void);
/* Frees events and buffers, zeroes *f. */
void da_facts_release(struct da_facts *f);

#endif
