/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The adaptive period of a session (record --adapt): looks at the counters once a round, steps the periods
 * of the events, stores and says each step. When to step is pace.c's. All of it is the match thread's.
 *
 * The kernel steps the event that was opened, not the copies that threads and children of the target have
 * inherited from it before: those keep the period that they began with. Samples say whose they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_own_json.h"
#include "session_priv.h"

/* Sums over the CPUs of an event, as of the last round. */
struct totals {
	uint64_t offered, dropped, lost, throttled;
};

/* What was said of an event. */
struct said {
	uint64_t steps;
	char why[96];
};

struct s_adapt {
	uint64_t next_ns;
	struct da_pace *of; /* by event; period 0: not stepped */
	struct totals *last, *begin;
	struct said *said;
};

struct s_adapt *s_adapt_new(const struct da_session *s)
{
	struct s_adapt *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->of = calloc(s->nr_ev + 1, sizeof(*a->of));
	a->last = calloc(s->nr_ev + 1, sizeof(*a->last));
	a->begin = calloc(s->nr_ev + 1, sizeof(*a->begin));
	a->said = calloc(s->nr_ev + 1, sizeof(*a->said));
	if (!a->of || !a->last || !a->begin || !a->said) {
		s_adapt_free(a);
		return NULL;
	}
	for (size_t e = 0; e < s->nr_ev; e++)
		if (s->ev[e].period)
			da_pace_init(&a->of[e], s->ev[e].period, s->o.adapt_pct);
	return a;
}

void s_adapt_free(struct s_adapt *a)
{
	if (!a)
		return;
	free(a->of);
	free(a->last);
	free(a->begin);
	free(a->said);
	free(a);
}

void s_adapt_facts(const struct da_session *s, size_t ev, struct da_facts_event *f)
{
	const struct s_adapt *a = s->adapt;

	if (!a || !a->of[ev].period)
		return;
	f->effective_period = a->of[ev].period;
	f->period_steps = a->said[ev].steps;
	snprintf(f->last_step, sizeof(f->last_step), "%s", a->said[ev].why);
}

