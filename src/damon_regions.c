/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Puts DAMON's records together to snapshots (da_damon.h). Of each target it keeps the last complete snapshot
 * and the one under way, so memory does not grow with the length of the recording.
 */
#include "da_damon.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WSS 16384 /* sizes of a target's working set that are kept */

/* A snapshot; its room grows with the records that came, never with what they announce. */
struct snapshot {
	struct da_damon_region *all;
	size_t nr, room;
	uint32_t wanted; /* records that make it complete */
};

struct target {
	struct da_damon_target pub;
	struct snapshot now, last;
	uint64_t *wss;
	size_t room_wss;
	bool skipping; /* the rest of a snapshot that stays incomplete: what follows in address order */
	uint64_t skipped_end;
};

struct da_damon {
	struct target *targets;
	size_t nr, room;
	size_t at;      /* the target of the last record */
	size_t regions; /* room of all snapshots */
	uint64_t damaged, left_out;
};

struct da_damon *da_damon_new(void)
{
	return calloc(1, sizeof(struct da_damon));
}

void da_damon_free(struct da_damon *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nr; i++) {
		free(d->targets[i].now.all);
		free(d->targets[i].last.all);
		free(d->targets[i].wss);
	}
	free(d->targets);
	free(d);
}

static bool is_target(const struct target *t, uint32_t kdamond, uint64_t target_id)
{
	return t->pub.kdamond == kdamond && t->pub.target_id == target_id;
}

/* The one that came last comes again, once for each of its regions. */
static struct target *find(struct da_damon *d, uint32_t kdamond, uint64_t target_id)
{
	if (d->at < d->nr && is_target(&d->targets[d->at], kdamond, target_id))
		return &d->targets[d->at];
	for (size_t i = 0; i < d->nr; i++) {
		if (is_target(&d->targets[i], kdamond, target_id)) {
			d->at = i;
			return &d->targets[i];
		}
	}
	return NULL;
}

static struct target *add_target(struct da_damon *d, uint32_t kdamond, uint64_t target_id)
{
	if (d->nr == d->room) {
		size_t room = d->room ? d->room * 2 : 8;
		struct target *more = reallocarray(d->targets, room, sizeof(*more));

		if (!more)
			return NULL;
		d->targets = more;
		d->room = room;
	}
	d->targets[d->nr] = (struct target){
		.pub = {.kdamond = kdamond, .target_id = target_id, .wss_every = 1}};
	return &d->targets[d->nr++];
}

static void give_up(struct target *t)
{
	t->pub.incomplete += t->now.nr > 0;
	t->now.nr = 0;
}

/* Gives up what is under way, and what still comes of it. */
static void skip_rest(struct target *t)
{
	if (!t->now.nr)
		return;
	t->skipping = true;
	t->skipped_end = t->now.all[t->now.nr - 1].end;
	give_up(t);
}

static bool is_skipped(struct target *t, const struct da_tp_damon *r)
{
	t->skipping &= r->nr_regions == t->now.wanted && r->start >= t->skipped_end;
	if (t->skipping)
		t->skipped_end = r->end;
	return t->skipping;
}

/* When they are too many every second one is forgotten. 0 or -DA_ENOMEM. */
static int keep_wss(struct target *t, const struct snapshot *s)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < s->nr; i++)
		bytes += s->all[i].nr_accesses ? s->all[i].end - s->all[i].start : 0;
	if (__builtin_add_overflow(t->pub.wss_sum, bytes, &t->pub.wss_sum))
		t->pub.wss_sum = UINT64_MAX;
	if (t->pub.snapshots % t->pub.wss_every)
		return 0;
	if (t->pub.nr_wss == MAX_WSS) {
		for (i = 0; i < MAX_WSS / 2; i++)
			t->wss[i] = t->wss[2 * i];
		t->pub.nr_wss = MAX_WSS / 2;
		t->pub.wss_every *= 2;
		if (t->pub.snapshots % t->pub.wss_every)
			return 0;
	}
	if (t->pub.nr_wss == t->room_wss) {
		size_t room = t->room_wss ? t->room_wss * 2 : 16;
		uint64_t *more = reallocarray(t->wss, room, sizeof(*more));

		if (!more)
			return -DA_ENOMEM;
		t->wss = more;
		t->room_wss = room;
	}
	t->wss[t->pub.nr_wss++] = bytes;
	t->pub.wss = t->wss;
	return 0;
}

