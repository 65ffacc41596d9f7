/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event specifications (-e) to attributes, and what this machine offers.
 *
 * Grammar as perf's: events separated by commas outside slashes; NAME[/terms/][:modifiers],
 * PMU/term=value,.../mods, rNNN, system:tracepoint. Options inside slashes: PMU format terms, period=,
 * freq=, name=, buffer=. Modifiers u k h p P.
 */
#ifndef DA_PMU_H
#define DA_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_error.h"
#include "da_perfdata.h"

enum da_producer {
	DA_PROD_REGS,  /* clock or cycles: address from instruction and registers */
	DA_PROD_FAULT, /* software fault: perf's ADDR is the fault address */
	DA_PROD_ADDR, /* precise event whose ADDR field is the data address (PEBS, IBS through perf) */
	DA_PROD_IBS_OP, /* IBS op registers in RAW */
	DA_PROD_IBS_FETCH,
	DA_PROD_SPE,      /* Arm SPE in AUX */
	DA_PROD_PEBS_RAW, /* PEBS records of a DS area; in a recording they are samples: ADDR */
	DA_PROD_TRACEPOINT,
	DA_PROD_FAKE,
	DA_PROD_NONE, /* counts as a sampler, carries no address: plumbing only */
	DA_PROD_NR
};
const char *da_producer_name(enum da_producer p);

struct da_spec {
	char name[64];  /* as shown: "cpu-clock:u", or name= */
	char text[128]; /* as typed */
	struct da_attr
		attr; /* type, config*, period/freq, exclude bits, precise; sample_type left to record */
	enum da_producer producer;
	bool has_period;   /* given with period= or freq= inside the slashes */
	bool has_modifier; /* u/k given: no default exclusion applies */
	bool system;       /* of all tasks, whatever the target is: set by the caller */
	char buffer[32];   /* buffer=, "" default */
	uint64_t
		exclude_config; /* bits of config without which the PMU cannot leave the kernel out */
	char cpus[128];         /* CPUs that the PMU is on (a list), "" all */
	bool has_leader; /* it opens only in the group of this event, which gives no samples */
	struct da_attr leader;
	uint64_t min_period; /* the PMU raises smaller ones; 0 unknown */
	/* fake, and spe/simulate/: */
	char fake[256]; /* the terms as typed, for the generator (da_fake.h) */
	/* spe/simulate/ only: no PMU, a thread plays one (doc/damon-attrs-record.1) */
	bool simulate, sim_split;
	uint64_t sim_collide, sim_cut;
};

/* Parses one or several events. On success *out is malloc'ed (caller frees) with *nr entries.
 * -DA_EUSAGE: syntax or unknown name (message names the nearest known one); -DA_ENOENT: a known name
 * whose PMU this machine lacks (message says why and names an alternative). "auto" resolves here: the
 * choice and the reasons against better ones go to `why` (one line each, '\n'-separated; may be NULL). */
int da_spec_parse(const char *text, struct da_spec **out, size_t *nr, char *why, size_t why_size,
		  struct da_error *err);

/* What producer an event of a file is, from its attr and PMU name (NULL unknown). */
enum da_producer da_producer_of(const struct da_attr *a, const char *event_name,
				const char *pmu_name);

/* Why an ordinary user gets no IBS from an older kernel. */
#define DA_IBS_NO_EXCLUDE                                                                          \
	"IBS cannot leave the kernel out before Linux 6.14, and seeing it needs CAP_PERFMON or "   \
	"kernel.perf_event_paranoid <= 1"

bool da_attr_is_clock(const struct da_attr *a); /* cpu-clock, task-clock */

/* Unit of an event's period, for output: "ns", "cycles", "faults", "events". */
const char *da_event_unit(const struct da_attr *a);

#endif
