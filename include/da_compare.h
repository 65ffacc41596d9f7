/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two runs side by side: what got better, what got worse, and what only looks so.
 *
 * Shares are compared and counts are shown: two runs seldom last equally long. A share counts as changed if the
 * difference is beyond the 95 % interval of two such samples and at least one percentage point.
 */
#ifndef DA_COMPARE_H
#define DA_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "da_error.h"
#include "da_facts.h"
#include "da_json.h"
#include "da_stage.h"
#include "da_verdict.h"

struct da_compare_side {
	char name[128]; /* a file, "this run" */
	char verdict[64];
	enum da_level level;
	struct da_counters n;
	bool ring;    /* reports, enqueue, dequeue, overflow were measured */
	int64_t lost; /* samples lost in the kernel, by the best account there is; -1 not measured */
};

enum da_change { DA_CHANGE_NONE, DA_CHANGE_BETTER, DA_CHANGE_WORSE, DA_CHANGE_UNKNOWN };

enum da_share { DA_SHARE_VALID, DA_SHARE_DROPPED, DA_SHARE_LOST, DA_SHARE_MATCHED, DA_SHARE_NR };

struct da_compare_share {
	uint64_t part[2], whole[2]; /* [0] the baseline, [1] now; whole 0: not measured */
	enum da_change change;
};

struct da_compare {
	struct da_compare_side side[2];
	struct da_compare_share share[DA_SHARE_NR];
	enum da_change verdict;
	bool better, worse; /* anything is */
};

/* A side from a run that was judged. */
void da_compare_take(struct da_compare_side *s, const char *name, const struct da_facts *f,
		     const struct da_verdict *v);
/* A side from what `diagnose --format=json` wrote. 0, or -DA_EFORMAT if the text is no such thing. */
int da_compare_parse(struct da_compare_side *s, const char *name, const char *text, size_t len);
/* Fills everything but the sides. */
void da_compare(struct da_compare *c);
const char *da_share_name(enum da_share s);                             /* "valid of callbacks" */
const char *da_change_name(enum da_change c);                           /* "better" */
double da_compare_pct(const struct da_compare_share *s, unsigned side); /* NaN: not measured */

void da_render_compare_text(FILE *f, const struct da_compare *c);
/* The member "baseline" of an open object. */
void da_render_compare_json(struct da_json_out *w, const struct da_compare *c);

#endif
