/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums and facts of a session: ledgers that fit together while the threads run, and everything measured
 * once it has stopped. It changes nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session_aux.h"

void s_match_snapshot(struct da_session *s, struct da_ledger *out)
{
	size_t nr = s->nr_buf * s->nr_lanes;
	uint64_t *missed;
	bool any = false;

	if (!s->match_snap)
		return; /* it never came so far */
	pthread_mutex_lock(&s->match_lock);
	memcpy(out, s->match_snap, s->nr_cpus * s->nr_ev * sizeof(*out));
	for (size_t i = 0; s->missed && i < nr; i++)
		any |= s->missed[i] != 0;
	missed = any ? malloc(nr * sizeof(*missed)) : NULL;
	if (missed)
		memcpy(missed, s->missed, nr * sizeof(*missed));
	pthread_mutex_unlock(&s->match_lock);
	if (missed)
		s_buffers_overwritten(s, out, missed);
	free(missed);
}

static const struct s_lane *lane_of(const struct da_session *s, size_t cpu)
{
	return &s->lanes[s->o.drain == DA_DRAIN_SINGLE ? 0 : cpu];
}

/* Counter by counter, because the lane's thread may be writing; retried until no record was under way. */
static void copy_lane(const struct s_lane *l, const struct da_ledger *from, struct da_ledger *to)
{
	const uint64_t *src = (const uint64_t *)from;
	uint64_t *dst = (uint64_t *)to;

	for (;;) {
		uint64_t seq = atomic_load_explicit(&l->seq, memory_order_acquire);

		for (size_t i = 0; i < sizeof(*to) / sizeof(uint64_t); i++)
			dst[i] = __atomic_load_n(&src[i], __ATOMIC_RELAXED);
		atomic_thread_fence(memory_order_acquire);
		if (!(seq & 1) && atomic_load_explicit(&l->seq, memory_order_relaxed) == seq)
			return;
	}
}

/* match_snap must have been taken before: then whatever was dequeued is in the lane's ring counts too. */
void s_pair_ledger(struct da_session *s, const struct da_ledger *match_snap, size_t cpu, size_t ev,
		   struct da_ledger *out)
{
	const struct s_pair *p = &s->cpus[cpu].pairs[ev];
	struct da_ledger lane = {0};
	const struct da_ledger *m = &match_snap[cpu * s->nr_ev + ev];

	*out = p->life;
	if (!p->lane)
		return;
	copy_lane(lane_of(s, cpu), p->lane, &lane);
	da_ledger_add(out, &lane);
	da_ledger_add(out, m);
	out->out[DA_STAGE_RING] = m->in[DA_STAGE_MATCH];
	out->drop[DA_DROP_RESIDENT] = out->in[DA_STAGE_RING] - out->drop[DA_DROP_OVERFLOW] -
				      out->drop[DA_DROP_OVERWRITTEN] - out->drop[DA_DROP_NESTED] -
				      out->out[DA_STAGE_RING];
}

static enum da_state pair_state(const struct da_session *s, size_t cpu, size_t ev,
				const struct da_ledger *l)
{
	const struct s_pair *p = &s->cpus[cpu].pairs[ev];

	if (l->in[DA_STAGE_SAMPLE])
		return DA_STATE_RUNNING;
	/* the ledger remembers what a CPU reached before it went offline */
	if (p->enabled || l->out[DA_STAGE_ENABLE])
		return DA_STATE_ENABLED;
	if (p->bound || l->out[DA_STAGE_BIND])
		return DA_STATE_BOUND;
	return l->out[DA_STAGE_CREATE] ? DA_STATE_CREATED : DA_STATE_NONE;
}

static uint64_t away_ns(const struct da_session *s, const struct s_cpu *c)
{
	uint64_t now = s->stop_ns ? s->stop_ns : s_now_ns(s);

	return c->hot.away_ns + (c->hot.away && now > c->hot.went_ns ? now - c->hot.went_ns : 0);
}

