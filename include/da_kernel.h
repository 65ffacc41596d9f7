/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own pipeline, counted from the tracepoints of DAMON's perf series: damon_perf_sample (a callback),
 * damon_perf_report_missed (reports that got lost) and damon_perf_drain (a kdamond emptied the rings). Their layout
 * is not published: what a field means is taken from its name, and what no field names stays unknown.
 *
 * Sums saturate; every value may be hostile.
 */
#ifndef DA_KERNEL_H
#define DA_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_stage.h"
#include "da_tracepoint.h"

#define DA_KERNEL_MAX_CPUS 4096 /* with counters of their own; what is beyond is in the sums */

enum da_ktp { DA_KTP_SAMPLE, DA_KTP_MISSED, DA_KTP_DRAIN, DA_KTP_NR };

extern const char *const da_ktp_names[DA_KTP_NR]; /* without the system, which is damon */

struct da_kernel_cpu {
	uint32_t cpu;
	uint64_t samples, valid, missed;
	uint64_t fired;   /* sample records that this CPU wrote, whose CPU ever they name */
	uint64_t drained; /* of this CPU's ring, where the drains name it */
};

struct da_kernel {
	bool recorded[DA_KTP_NR]; /* it was listened to */
	uint64_t records[DA_KTP_NR];
	uint64_t bad; /* records that do not hold their fields, or a negative count */
	/* What the fields of the records so far name. */
	bool has_valid, has_cpu, has_drained, has_matched, has_updated, has_ring;
	uint64_t samples, valid, missed;
	uint64_t drained, matched, updated; /* sums over the drains */
	uint64_t first_ns, last_ns;         /* of the samples; 0: none has a time */
	uint64_t drain_ns, gap_ns; /* the last drain; the longest time between two of them */
	uint64_t after_drain;      /* samples since the last drain */
	/* The sampler, as the last sample that names it did. */
	char pmu[64];
	uint64_t config, period; /* 0: not named */
	int wakeup;              /* is wakeup_events set? -1 not named */
	bool precise;            /* precise_ip is set */
	uint64_t lost;           /* records that the recording lost: then the sums are too small */
	struct da_kernel_cpu *cpus; /* by number */
	size_t nr_cpus, room_cpus;
	uint64_t cpus_left_out; /* records of CPUs beyond the maximum */
	/* The same sampler from user space beside it (diagnose --kernel-vs-user). */
	struct {
		bool ran;
		char name[64];
		bool precise;     /* the PMU writes its samples by itself, many at a time */
		bool idle;        /* nothing was due: it says nothing of the PMU */
		uint64_t samples; /* callbacks */
	} user;
};

struct da_kernel *da_kernel_new(void); /* NULL: out of memory */
void da_kernel_free(struct da_kernel *k);
struct da_kernel *da_kernel_copy(const struct da_kernel *k); /* NULL: out of memory */

/* Which of the three this is; DA_KTP_NR: none. */
enum da_ktp da_ktp_of(const char *system, const char *name);

/* The raw bytes of a record, in order of time. cpu: the one that wrote it; time_ns 0: not known.
 * 0, -DA_EDAMAGED (counted), -DA_ENOMEM. */
int da_kernel_add(struct da_kernel *k, const struct da_tracepoint *tp, const uint8_t *raw,
		  size_t len, uint32_t cpu, uint64_t time_ns);

/* Where the reports that damon_perf_report_missed tells of were lost. */
enum da_kernel_missed { DA_KERNEL_MISSED_RING, DA_KERNEL_MISSED_MATCH };

/* The seven layers as far as the tracepoints tell. */
struct da_kernel_ledger {
	struct {
		bool in_known, out_known;
		uint64_t in, out;
	} layer[DA_STAGE_NR];
	enum da_kernel_missed missed_at;
	uint64_t overflow, miss; /* `missed` at its layer */
	uint64_t resident;       /* neither drained nor missed: inside at the end, or lost unseen */
	uint64_t earlier;        /* drained beyond what was sampled: inside at the start */
};

void da_kernel_ledger(const struct da_kernel *k, struct da_kernel_ledger *out);

/* An event (-e) that samples as the kernel's does; false: its records do not say. */
bool da_kernel_event(const struct da_kernel *k, char *buf, size_t size);

#endif
