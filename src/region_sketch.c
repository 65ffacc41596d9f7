/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sketch of addresses (region_sketch.h): a hash table of cells. What is left of it does not depend on the
 * order in which the table happens to hold them, only on the reports and their order.
 */
#include "region_sketch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"

#define PAGE_SHIFT 12
#define CLOSED     64 /* shift of a zone without cells */

struct cell {
	uint64_t bin; /* address >> shift of its zone */
	uint64_t samples, accesses, reads, writes;
	uint32_t zone, event; /* a free slot has no samples */
};

struct zone {
	uint8_t shift; /* 0: not used yet */
	uint32_t cells;
	uint64_t samples;
};

/* A report that is to be added. */
struct waiting {
	uint64_t addr, accesses;
	uint32_t zone, event;
	uint8_t reads, writes;
	bool used;
};
#define WAITING 32

struct sketch {
	struct cell *slot;
	size_t nr_slots, cells, max;
	struct zone *zone;
	size_t nr_zones;
	uint64_t seed;
	struct waiting waiting[WAITING];
	unsigned next; /* the oldest of them */
};

struct sketch *sketch_new(size_t max_cells, uint64_t seed)
{
	struct sketch *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->max = max_cells;
	k->seed = seed;
	k->nr_slots = 256;
	k->slot = calloc(k->nr_slots, sizeof(*k->slot));
	if (!k->slot) {
		free(k);
		return NULL;
	}
	return k;
}

void sketch_free(struct sketch *k)
{
	if (!k)
		return;
	free(k->slot);
	free(k->zone);
	free(k);
}

static size_t slot_of(size_t nr, uint64_t seed, uint64_t bin, uint32_t zone, uint32_t event)
{
	uint64_t h = (bin ^ seed) * 0x9e3779b97f4a7c15ull;

	h = ((h ^ h >> 32) + ((uint64_t)zone << 8) + event) * 0xd6e8feb86659fd93ull;
	return (size_t)(h >> 32) & (nr - 1);
}

static struct cell *probe(struct cell *slot, size_t nr, uint64_t seed, const struct cell *c)
{
	size_t i;

	for (i = slot_of(nr, seed, c->bin, c->zone, c->event);; i = (i + 1) & (nr - 1)) {
		struct cell *s = &slot[i];

		if (!s->samples || (s->bin == c->bin && s->zone == c->zone && s->event == c->event))
			return s;
	}
}

/* True: a cell more than before. */
static bool put(struct sketch *k, struct cell *slot, size_t nr, const struct cell *c)
{
	struct cell *s = probe(slot, nr, k->seed, c);
	bool fresh = !s->samples;

	if (fresh) {
		*s = *c;
		return true;
	}
	s->samples += c->samples;
	s->accesses += c->accesses;
	s->reads += c->reads;
	s->writes += c->writes;
	return false;
}

/* All cells anew, by the shifts that their zones have now; `by` (NULL: none) is what each grew by. */
static int rebuild(struct sketch *k, size_t nr_slots, const uint8_t *by)
{
	struct cell *old = k->slot, *slot = calloc(nr_slots, sizeof(*slot));
	size_t i;

	if (!slot)
		return -DA_ENOMEM;
	k->cells = 0;
	for (i = 0; i < k->nr_zones; i++)
		k->zone[i].cells = 0;
	for (i = 0; i < k->nr_slots; i++) {
		struct cell c = old[i];

		if (!c.samples || k->zone[c.zone].shift == CLOSED)
			continue;
		if (by)
			c.bin >>= by[c.zone];
		if (put(k, slot, nr_slots, &c)) {
			k->cells++;
			k->zone[c.zone].cells++;
		}
	}
	free(old);
	k->slot = slot;
	k->nr_slots = nr_slots;
	return 0;
}

/* Halves the resolution of zones, those with the fewest reports a cell first, until a quarter is free. Zones
 * that are one cell each are closed in the end. */