void s_pair_facts(struct da_session *s, const struct da_ledger *snap, size_t cpu, size_t ev,
		  struct da_facts_cpu *out)
{
	const struct s_pair *p = &s->cpus[cpu].pairs[ev];

	out->cpu = (uint32_t)s->cpus[cpu].cpu;
	out->went_offline = s->cpus[cpu].hot.went;
	out->came_back = s->cpus[cpu].hot.came;
	out->away_ns = away_ns(s, &s->cpus[cpu]);
	s_pair_ledger(s, snap, cpu, ev, &out->ledger);
	out->state = pair_state(s, cpu, ev, &out->ledger);
	out->count = p->counted ? (int64_t)p->count.value : -1;
	out->lost = p->counted && p->count.has_lost ? (int64_t)p->count.lost : -1;
	out->enabled_ns = p->counted ? (int64_t)p->count.enabled_ns : -1;
	out->running_ns = p->counted ? (int64_t)p->count.running_ns : -1;
	out->target_absent = s->o.target != DA_TARGET_SYSTEM && p->counted &&
			     !p->count.running_ns && !p->count.value;
	/* at the end, when all has been counted; in a file of many as well as it can be told until then */
	if (s->piece || (s->stop_ns && !s->match_started))
		s_silence_facts(s, cpu, ev, out);
}

struct da_ledger da_session_ledger(const struct da_session *cs)
{
	struct da_session *s = (struct da_session *)(uintptr_t)cs; /* its locks are taken */
	struct da_ledger sum = {0}, one;
	struct da_ledger *snap;

	if (!s->match_snap)
		return sum;
	snap = calloc(s->nr_cpus * s->nr_ev + 1, sizeof(*snap));
	if (!snap)
		return sum;
	s_match_snapshot(s, snap);
	for (size_t c = 0; c < s->nr_cpus; c++) {
		for (size_t e = 0; e < s->nr_ev; e++) {
			s_pair_ledger(s, snap, c, e, &one);
			da_ledger_add(&sum, &one);
		}
	}
	free(snap);
	return sum;
}

uint64_t da_session_samples(const struct da_session *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->nr_lanes; i++)
		n += atomic_load_explicit(&s->lanes[i].samples, memory_order_relaxed);
	return n;
}

size_t da_session_nr_cpus(const struct da_session *s)
{
	return s->nr_cpus;
}

uint64_t da_session_cpu_samples(const struct da_session *s, size_t i, uint32_t *cpu)
{
	uint64_t n = 0;

	*cpu = (uint32_t)s->cpus[i].cpu;
	for (size_t e = 0; e < s->nr_ev; e++) {
		const struct s_pair *p = &s->cpus[i].pairs[e];

		if (p->lane)
			n += __atomic_load_n(&p->lane->in[DA_STAGE_SAMPLE], __ATOMIC_RELAXED);
	}
	return n;
}

/* Loss before us. The counter is known only after the events were disabled and read. */
void s_loss(struct da_session *s, struct da_facts *f)
{
	bool all = s->created;
	uint64_t lost = 0;

	f->lost_records = f->lost_samples = f->throttled = 0;
	for (size_t i = 0; i < s->nr_lanes; i++) {
		f->lost_records += (int64_t)atomic_load(&s->lanes[i].lost_records);
		f->lost_samples += (int64_t)atomic_load(&s->lanes[i].lost_samples);
		f->throttled += (int64_t)atomic_load(&s->lanes[i].throttled);
	}
	for (size_t c = 0; c < s->nr_cpus; c++) {
		for (size_t e = 0; e < s->nr_ev; e++) {
			const struct s_pair *p = &s->cpus[c].pairs[e];

			if ((!p->bound && !p->counted) || s->ev[e].fake)
				continue;
			all &= p->counted && p->count.has_lost;
			lost += p->count.lost;
		}
	}
	f->lost_counter = all ? (int64_t)lost : -1;
	f->pending_at_stop =
		all && f->lost_counter >= f->lost_records ? f->lost_counter - f->lost_records : -1;
	s_aux_loss(s, f);
}

