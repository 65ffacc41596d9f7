/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The adaptive period (da_pace.h): up at once, by as much as the drops call for; down slowly, and ever more
 * slowly where going down brought the drops back.
 */
#include "da_pace.h"

#include <string.h>

#define WAIT_FIRST 20  /* rounds: 2 s */
#define WAIT_MAX   600 /* 1 min */

void da_pace_init(struct da_pace *a, uint64_t period, double max_drop_pct)
{
	memset(a, 0, sizeof(*a));
	a->max_drop_pct = max_drop_pct;
	a->first = a->period = period ? period : 1;
	a->wait = WAIT_FIRST;
}

double da_pace_drop_pct(const struct da_pace_seen *s)
{
	double all = (double)s->offered + (double)s->lost;

	return all > 0 ? 100.0 * ((double)s->dropped + (double)s->lost) / all : 0;
}

static uint64_t times(const struct da_pace *a, uint64_t factor)
{
	uint64_t limit, p;

	if (__builtin_mul_overflow(a->first, (uint64_t)DA_PACE_MAX, &limit))
		limit = UINT64_MAX >> 1;
	if (__builtin_mul_overflow(a->period, factor, &p) || p > limit)
		p = limit;
	return p > a->period ? p : a->period;
}

/* What passes is what would have passed at 1 / (1 - drops) of the period: the next power of two. */
static uint64_t factor_of(double drop_pct)
{
	uint64_t f = 2;

	while (f < 16 && 100.0 / (double)f > 100.0 - drop_pct)
		f *= 2;
	return f;
}

enum da_pace_why da_pace_step(struct da_pace *a, const struct da_pace_seen *s)
{
	double drops = da_pace_drop_pct(s);
	bool many = drops > a->max_drop_pct;
	uint64_t before = a->period;

	if (many || s->throttled) {
		a->calm = 0;
		if (a->went_down) /* that was too early */
			a->wait = a->wait * 2 < WAIT_MAX ? a->wait * 2 : WAIT_MAX;
		a->went_down = false;
		a->period = times(a, many ? factor_of(drops) : 2);
		if (a->period == before)
			return DA_PACE_STAY;
		return many ? DA_PACE_DROPS : DA_PACE_THROTTLE;
	}
	if (s->dropped || s->lost || s->busy) {
		a->calm = 0;
		return DA_PACE_STAY;
	}
	if (a->period == a->first || ++a->calm < a->wait)
		return DA_PACE_STAY;
	a->calm = 0;
	a->went_down = true;
	a->period = a->period / 2 > a->first ? a->period / 2 : a->first;
	return DA_PACE_IDLE;
}