static int coarsen(struct sketch *k)
{
	size_t goal = k->max - k->max / 4, i;
	uint64_t least = 2;
	uint8_t *by = calloc(k->nr_zones + 1, 1);
	int err = by ? 0 : -DA_ENOMEM;

	while (!err && k->cells > goal) {
		bool any = false, left = false;

		for (i = 0; i < k->nr_zones; i++) {
			struct zone *z = &k->zone[i];

			by[i] = 0;
			if (!z->cells || z->shift == CLOSED)
				continue;
			/* a zone of one cell has nothing to merge: it waits to be closed */
			if (z->samples / z->cells < least && z->cells > 1 && z->shift < 60) {
				by[i] = 1;
				z->shift++;
				any = true;
			}
			left |= z->cells > 1 && z->shift < 60;
		}
		if (!any && !left) {
			for (i = 0; i < k->nr_zones; i++)
				if (k->zone[i].cells && k->zone[i].samples < least)
					k->zone[i].shift = CLOSED, any = true;
		}
		if (any)
			err = rebuild(k, k->nr_slots, by);
		if (least > UINT64_MAX / 2)
			break;
		least *= 2;
	}
	free(by);
	return err;
}

static struct zone *zone_of(struct sketch *k, uint32_t zone)
{
	if (zone >= k->nr_zones) {
		size_t nr = k->nr_zones ? k->nr_zones : 64;
		struct zone *z;

		while (nr <= zone)
			nr *= 2;
		z = reallocarray(k->zone, nr, sizeof(*z));
		if (!z)
			return NULL;
		memset(z + k->nr_zones, 0, (nr - k->nr_zones) * sizeof(*z));
		k->zone = z;
		k->nr_zones = nr;
	}
	if (!k->zone[zone].shift)
		k->zone[zone].shift = PAGE_SHIFT;
	return &k->zone[zone];
}

/* A zone has a cell more. */
static int grew(struct sketch *k, struct zone *z)
{
	z->cells++;
	k->cells++;
	if (k->cells >= k->max && coarsen(k))
		return -DA_ENOMEM;
	return k->cells * 4 >= k->nr_slots * 3 ? rebuild(k, k->nr_slots * 2, NULL) : 0;
}

static void wait_for(struct waiting *w, uint32_t zone, const struct da_report *r, uint64_t addr)
{
	uint8_t op = r->has & DA_HAS_OP ? r->op : 0;

	w->addr = addr;
	w->accesses = r->has & DA_HAS_PERIOD ? r->period : 1;
	w->zone = zone;
	w->event = r->event;
	w->reads = !!(op & DA_OP_READ);
	w->writes = !!(op & DA_OP_WRITE);
	w->used = true;
}

static int add_one(struct sketch *k, const struct waiting *w)
{
	struct zone *z = &k->zone[w->zone];
	struct cell c = {.bin = w->addr >> (z->shift & 63), .zone = w->zone, .event = w->event};
	struct cell *s;

	if (z->shift == CLOSED)
		return 0;
	s = probe(k->slot, k->nr_slots, k->seed, &c);
	z->samples++;
	if (s->samples) { /* mostly */
		s->samples++;
		s->accesses += w->accesses;
		s->reads += w->reads;
		s->writes += w->writes;
		return 0;
	}
	c.samples = 1;
	c.accesses = w->accesses;
	c.reads = w->reads;
	c.writes = w->writes;
	*s = c;
	return grew(k, z);
}

int sketch_add(struct sketch *k, uint32_t zone, const struct da_report *r, uint64_t addr)
{
	struct waiting w;

	wait_for(&w, zone, r, addr);
	return zone_of(k, zone) ? add_one(k, &w) : -DA_ENOMEM;
}

