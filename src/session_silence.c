/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samplers of a session that stop while something else goes on: feeds da_silence.h and chooses references.
 *
 * The match thread looks, the owner counts and asks: under silence_lock.
 *
 * Counters of others are not read often: of an event on another CPU that is an interrupt there. It decides which
 * reference fits an event; whether it stopped is arithmetic of silence.c.
 */
#include <stdlib.h>

#include "session_priv.h"

#define LOOK_NS 50000000

int s_silence_begin(struct da_session *s)
{
	s->silence = da_silence_new(s->nr_cpus * s->nr_ev);
	s->silence_seen = calloc(s->nr_cpus * s->nr_ev + 1, sizeof(*s->silence_seen));
	return s->silence && s->silence_seen ? 0 : -DA_ENOMEM;
}

void s_silence_free(struct da_session *s)
{
	da_silence_free(s->silence);
	free(s->silence_seen);
}

static uint64_t samples_of(const struct s_pair *p)
{
	return p->lane ? __atomic_load_n(&p->lane->in[DA_STAGE_SAMPLE], __ATOMIC_RELAXED) : 0;
}

static void look(struct da_session *s, uint64_t now_ns)
{
	pthread_mutex_lock(&s->silence_lock);
	for (size_t c = 0; c < s->nr_cpus; c++) {
		for (size_t e = 0; e < s->nr_ev; e++) {
			size_t row = c * s->nr_ev + e;
			uint64_t n = samples_of(&s->cpus[c].pairs[e]);

			da_silence_add(s->silence, row, now_ns, n - s->silence_seen[row]);
			s->silence_seen[row] = n;
		}
	}
	pthread_mutex_unlock(&s->silence_lock);
}

void s_silence_look(struct da_session *s)
{
	uint64_t now = s_now_ns(s);

	if (!s->silence || now - s->silence_at < LOOK_NS)
		return;
	s->silence_at = now;
	look(s, now);
}

void s_silence_count(struct da_session *s)
{
	uint64_t now = s_now_ns(s);

	pthread_mutex_lock(&s->silence_lock);
	for (size_t c = 0; s->silence && c < s->nr_cpus; c++) {
		for (size_t e = 0; e < s->nr_ev; e++) {
			struct s_pair *p = &s->cpus[c].pairs[e];
			struct evt_count n;

			if (!p->enabled || p->idx < 0 || s->ev[e].fake ||
			    evt_read(s->cpus[c].evt, p->idx, &n))
				continue;
			da_silence_count(s->silence, c * s->nr_ev + e, now, p->past.value + n.value,
					 samples_of(p));
		}
	}
	pthread_mutex_unlock(&s->silence_lock);
}

/* ---- references ---- */

/* Does it sample as long as the CPU works? Then it is a reference for others of its kind. */
static bool keeps_time(const struct s_event *e)
{
	return e->fake || da_attr_is_clock(&e->attr) || e->spec.producer == DA_PROD_REGS;
}

static bool samples_all_the_time(const struct s_event *e)
{
	return keeps_time(e) || e->spec.producer == DA_PROD_SPE ||
	       e->spec.producer == DA_PROD_IBS_OP || e->spec.producer == DA_PROD_IBS_FETCH ||
	       e->spec.producer == DA_PROD_ADDR;
}

/* Does the reference follow the same target through the same modes? The fake producer follows none: it goes on on
 * a CPU that the target has left. */
static bool reference_fits(const struct s_event *ref, const struct s_event *e)
{
	const uint64_t bits = DA_ATTR_EXCLUDE_USER | DA_ATTR_EXCLUDE_KERNEL;

	if (!keeps_time(ref) || (ref->fake && !e->fake))
		return false;
	return e->fake || (ref->attr.flags & bits) == (e->attr.flags & bits);
}

/* A clock that leaves out user or kernel counts all the same when nothing of it is sampled. */
static bool counter_fits(const struct s_event *e)
{
	return !(da_attr_is_clock(&e->attr) &&
		 (e->attr.flags & (DA_ATTR_EXCLUDE_USER | DA_ATTR_EXCLUDE_KERNEL)));
}

static void keep(const struct da_session *s, struct da_facts_cpu *out, enum da_silent_ref ref,
		 struct da_silence_finding f)
{
	if (!f.silent || out->silent_due)
		return;
	out->silent_due = (uint64_t)f.due;
	out->silent_since_ns = f.since_ns > s->start_ns ? f.since_ns - s->start_ns : 0;
	out->silent_ref = ref;
}

static struct da_silence_finding by_events(const struct da_session *s, size_t cpu, size_t ev)
{
	struct da_silence_finding f = {0};

	for (size_t e = 0; e < s->nr_ev && !f.silent; e++) {
		size_t ref = cpu * s->nr_ev + e;

		if (e != ev && reference_fits(&s->ev[e], &s->ev[ev]))
			f = da_silence_by_rows(s->silence, cpu * s->nr_ev + ev, &ref, 1);
	}
	return f;
}

/* Other CPUs are a reference only for what is sampled on idle CPUs too. */
static struct da_silence_finding by_cpus(const struct da_session *s, size_t cpu, size_t ev)
{
	struct da_silence_finding f = {0};
	size_t *ref = calloc(s->nr_cpus, sizeof(*ref)), nr = 0;

	for (size_t c = 0; ref && c < s->nr_cpus; c++)
		if (c != cpu)
			ref[nr++] = c * s->nr_ev + ev;
	if (nr)
		f = da_silence_by_rows(s->silence, cpu * s->nr_ev + ev, ref, nr);
	free(ref);
	return f;
}

static void facts(const struct da_session *s, size_t cpu, size_t ev, struct da_facts_cpu *out)
{
	size_t row = cpu * s->nr_ev + ev;
	const struct s_pair *p = &s->cpus[cpu].pairs[ev];
	const struct s_event *e = &s->ev[ev];

	if (p->counted && !e->fake && counter_fits(e)) {
		da_silence_count(s->silence, row, s->stop_ns, p->count.value, samples_of(p));
		keep(s, out, DA_SILENT_COUNTER, da_silence_by_counter(s->silence, row));
	}
	if (!samples_all_the_time(e))
		return;
	keep(s, out, DA_SILENT_EVENTS, by_events(s, cpu, ev));
	if (e->fake ||
	    (s->o.target == DA_TARGET_SYSTEM && da_attr_is_clock(&e->attr) && counter_fits(e)))
		keep(s, out, DA_SILENT_CPUS, by_cpus(s, cpu, ev));
}

void s_silence_facts(struct da_session *s, size_t cpu, size_t ev, struct da_facts_cpu *out)
{
	/* a CPU that was away has been found out already */
	if (!s->silence || !s->cpus[cpu].pairs[ev].enabled || s->cpus[cpu].hot.went)
		return;
	pthread_mutex_lock(&s->silence_lock);
	facts(s, cpu, ev, out);
	pthread_mutex_unlock(&s->silence_lock);
}