static int complete(struct target *t, uint64_t time_ns)
{
	struct snapshot last = t->last;
	int err = keep_wss(t, &t->now);

	if (err)
		return err;

	t->last = t->now;
	t->now = last;
	t->now.nr = 0;
	t->pub.regions = t->last.all;
	t->pub.nr_regions = t->last.nr;
	t->pub.snapshots++;
	if (!t->pub.first_ns)
		t->pub.first_ns = time_ns;
	t->pub.last_ns = time_ns;
	return 0;
}

/* 0, 1: beyond the limit, or -DA_ENOMEM */
static int make_room(struct da_damon *d, struct snapshot *s)
{
	size_t room = s->room ? s->room * 2 : 16;
	struct da_damon_region *more;

	if (s->nr < s->room)
		return 0;
	if (room - s->room > DA_DAMON_MAX_REGIONS - d->regions)
		return 1;
	more = reallocarray(s->all, room, sizeof(*more));
	if (!more)
		return -DA_ENOMEM;
	d->regions += room - s->room;
	s->all = more;
	s->room = room;
	return 0;
}

/* Does the record begin another snapshot, although the one under way is not complete? */
static bool begins(const struct target *t, const struct da_tp_damon *r)
{
	const struct snapshot *s = &t->now;

	return s->nr && (r->nr_regions != s->wanted || r->start < s->all[s->nr - 1].end);
}

int da_damon_add(struct da_damon *d, uint32_t kdamond, const struct da_tp_damon *r,
		 uint64_t time_ns)
{
	struct target *t = find(d, kdamond, r->target_id);
	int rc;

	if (r->start >= r->end || !r->nr_regions) {
		d->damaged++;
		if (t)
			skip_rest(t);
		return -DA_EDAMAGED;
	}
	if (!t && d->nr == DA_DAMON_MAX_TARGETS) {
		d->left_out++;
		return 0;
	}
	if (!t)
		t = add_target(d, kdamond, r->target_id);
	if (!t)
		return -DA_ENOMEM;
	t->pub.records++;
	t->pub.has_age = r->has_age;
	if (is_skipped(t, r))
		return 0;
	if (begins(t, r))
		give_up(t);
	rc = make_room(d, &t->now);
	if (rc < 0)
		return rc;
	if (rc) {
		d->left_out++;
		skip_rest(t);
		return 0;
	}
	t->now.wanted = r->nr_regions;
	t->now.all[t->now.nr++] =
		(struct da_damon_region){r->start, r->end, r->nr_accesses, r->age};
	if (t->now.nr == t->now.wanted)
		return complete(t, time_ns);
	return 0;
}

void da_damon_lost(struct da_damon *d)
{
	for (size_t i = 0; i < d->nr; i++)
		skip_rest(&d->targets[i]);
}

bool da_damon_rename(struct da_damon *d, uint32_t kdamond, uint64_t target_id, uint32_t new_kdamond,
		     uint64_t new_target_id)
{
	struct target *t = find(d, kdamond, target_id);

	if (!t)
		return true;
	if (find(d, new_kdamond, new_target_id))
		return false;
	t->pub.kdamond = new_kdamond;
	t->pub.target_id = new_target_id;
	return true;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int by_number(const void *a, const void *b)
{
	const struct da_damon_target *x = &((const struct target *)a)->pub,
				     *y = &((const struct target *)b)->pub;

	if (x->kdamond != y->kdamond)
		return x->kdamond < y->kdamond ? -1 : 1;
	return x->target_id < y->target_id ? -1 : x->target_id > y->target_id;
}

void da_damon_finish(struct da_damon *d)
{
	da_damon_lost(d);
	for (size_t i = 0; i < d->nr; i++)
		if (d->targets[i].pub.nr_wss)
			qsort(d->targets[i].wss, d->targets[i].pub.nr_wss,
			      sizeof(*d->targets[i].wss), by_size);
	if (d->nr)
		qsort(d->targets, d->nr, sizeof(*d->targets), by_number);
}

size_t da_damon_nr_targets(const struct da_damon *d)
{
	return d->nr;
}

const struct da_damon_target *da_damon_target(const struct da_damon *d, size_t i)
{
	return i < d->nr ? &d->targets[i].pub : NULL;
}

uint64_t da_damon_damaged(const struct da_damon *d)
{
	return d->damaged;
}

uint64_t da_damon_left_out(const struct da_damon *d)
{
	return d->left_out;
}
