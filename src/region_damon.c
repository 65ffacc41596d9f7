/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DAMON's adaptation of regions (da_adapt.h), as mm/damon/core.c of Linux 6.12 does it: at the end of each
 * aggregation regions that were accessed alike are merged, what is left is aged, and all are split anew.
 *
 * Written from a description of the algorithm (doc/regions.md), not from its source.
 */
#include "da_adapt.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"

#define PAGE     4096ull
#define MAX_IDLE 1000 /* aggregations without an access that are gone through one by one */

const struct da_adapt_opts da_adapt_defaults = {
	.min = 10,
	.max = 1000,
	.sample_ns = 5000000,
	.aggr_ns = 100000000,
	.update_ns = 1000000000,
	.seed = 1,
};

struct da_adapt {
	struct da_adapt_opts o;
	da_adapt_fn snapshot;
	void *ctx;
	struct da_adapt_region *now, *spare,
		*last; /* regions; room to build in; the last snapshot */
	size_t nr, nr_last, room, room_last;
	uint64_t aggr_start,
		interval; /* of the aggregation under way; the sampling interval under way */
	uint64_t next_update;
	uint64_t sz_limit;
	size_t last_split; /* regions at the last split */
	uint64_t rng;
	uint64_t aggregations;
	size_t hit; /* region of the last access */
};

int da_adapt_check(const struct da_adapt_opts *o)
{
	if (o->min < 3 || o->max <= o->min || o->max > DA_ADAPT_MAX_REGIONS || !o->sample_ns ||
	    o->sample_ns > o->aggr_ns || o->aggr_ns > o->update_ns ||
	    o->aggr_ns / o->sample_ns > UINT32_MAX / 2)
		return -DA_EUSAGE;
	return 0;
}

struct da_adapt *da_adapt_new(const struct da_adapt_opts *o, uint64_t start_ns,
			      da_adapt_fn snapshot, void *ctx)
{
	struct da_adapt *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->o = *o;
	a->snapshot = snapshot;
	a->ctx = ctx;
	a->aggr_start = start_ns;
	a->next_update = start_ns;
	a->rng = o->seed * 0x9e3779b97f4a7c15ull + 0x1234567;
	return a;
}

void da_adapt_free(struct da_adapt *a)
{
	if (!a)
		return;
	free(a->now);
	free(a->spare);
	free(a->last);
	free(a);
}

/* splitmix64: small, and known to be even enough for one in nine. */
static uint32_t one_to_nine(struct da_adapt *a)
{
	uint64_t x = a->rng += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)((x ^ x >> 31) % 9 + 1);
}

static uint64_t down(uint64_t v)
{
	return v & ~(PAGE - 1);
}

static uint64_t up(uint64_t v)
{
	return v > UINT64_MAX - (PAGE - 1) ? down(UINT64_MAX) : down(v + PAGE - 1);
}

static uint64_t size_of(const struct da_adapt_region *r)
{
	return r->end - r->start;
}

static int make_room(struct da_adapt *a, size_t nr)
{
	size_t room = a->room ? a->room : 64;
	struct da_adapt_region *now, *spare;

	if (nr <= a->room)
		return 0;
	while (room < nr)
		room *= 2;
	now = reallocarray(a->now, room, sizeof(*now));
	if (now)
		a->now = now;
	spare = reallocarray(a->spare, room, sizeof(*spare));
	if (spare)
		a->spare = spare;
	if (!now || !spare)
		return -DA_ENOMEM;
	a->room = room;
	return 0;
}

/* What was built becomes what there is. */
static void swap(struct da_adapt *a, size_t nr)
{
	struct da_adapt_region *now = a->now;

	a->now = a->spare;
	a->spare = now;
	a->nr = nr;
	a->hit = 0;
}

/* ---- ranges ---- */

size_t da_adapt_three(const struct da_adapt_range *maps, size_t nr, struct da_adapt_range out[3])
{
	struct da_adapt_range first = {0}, second = {0}, gap, t;
	size_t i;

	for (i = 1; i < nr; i++) {
		gap = (struct da_adapt_range){maps[i - 1].end, maps[i].start};
		if (gap.end <= gap.start)
			continue;
		if (gap.end - gap.start > second.end - second.start)
			second = gap;
		if (second.end - second.start > first.end - first.start) {
			t = first;
			first = second;
			second = t;
		}
	}
	if (first.end == first.start || second.end == second.start)
		return 0;
	if (first.start > second.start) {
		t = first;
		first = second;
		second = t;
	}
	out[0] = (struct da_adapt_range){up(maps[0].start), up(first.start)};
	out[1] = (struct da_adapt_range){up(first.end), up(second.start)};
	out[2] = (struct da_adapt_range){up(second.end), up(maps[nr - 1].end)};
	return 3;
}