static uint64_t get(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* What a buffer overwrote counts for each of its events: all of them are to step. */
static struct totals totals_of(const struct da_session *s, size_t ev)
{
	const struct s_buffer *b = &s->buf[s->ev[ev].buf];
	struct totals t = {0};

	for (size_t c = 0; c < s->nr_cpus; c++) {
		const struct da_ledger *l = s->cpus[c].pairs[ev].lane;

		if (!l)
			continue;
		t.offered += get(&l->in[DA_STAGE_RING]);
		t.dropped += get(&l->drop[DA_DROP_OVERFLOW]) + get(&l->drop[DA_DROP_NESTED]);
	}
	t.dropped += da_rbuf_counts(b->reader).missed;
	for (size_t i = 0; i < s->nr_lanes; i++) {
		const struct s_lane *l = &s->lanes[i];

		t.lost += atomic_load_explicit(&l->lost_records, memory_order_relaxed) +
			  atomic_load_explicit(&l->lost_samples, memory_order_relaxed);
		t.throttled += atomic_load_explicit(&l->throttled, memory_order_relaxed);
	}
	return t;
}

static struct da_pace_seen since(const struct totals *now, const struct totals *before)
{
	return (struct da_pace_seen){.offered = now->offered - before->offered,
				     .dropped = now->dropped - before->dropped,
				     .lost = now->lost - before->lost,
				     .throttled = now->throttled - before->throttled};
}

static bool is_busy(const struct da_session *s, size_t ev)
{
	const struct s_buffer *b = &s->buf[s->ev[ev].buf];

	for (size_t ring = 0; ring < da_rbuf_rings(b->b); ring++)
		if (da_rbuf_occupancy(b->reader, ring) > da_rbuf_slots(b->b) / 4)
			return true;
	return false;
}

static void set_period(struct da_session *s, size_t ev, uint64_t period)
{
	struct s_event *e = &s->ev[ev];

	if (e->fake) {
		atomic_store_explicit(&e->fake_scale, period / e->period, memory_order_relaxed);
		return;
	}
	for (size_t c = 0; c < s->nr_cpus; c++) {
		struct s_pair *p = &s->cpus[c].pairs[ev];

		if (s->cpus[c].evt && p->idx >= 0 && p->bound)
			evt_set_period(s->cpus[c].evt, p->idx, period);
	}
}

void s_adapt_again(struct da_session *s)
{
	for (size_t e = 0; s->adapt && e < s->nr_ev; e++)
		if (s->adapt->said[e].steps && !s->ev[e].fake)
			set_period(s, e, s->adapt->of[e].period);
}

static void tell(struct da_session *s, size_t ev, uint64_t from, uint64_t to, const char *why)
{
	struct da_own_step step = {
		.event = (uint32_t)ev, .time_ns = s_now_ns(s), .from = from, .to = to};
	char text[256];

	snprintf(step.why, sizeof(step.why), "%s", why);
	s_store_text(s, DA_OWN_STEP, da_own_step_text(&step));
	if (!s->o.message)
		return;
	if (from == to)
		snprintf(text, sizeof(text), "period of %.64s at the end %" PRIu64 ": %s",
			 s->ev[ev].spec.name, to, why);
	else
		snprintf(text, sizeof(text), "period of %.64s %" PRIu64 " -> %" PRIu64 ": %s",
			 s->ev[ev].spec.name, from, to, why);
	s->o.message(s->o.message_ctx, 2, text); /* always: each step is to be seen */
}

static void one_event(struct da_session *s, size_t ev)
{
	struct s_adapt *a = s->adapt;
	struct da_pace *of = &a->of[ev];
	struct totals now = totals_of(s, ev);
	struct da_pace_seen seen = since(&now, &a->last[ev]);
	uint64_t before = of->period;
	char why[96];

	a->last[ev] = now;
	seen.busy = is_busy(s, ev);
	switch (da_pace_step(of, &seen)) {
	case DA_PACE_DROPS:
		snprintf(why, sizeof(why), "%.1f %% dropped or lost", da_pace_drop_pct(&seen));
		break;
	case DA_PACE_THROTTLE:
		snprintf(why, sizeof(why), "the kernel throttled it %" PRIu64 " times",
			 seen.throttled);
		break;
	case DA_PACE_IDLE:
		snprintf(why, sizeof(why), "nothing dropped for %.1f s",
			 (double)of->wait * (double)DA_PACE_ROUND_NS / 1e9);
		break;
	default:
		return;
	}
	pthread_mutex_lock(&s->evt_lock);
	set_period(s, ev, of->period);
	pthread_mutex_unlock(&s->evt_lock);
	a->said[ev].steps++;
	snprintf(a->said[ev].why, sizeof(a->said[ev].why), "%s", why);
	if (of->period > before) /* trying to go down again is part of what it has settled at */
		a->begin[ev] = now;
	tell(s, ev, before, of->period, why);
}

void s_adapt_turn(struct da_session *s)
{
	struct s_adapt *a = s->adapt;
	uint64_t now = s_now_ns(s);

	if (!a || now < a->next_ns || !atomic_load(&s->events_on))
		return;
	a->next_ns = now + DA_PACE_ROUND_NS;
	for (size_t e = 0; e < s->nr_ev; e++)
		if (a->of[e].period)
			one_event(s, e);
}

void s_adapt_end(struct da_session *s)
{
	struct s_adapt *a = s->adapt;

	for (size_t e = 0; a && e < s->nr_ev; e++) {
		struct totals now;
		struct da_pace_seen seen;
		char why[96];

		if (!a->of[e].period)
			continue;
		now = totals_of(s, e);
		seen = since(&now, &a->begin[e]);
		snprintf(why, sizeof(why), "%.1f %% dropped or lost since it last went up",
			 da_pace_drop_pct(&seen));
		tell(s, e, a->of[e].period, a->of[e].period, why);
	}
}