static int event_facts(struct da_session *s, const struct da_ledger *snap, size_t e,
		       struct da_facts_event *f)
{
	const struct s_event *ev = &s->ev[e];

	snprintf(f->name, sizeof(f->name), "%s", ev->spec.name);
	f->producer = ev->spec.producer;
	f->attr = ev->attr;
	snprintf(f->dropped_bits, sizeof(f->dropped_bits), "%s", ev->dropped);
	f->effective_period = ev->period;
	s_adapt_facts(s, (size_t)(ev - s->ev), f);
	f->needs_aux = ev->spec.producer == DA_PROD_SPE;
	f->nr_errors = ev->nr_errors;
	memcpy(f->errors, ev->errors, sizeof(f->errors));
	f->cpus = calloc(s->nr_cpus ? s->nr_cpus : 1, sizeof(*f->cpus));
	if (!f->cpus)
		return -DA_ENOMEM;
	for (size_t c = 0; c < s->nr_cpus; c++) {
		if (s->cpus[c].pairs[e].elsewhere)
			continue;
		s_pair_facts(s, snap, c, e, &f->cpus[f->nr_cpus++]);
		f->aux |= s->cpus[c].pairs[e].aux != NULL;
	}
	return 0;
}

/* Only after the threads have stopped (or before they started). */
int da_session_facts(struct da_session *s, struct da_facts *f)
{
	struct da_ledger *snap = calloc(s->nr_cpus * s->nr_ev + 1, sizeof(*snap));
	int rc = 0;

	memset(f, 0, sizeof(*f));
	if (!snap)
		return -DA_ENOMEM;
	da_facts_machine(f);
	f->live = true;
	f->max_sample_rate_before = s->rate_before;
	f->target = s->o.target;
	f->target_ok = s->target_ok;
	f->clock_ok = s->clockid;
	/* a session's counters are its own memory, zeroed at new, and no state outlives it */
	f->counters_zero = true;
	f->no_old_state = true;
	f->unit_held = s->unit_held;
	/* what was asked for: of a process that does not exist, no thread was found */
	if (s->o.nr_ids > 1)
		snprintf(f->target_text, sizeof(f->target_text), "%d and %zu more", s->o.ids[0],
			 s->o.nr_ids - 1);
	else if (s->o.nr_ids || s->nr_ids)
		snprintf(f->target_text, sizeof(f->target_text), "%d",
			 s->o.nr_ids ? s->o.ids[0] : s->ids[0]);
	f->duration_ns = s->stop_ns > s->start_ns ? s->stop_ns - s->start_ns : 0;
	f->disabled_before_drain = s->disabled_before_drain;
	f->released_all = s->released_all;
	f->aux_before_event = s->unmapped_before_close;
	f->command_status = s->command_status;
	snprintf(f->end_reason, sizeof(f->end_reason), "%s", s->end_reason);
	f->mmap_pages_wanted = s->o.mmap_pages ? s->o.mmap_pages : 512;
	for (size_t c = 0; c < s->nr_cpus; c++)
		if (s->cpus[c].pages && (!f->mmap_pages || s->cpus[c].pages < f->mmap_pages))
			f->mmap_pages = s->cpus[c].pages;
	s_loss(s, f);
	if (s->match_snap)
		s_match_snapshot(s, snap);
	f->events = calloc(s->nr_ev ? s->nr_ev : 1, sizeof(*f->events));
	if (!f->events)
		rc = -DA_ENOMEM;
	for (size_t e = 0; !rc && e < s->nr_ev; e++) {
		rc = event_facts(s, snap, e, &f->events[e]);
		f->nr_events = e + 1;
	}
	s_buffers_facts(s, f);
	free(snap);
	if (rc)
		da_facts_release(f);
	return rc;
}
