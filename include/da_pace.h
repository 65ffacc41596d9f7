/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The adaptive period: when to sample less, or more again. A decision is made from what a round of the
 * recording saw; nothing is measured or set here.
 *
 * The period is stepped, never handed to the kernel's frequency mode: then each sample's period is known.
 */
#ifndef DA_PACE_H
#define DA_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define DA_PACE_ROUND_NS 100000000ull /* of a round, about */
#define DA_PACE_MAX      1024         /* times the period asked for, at most */

struct da_pace {
	double max_drop_pct; /* more than that of a round's reports dropped: step up */
	uint64_t first;      /* the period asked for: never below */
	uint64_t period;     /* now */
	unsigned calm;       /* rounds without a drop since the last step */
	unsigned wait;       /* calm rounds before a step down is tried */
	bool went_down;      /* the last step was down */
};

/* One round of one event, all CPUs. */
struct da_pace_seen {
	uint64_t offered;   /* reports */
	uint64_t dropped;   /* of these, by report buffers */
	uint64_t lost;      /* samples that the kernel lost */
	uint64_t throttled; /* times */
	bool busy;          /* its report buffer is filling */
};

enum da_pace_why { DA_PACE_STAY, DA_PACE_DROPS, DA_PACE_THROTTLE, DA_PACE_IDLE };

void da_pace_init(struct da_pace *a, uint64_t period, double max_drop_pct);
/* Percent of a round's reports and samples that were dropped or lost. */
double da_pace_drop_pct(const struct da_pace_seen *s);
/* Steps a->period if it must, and says why. */
enum da_pace_why da_pace_step(struct da_pace *a, const struct da_pace_seen *s);

#endif
