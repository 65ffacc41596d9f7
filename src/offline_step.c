/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of an adaptive period (DA_OWN_STEP): which period held for a sample when it was taken.
 *
 * The kernel steps an event, not the copies of it that threads have inherited before; of those, and of
 * hardware events, the sample's own PERIOD is right. Of a clock that was stepped the kernel goes on writing
 * the period that it was opened with: there the steps are.
 */
#include <stdlib.h>

#include "offline_priv.h"

#define MAX_STEPS 65536

void step_record(struct da_offline *o, const struct da_own_step *step)
{
	struct da_offline_result *r = &o->res;

	if (step->event >= MAX_STEPS || r->nr_steps == MAX_STEPS)
		return;
	if (r->nr_steps == o->room_steps) {
		size_t room = o->room_steps ? o->room_steps * 2 : 16;
		struct da_own_step *grown = reallocarray(r->steps, room, sizeof(*grown));

		if (!grown) {
			o->no_memory = true;
			return;
		}
		r->steps = grown;
		o->room_steps = room;
	}
	r->steps[r->nr_steps++] = *step;
}

uint64_t step_period(void *offline, uint32_t event, const struct da_samp *s)
{
	const struct da_offline *o = offline;
	const struct da_offline_result *r = &o->res;
	uint64_t period = s->period;

	if (!(s->mask & DA_SAMPLE_TIME) || !(s->mask & DA_SAMPLE_STREAM_ID) ||
	    s->stream_id != s->id)
		return period; /* of an inherited copy */
	for (size_t i = 0; i < r->nr_steps && r->steps[i].time_ns <= s->time_ns; i++)
		if (r->steps[i].event == event)
			period = r->steps[i].to;
	return period;
}

static int by_time(const void *a, const void *b)
{
	const struct da_own_step *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

void steps_end(struct da_offline *o)
{
	if (o->res.nr_steps)
		qsort(o->res.steps, o->res.nr_steps, sizeof(*o->res.steps), by_time);
}
