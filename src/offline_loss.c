/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a recording says was lost before anybody could see it, and when: LOST and LOST_SAMPLES records, AUX
 * flags, throttling.
 *
 * A LOST record is written when the ring has room again, so its loss lies between the last record of that
 * ring and itself. The kinds have different units and may tell the same loss twice: they are kept apart.
 */
#include <stdlib.h>
#include <string.h>

#include "offline_priv.h"

/* One loss takes at least this part of the recording's time when gaps must be melted together. */
#define MELT_PARTS 256

/* cpu UINT32_MAX: not known. */
static struct ring_end *ring_of_cpu(struct da_offline *o, uint32_t cpu)
{
	uint32_t at;

	if (cpu >= MAX_CPUS)
		cpu = MAX_CPUS; /* without a CPU number, or with a damaged one */
	at = idmap_get(&o->ring_at, cpu, UINT32_MAX);
	if (at != UINT32_MAX)
		return &o->ring[at];
	if (o->nr_rings == o->room_rings) {
		size_t room = o->room_rings ? o->room_rings * 2 : 16;
		struct ring_end *r = reallocarray(o->ring, room, sizeof(*r));

		if (!r)
			return NULL;
		o->ring = r;
		o->room_rings = room;
	}
	if (idmap_put(&o->ring_at, cpu, (uint32_t)o->nr_rings))
		return NULL;
	o->ring[o->nr_rings] = (struct ring_end){0};
	return &o->ring[o->nr_rings++];
}

static struct ring_end *ring_of(struct da_offline *o, const struct da_rec *rec)
{
	return ring_of_cpu(o, rec->has & DA_SAMPLE_CPU ? rec->cpu : UINT32_MAX);
}

/* ---- gaps ---- */

static int by_time(const void *a, const void *b)
{
	const struct da_offline_gap *x = a, *y = b;

	if (x->t0_ns != y->t0_ns)
		return x->t0_ns < y->t0_ns ? -1 : 1;
	return (x->t1_ns > y->t1_ns) - (x->t1_ns < y->t1_ns);
}

/* Sorts, and joins gaps that overlap or lie closer than `near`. */
static void melt(struct da_offline_result *r, uint64_t near)
{
	size_t i, n = 0;

	if (!r->nr_gaps)
		return;
	qsort(r->gaps, r->nr_gaps, sizeof(*r->gaps), by_time);
	for (i = 1; i < r->nr_gaps; i++) {
		struct da_offline_gap *a = &r->gaps[n];
		const struct da_offline_gap *b = &r->gaps[i];

		if (b->t0_ns > a->t1_ns && b->t0_ns - a->t1_ns >= near) {
			r->gaps[++n] = *b;
			continue;
		}
		a->t1_ns = b->t1_ns > a->t1_ns ? b->t1_ns : a->t1_ns;
		if (a->lost < 0)
			a->lost = b->lost;
		else if (b->lost > 0 && __builtin_add_overflow(a->lost, b->lost, &a->lost))
			a->lost = INT64_MAX;
	}
	r->nr_gaps = n + 1;
}

static void add_gap(struct da_offline *o, uint64_t t0_ns, uint64_t t1_ns, int64_t lost)
{
	struct da_offline_result *r = &o->res;

	if (t0_ns > t1_ns)
		t0_ns = t1_ns;
	if (r->nr_gaps == MAX_GAPS) {
		uint64_t near;

		melt(r, 0);
		near = (r->gaps[r->nr_gaps - 1].t1_ns - r->gaps[0].t0_ns) / MELT_PARTS;
		if (r->nr_gaps > MAX_GAPS / 2)
			melt(r, near ? near : 1);
	}
	if (r->nr_gaps == o->room_gaps) {
		size_t room = o->room_gaps ? o->room_gaps * 2 : 16;
		struct da_offline_gap *g = reallocarray(r->gaps, room, sizeof(*g));

		if (!g) {
			o->no_memory = true;
			return;
		}
		r->gaps = g;
		o->room_gaps = room;
	}
	r->gaps[r->nr_gaps++] = (struct da_offline_gap){t0_ns, t1_ns, lost};
}

/* The gap that ends with this record. */
static void gap_before(struct da_offline *o, const struct da_rec *rec, int64_t lost)
{
	struct ring_end *end = rec->has & DA_SAMPLE_TIME ? ring_of(o, rec) : NULL;

	if (end)
		add_gap(o, end->last_ns ? end->last_ns : rec->time_ns, rec->time_ns, lost);
}

/* ---- records ---- */

static void count(int64_t *sum, uint64_t n)
{
	if (n > INT64_MAX || __builtin_add_overflow(*sum, (int64_t)n, sum))
		*sum = INT64_MAX;
}

static void take_throttle(struct da_offline *o, const struct da_rec *rec)
{
	struct ring_end *end = rec->has & DA_SAMPLE_TIME ? ring_of(o, rec) : NULL;

	if (rec->type == DA_REC_THROTTLE)
		o->res.lost.throttled++;
	if (!end)
		return;
	if (rec->type == DA_REC_THROTTLE) {
		if (!end->throttled_ns)
			end->throttled_ns = rec->time_ns;
	} else if (end->throttled_ns) {
		add_gap(o, end->throttled_ns, rec->time_ns, -1);
		end->throttled_ns = 0;
	}
}

void loss_record(struct da_offline *o, const struct da_rec *rec)
{
	struct da_offline_lost *l = &o->res.lost;
	struct da_rec_lost lost;
	struct da_rec_aux aux;

	switch (rec->type) {
	case DA_REC_LOST:
	case DA_REC_LOST_SAMPLES:
		if (da_rec_lost_parse(rec, &lost))
			return;
		count(rec->type == DA_REC_LOST ? &l->records : &l->samples, lost.lost);
		if (lost.lost)
			gap_before(o, rec, lost.lost > INT64_MAX ? INT64_MAX : (int64_t)lost.lost);
		break;
	case DA_REC_AUX:
		if (da_rec_aux_parse(rec, &aux))
			return;
		l->aux_truncated += !!(aux.flags & (AUX_TRUNCATED | AUX_PARTIAL));
		l->aux_collisions += !!(aux.flags & AUX_COLLISION);
		if (aux.flags & (AUX_TRUNCATED | AUX_PARTIAL | AUX_COLLISION))
			gap_before(o, rec, -1); /* how much is not said */
		break;
	default:
		take_throttle(o, rec);
		break;
	}
}

void loss_seen_until(struct da_offline *o, uint32_t cpu, uint64_t time_ns)
{
	struct ring_end *end = ring_of_cpu(o, cpu);

	if (end && time_ns > end->last_ns)
		end->last_ns = time_ns;
}

void loss_seen(struct da_offline *o, const struct da_rec *rec)
{
	if (rec->has & DA_SAMPLE_TIME)
		loss_seen_until(o, rec->has & DA_SAMPLE_CPU ? rec->cpu : UINT32_MAX, rec->time_ns);
}

void loss_end(struct da_offline *o)
{
	size_t i;

	for (i = 0; i < o->nr_rings; i++)
		if (o->ring[i].throttled_ns)
			add_gap(o, o->ring[i].throttled_ns, o->ring[i].last_ns, -1);
	melt(&o->res, 0);
}