int sketch_add_later(struct sketch *k, uint32_t zone, const struct da_report *r, uint64_t addr)
{
	struct waiting *w = &k->waiting[k->next++ % WAITING];
	const struct cell *slot;
	int err = w->used ? add_one(k, w) : 0;
	unsigned shift;

	w->used = false;
	if (zone >= k->nr_zones || !k->zone[zone].shift)
		if (!zone_of(k, zone))
			return -DA_ENOMEM;
	wait_for(w, zone, r, addr);
	shift = k->zone[zone].shift & 63; /* of a closed zone any place will do */
	slot = &k->slot[slot_of(k->nr_slots, k->seed, addr >> shift, zone, r->event)];
	__builtin_prefetch(slot, 1);
	__builtin_prefetch((const char *)(slot + 1) - 1, 1); /* it may reach over two lines */
	return err;
}

int sketch_settle(struct sketch *k)
{
	int err = 0;

	for (unsigned i = 0; i < WAITING; i++) { /* the oldest first */
		struct waiting *w = &k->waiting[k->next++ % WAITING];

		if (w->used && add_one(k, w))
			err = -DA_ENOMEM;
		w->used = false;
	}
	return err;
}

/* Makes a zone at least so coarse. */
static int reach(struct sketch *k, const uint8_t *to)
{
	uint8_t *by = calloc(k->nr_zones + 1, 1);
	bool any = false;
	size_t i;
	int err;

	if (!by)
		return -DA_ENOMEM;
	for (i = 0; i < k->nr_zones; i++) {
		struct zone *z = &k->zone[i];

		if (to[i] <= z->shift)
			continue;
		by[i] = (uint8_t)(to[i] - z->shift);
		z->shift = to[i];
		any |= z->cells != 0;
	}
	err = any ? rebuild(k, k->nr_slots, by) : 0;
	free(by);
	return err;
}

int sketch_merge(struct sketch *k, const struct sketch *from, const uint32_t *to)
{
	uint8_t *shift;
	size_t i;
	int err;

	for (i = 0; i < from->nr_zones; i++)
		if (from->zone[i].shift && !zone_of(k, to[i]))
			return -DA_ENOMEM;
	shift = calloc(k->nr_zones + 1, 1);
	if (!shift)
		return -DA_ENOMEM;
	for (i = 0; i < from->nr_zones; i++)
		if (from->zone[i].shift > (from->zone[i].shift ? shift[to[i]] : 0))
			shift[to[i]] = from->zone[i].shift;
	err = reach(k, shift);
	free(shift);
	/* The other's cells one after the other would make what is left depend on their order in its table:
	 * all are put in first, then the bound is looked at. */
	for (i = 0; i < from->nr_slots && !err; i++) {
		struct cell c = from->slot[i];
		struct zone *z;

		if (!c.samples)
			continue;
		z = &k->zone[to[c.zone]];
		z->samples += c.samples;
		if (z->shift == CLOSED)
			continue;
		c.bin >>= z->shift - from->zone[c.zone].shift;
		c.zone = to[c.zone];
		if (!put(k, k->slot, k->nr_slots, &c))
			continue;
		z->cells++;
		k->cells++;
		if (k->cells * 4 >= k->nr_slots * 3)
			err = rebuild(k, k->nr_slots * 2, NULL);
	}
	return !err && k->cells >= k->max ? coarsen(k) : err;
}

size_t sketch_cells(const struct sketch *k)
{
	return k->cells;
}

void sketch_get(const struct sketch *k, struct sketch_cell *out)
{
	size_t i;

	for (i = 0; i < k->nr_slots; i++) {
		const struct cell *c = &k->slot[i];
		unsigned shift;

		if (!c->samples)
			continue;
		shift = k->zone[c->zone].shift;
		*out++ = (struct sketch_cell){.start = c->bin << shift,
					      .last = (c->bin << shift) + ((1ull << shift) - 1),
					      .samples = c->samples,
					      .accesses = c->accesses,
					      .reads = c->reads,
					      .writes = c->writes,
					      .zone = c->zone,
					      .event = c->event};
	}
}