/* The first time: each range in equal pieces. */
static int first_ranges(struct da_adapt *a, const struct da_adapt_range *r, size_t nr)
{
	uint64_t all = 0, piece, at, size;
	size_t i, n = 0;
	uint64_t k, pieces;

	for (i = 0; i < nr; i++)
		all += r[i].end - r[i].start;
	piece = all / a->o.min;
	piece = piece < PAGE ? PAGE : piece;
	for (i = 0; i < nr; i++) {
		if (r[i].end <= r[i].start)
			continue;
		pieces = (r[i].end - r[i].start) / piece; /* at most min of all ranges together */
		pieces = pieces ? pieces : 1;
		size = down((r[i].end - r[i].start) / pieces);
		if (make_room(a, n + pieces))
			return -DA_ENOMEM;
		at = r[i].start;
		for (k = 0; k < pieces; k++) {
			uint64_t end = k + 1 == pieces ? r[i].end : at + size;

			a->now[n++] = (struct da_adapt_region){.start = at, .end = end};
			at = end;
		}
	}
	a->nr = n;
	return 0;
}

/* Regions that reach into no range go; the others are made to fill the ranges, and what they leave is new. */
static int fit_ranges(struct da_adapt *a, const struct da_adapt_range *r, size_t nr)
{
	size_t i, k = 0, n = 0;

	if (make_room(a, 2 * a->nr + 2 * nr + 1))
		return -DA_ENOMEM;
	for (i = 0; i < nr; i++) {
		uint64_t start = down(r[i].start), end = up(r[i].end), at = start;

		if (r[i].end <= r[i].start)
			continue;
		if (n && a->spare[n - 1].end > start)
			at = start = a->spare[n - 1].end;
		while (k < a->nr && a->now[k].end <= start)
			k++;
		for (; k < a->nr && a->now[k].start < end; k++) {
			struct da_adapt_region g = a->now[k];

			g.start = g.start < at ? at : g.start;
			if (g.start > at) {
				/* before the first one: it grows; between two: a new one */
				if (at == start)
					g.start = at;
				else
					a->spare[n++] = (struct da_adapt_region){.start = at,
										 .end = g.start};
			}
			if (g.end >= end) {
				g.end = end;
				if (g.start < g.end)
					a->spare[n++] = g;
				at = end;
				if (a->now[k].end <= end)
					k++;
				break; /* it may reach into the next range too */
			}
			a->spare[n++] = g;
			at = g.end;
		}
		if (at == start && at < end)
			a->spare[n++] = (struct da_adapt_region){.start = at, .end = end};
		else if (at < end)
			a->spare[n - 1].end = end;
	}
	swap(a, n);
	return 0;
}

int da_adapt_ranges(struct da_adapt *a, const struct da_adapt_range *r, size_t nr)
{
	uint64_t all = 0;
	size_t i;
	int err = a->nr ? fit_ranges(a, r, nr) : first_ranges(a, r, nr);

	for (i = 0; i < a->nr; i++)
		all += size_of(&a->now[i]);
	a->sz_limit = all / a->o.min < PAGE ? PAGE : all / a->o.min;
	return err;
}

int da_adapt_wants_ranges(const struct da_adapt *a, uint64_t time_ns)
{
	return !a->nr || time_ns >= a->next_update;
}

/* ---- the end of an aggregation ---- */

static uint32_t differ(uint32_t x, uint32_t y)
{
	return x > y ? x - y : y - x;
}

static void merge_two(struct da_adapt_region *l, const struct da_adapt_region *r)
{
	uint64_t sl = size_of(l), sr = size_of(r);
	unsigned __int128 now = (unsigned __int128)l->now * sl + (unsigned __int128)r->now * sr;
	unsigned __int128 age = (unsigned __int128)l->age * sl + (unsigned __int128)r->age * sr;

	l->now = (uint32_t)(now / (sl + sr));
	l->age = (uint32_t)(age / (sl + sr));
	l->end = r->end;
	l->sampled = l->sampled > r->sampled ? l->sampled : r->sampled;
}

static void merge(struct da_adapt *a)
{
	uint32_t most = (uint32_t)(a->o.aggr_ns / a->o.sample_ns), threshold = 0;
	bool first = true;
	size_t i, n;

	for (i = 0; i < a->nr; i++)
		threshold = a->now[i].now > threshold ? a->now[i].now : threshold;
	threshold /= 10;
	for (;;) {
		for (i = 0, n = 0; i < a->nr; i++) {
			struct da_adapt_region *r = &a->now[i], *prev = n ? &a->now[n - 1] : NULL;

			if (first) {
				if (differ(r->now, r->before) > threshold)
					r->age = 0;
				else if (r->age < UINT32_MAX)
					r->age++;
			}
			if (prev && prev->end == r->start &&
			    differ(prev->now, r->now) <= threshold &&
			    size_of(prev) + size_of(r) <= a->sz_limit)
				merge_two(prev, r);
			else
				a->now[n++] = *r;
		}
		a->nr = n;
		first = false;
		if (a->nr <= a->o.max || threshold >= most)
			break;
		if (threshold < most / 2)
			threshold = threshold ? 2 * threshold : 1;
		else
			threshold = most;
	}
	a->hit = 0;
}

