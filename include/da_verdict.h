/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The judge: facts to checks, layers and a verdict. Pure: no I/O, no clock.
 */
#ifndef DA_VERDICT_H
#define DA_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_facts.h"

enum da_result { DA_PASS, DA_FAIL, DA_SKIP, DA_UNKNOWN, DA_RESULT_NR };

enum da_level {
	DA_LEVEL_FULL,     /* FULLY INTEGRATED, exit 0 */
	DA_LEVEL_PLUMBING, /* PLUMBING-ONLY, 10 */
	DA_LEVEL_UNUSABLE, /* UNUSABLE, 11 */
	DA_LEVEL_BROKEN,   /* BROKEN AT layer, 12 */
	DA_LEVEL_UNKNOWN,  /* UNKNOWN, 13 */
	DA_LEVEL_NR
};

struct da_cause {
	char id[32];
	char evidence[256];
	char fix[256]; /* the command that mends it */
};

struct da_check {
	char id[48]; /* stable, "enable.state" */
	char group
		[16]; /* environment guard create bind enable teardown sample ring match update kernel */
	enum da_result result;
	char title[96];
	char evidence[256];
	struct da_cause causes[3];
	size_t nr_causes;
	bool note; /* a further check: shown, not in the tallies; title is the short note */
};

/* One event, judged alone. */
struct da_event_verdict {
	char name[64];
	uint32_t id; /* its index in the facts */
	bool kernel; /* it is the kernel's own pipeline, and no event of the facts */
	enum da_level level;
	enum da_stage broken_at; /* valid with DA_LEVEL_BROKEN */
	enum da_result layer[DA_STAGE_NR];
	struct da_check *checks; /* in the order of the groups, a group's notes behind its checks */
	size_t nr_checks;
	unsigned passed, failed, skipped, unknown;
};

/* The kernel's own pipeline is the last entry of `events`, if there is one; it decides only where no event of ours
 * ran, or where it was compared with ours.
 * The overall verdict is that of one event, the worst (or best) of them: level, layers, checks and
 * tallies are all that event's, so that they cannot contradict each other. */
struct da_verdict {
	enum da_level level;
	enum da_stage broken_at; /* valid with DA_LEVEL_BROKEN */
	enum da_result layer[DA_STAGE_NR];
	const struct da_check *checks; /* those of events[decider] */
	size_t nr_checks;
	unsigned passed, failed, skipped, unknown;
	size_t decider;
	char notes[8][256];
	size_t nr_notes;
	struct da_event_verdict *events;
	size_t nr_events;
	int exit_status;    /* 0, 10..14 */
	bool ring_recorded; /* create, bind, enable, ring were measured */
};

struct da_verdict_opts {
	double max_drop_pct;   /* < 0: none */
	double min_valid_pct;  /* < 0: none */
	bool require_plumbing; /* --require=plumbing turns 10 into 0 */
	bool any;              /* overall verdict is the best event's, not the worst's */
};

/* Judges. 0 or -DA_ENOMEM; release with da_verdict_release(). */
int da_verdict_judge(const struct da_facts *f, const struct da_verdict_opts *o,
		     struct da_verdict *out);
void da_verdict_release(struct da_verdict *v);
const char *da_level_name(enum da_level l);
const char *da_result_name(enum da_result r); /* "PASS" */
/* Result of all checks of a group (notes do not count): FAIL if one failed, else PASS if one passed. */
enum da_result da_group_result(const struct da_check *c, size_t nr, const char *group);
/* "BROKEN AT match", "FULLY INTEGRATED". */
void da_level_text(enum da_level l, enum da_stage broken_at, char *buf, size_t size);

#endif
