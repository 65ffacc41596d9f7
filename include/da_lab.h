/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue lab: how report buffers of other sizes and rules would have fared with the arrivals of a recording.
 *
 * A model is one way to carry reports from the CPUs to the reader. All models see the same arrivals, in order
 * of time, in one pass; none stores them. It is a simulation of the queue alone: a reader that is slowed by
 * the rest of the machine shows as its cost.
 */
#ifndef DA_LAB_H
#define DA_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DA_LAB_MAX_CPUS 4096 /* arrivals of CPUs beyond this share the last buffer */
#define DA_LAB_CPU_NS   100  /* a reader's time for a report when nothing else is said */

struct da_lab_model {
	bool single; /* one buffer for all CPUs; else one a CPU */
	bool latest; /* keep=latest: a full buffer loses its oldest report; else the new one */
	bool half;   /* the reader also wakes when a buffer is half full */
	uint32_t
		thin; /* every thin-th report of a CPU arrives: a period thin times as long; 0 is 1 */
	uint64_t slots;
	uint64_t
		publish_ns; /* what was sampled is published in this rhythm, as a drain does; 0: at once */
	uint64_t look_ns; /* the reader looks at the buffers in this rhythm; at least 1 */
	uint64_t wake_ns; /* from its wake-up to its first report */
	uint64_t cost_ns; /* its time for a report */
	uint64_t
		write_ns; /* a report of the same CPU within this time interrupts its writer: nested */
};

struct da_lab_result { /* offered = enqueue + overflow + nested; enqueue = dequeue + overwritten */
	uint64_t offered, enqueue, dequeue, overflow, overwritten, nested;
	uint64_t peak;    /* greatest number of reports in one buffer */
	uint32_t buffers; /* that were offered something */
	uint32_t full;    /* of these, that reached their size */
	uint64_t wait_ns; /* the longest time between two looks at reports that waited */
};

struct da_lab;

/* NULL: out of memory. */
struct da_lab *da_lab_new(void);
/* Before the first arrival. Index of the model, or -DA_ENOMEM. slots 0 and look_ns 0 count as 1. */
int da_lab_add(struct da_lab *lab, const struct da_lab_model *m);
/* One report. Times of an earlier one than the last count as the last. 0 or -DA_ENOMEM. */
int da_lab_arrive(struct da_lab *lab, uint64_t time_ns, uint32_t cpu);
/* The readers take what is left. Once. */
void da_lab_finish(struct da_lab *lab);
size_t da_lab_models(const struct da_lab *lab);
const struct da_lab_model *da_lab_model(const struct da_lab *lab, size_t i);
/* Valid after da_lab_finish(). */
struct da_lab_result da_lab_result(const struct da_lab *lab, size_t i);
uint32_t da_lab_cpus(const struct da_lab *lab); /* distinct CPUs seen */
uint64_t da_lab_span_ns(const struct da_lab *lab);
uint64_t da_lab_dropped(const struct da_lab_result *r); /* overflow + overwritten + nested */
void da_lab_free(struct da_lab *lab);                   /* NULL allowed */

/* ---- which models are worth a look, and what they say ---- */

/* What the recording itself used, as far as it says so; the first model of a plan. */
struct da_lab_base {
	struct da_lab_model model;
	bool recorded;    /* from the recording; else the defaults of record */
	int64_t dropped;  /* by its own ledger; -1 not recorded */
	uint64_t regions; /* matched against; for the cost of a linear walk */
};

enum da_lab_part { /* what a model of the plan varies */
		   DA_LAB_BASE,
		   DA_LAB_DRAIN,
		   DA_LAB_SLOTS,
		   DA_LAB_KEEP,
		   DA_LAB_NESTING,
		   DA_LAB_DECODE,
		   DA_LAB_LOOKUP,
		   DA_LAB_PERIOD,
		   DA_LAB_READER, /* a reader that takes no time: is it the reader that is slow? */
		   DA_LAB_USER,   /* asked for by the user */
		   DA_LAB_PART_NR
};

struct da_lab_plan {
	struct da_lab *lab;
	struct da_lab_base base;
	enum da_lab_part *part; /* of each model */
	char (*label)[48];      /* what it varies, in words */
	size_t nr;
	/* the conclusion, filled by da_lab_plan_conclude() */
	char cause
		[32]; /* fan_in, slow_consumer, report_buffer_small; "" nothing dropped or none found */
	char evidence[256];
	char advice
		[256]; /* what would bring the drops to 0; "" nothing does or nothing is dropped */
	bool fits; /* the base model drops what the ledger says, within a tenth of what was offered */
};

/* How fast was the reader? Adds candidates to an empty lab; after their pass da_lab_choose() gives the base the
 * one whose drops are nearest to those of the ledger. Only where these are known. 0 or -DA_ENOMEM. */
int da_lab_candidates(struct da_lab *lab, const struct da_lab_base *b);
void da_lab_choose(const struct da_lab *lab, struct da_lab_base *b);

/* 0 or -DA_ENOMEM; release what it holds in either case. */
int da_lab_plan(struct da_lab_plan *p, const struct da_lab_base *base);
/* One model more, before the first arrival. */
int da_lab_plan_add(struct da_lab_plan *p, const struct da_lab_model *m, enum da_lab_part part,
		    const char *label);
/* After da_lab_finish(). Names a cause only where the experiment shows it: the model without it drops at
 * most a tenth. */
void da_lab_plan_conclude(struct da_lab_plan *p);
void da_lab_plan_release(struct da_lab_plan *p);

#endif