static int split(struct da_adapt *a)
{
	size_t i, n = 0, before = a->nr;
	unsigned pieces = 2, k;

	if (before > a->o.max / 2)
		return 0;
	if (before == a->last_split && before < a->o.max / 3)
		pieces = 3;
	if (make_room(a, before * pieces))
		return -DA_ENOMEM;
	for (i = 0; i < before; i++) {
		struct da_adapt_region left = a->now[i], part[2];
		unsigned parts = 0;

		for (k = 1; k < pieces && size_of(&left) > 2 * PAGE; k++) {
			uint64_t sub = down((uint64_t)((unsigned __int128)one_to_nine(a) *
						       size_of(&left) / 10));

			if (!sub || sub >= size_of(&left))
				continue;
			part[parts] = left;
			part[parts++].start = left.start + sub;
			left.end = left.start + sub;
		}
		a->spare[n++] = left;
		while (parts)
			a->spare[n++] = part[--parts];
	}
	a->last_split = before;
	swap(a, n);
	return 0;
}

static int keep_snapshot(struct da_adapt *a)
{
	size_t i;

	if (a->nr > a->room_last) {
		struct da_adapt_region *last = reallocarray(a->last, a->nr, sizeof(*last));

		if (!last)
			return -DA_ENOMEM;
		a->last = last;
		a->room_last = a->nr;
	}
	for (i = 0; i < a->nr; i++) {
		a->last[i] = a->now[i];
		a->last[i].nr_accesses = a->now[i].now;
	}
	a->nr_last = a->nr;
	return 0;
}

static int aggregate(struct da_adapt *a)
{
	uint64_t end = a->aggr_start + a->o.aggr_ns;
	size_t i;
	int err;

	merge(a);
	err = keep_snapshot(a);
	if (err)
		return err;
	if (a->snapshot)
		a->snapshot(a->ctx, a->aggr_start, end, a->last, a->nr_last);
	for (i = 0; i < a->nr; i++) {
		a->now[i].before = a->now[i].now;
		a->now[i].now = 0;
	}
	a->aggregations++;
	a->aggr_start = end;
	return split(a);
}

/* Lets aggregations end that did so before time_ns. */
static int pass(struct da_adapt *a, uint64_t time_ns)
{
	uint64_t left = time_ns > a->aggr_start ? (time_ns - a->aggr_start) / a->o.aggr_ns : 0;
	unsigned idle = 0;
	size_t i;
	int err = 0;

	for (; left && idle < MAX_IDLE && !err; left--, idle++)
		err = aggregate(a);
	if (!left || err)
		return err;
	a->aggr_start += left * a->o.aggr_ns;
	a->aggregations += left;
	for (i = 0; i < a->nr; i++)
		a->now[i].age = a->now[i].age > UINT32_MAX - left ? UINT32_MAX
								  : a->now[i].age + (uint32_t)left;
	return 0;
}

/* ---- accesses ---- */

static struct da_adapt_region *find(struct da_adapt *a, uint64_t addr)
{
	size_t lo = 0, n = a->nr;

	if (a->hit < a->nr && a->now[a->hit].start <= addr && addr < a->now[a->hit].end)
		return &a->now[a->hit];
	if (!n || addr < a->now[0].start)
		return NULL;
	while (n > 1) {
		size_t half = n / 2;

		lo = a->now[lo + half].start <= addr ? lo + half : lo;
		n -= half;
	}
	if (addr >= a->now[lo].end)
		return NULL;
	a->hit = lo;
	return &a->now[lo];
}

int da_adapt_access(struct da_adapt *a, uint64_t time_ns, uint64_t addr)
{
	struct da_adapt_region *r;
	uint64_t interval;
	int err = pass(a, time_ns);

	if (err)
		return err;
	if (time_ns >= a->next_update)
		a->next_update = time_ns - time_ns % a->o.update_ns > UINT64_MAX - a->o.update_ns
					 ? UINT64_MAX
					 : time_ns - time_ns % a->o.update_ns + a->o.update_ns;
	/* what comes late counts in the interval under way */
	interval = time_ns > a->aggr_start ? time_ns / a->o.sample_ns : 0;
	a->interval = interval > a->interval ? interval : a->interval;
	r = find(a, addr);
	if (!r || r->sampled == a->interval + 1)
		return 0;
	r->sampled = a->interval + 1;
	if (r->now < a->o.aggr_ns / a->o.sample_ns)
		r->now++;
	return 0;
}

int da_adapt_finish(struct da_adapt *a, uint64_t end_ns)
{
	int err = pass(a, end_ns);

	/* shorter than one aggregation: what there is then is all there is */
	return err || a->aggregations ? err : aggregate(a);
}

const struct da_adapt_region *da_adapt_regions(const struct da_adapt *a, size_t *nr)
{
	*nr = a->nr_last;
	return a->last;
}

uint64_t da_adapt_aggregations(const struct da_adapt *a)
{
	return a->aggregations;
}
