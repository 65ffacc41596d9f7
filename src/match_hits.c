/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log of match_hits.h: a hash table of records (entry, probe, place, chunk of intervals), each with a bit
 * for every interval. When there are too many, places double in size and records that share one are joined;
 * a record's place is then cut by where its first hit was. It knows neither regions nor weights.
 */
#include "match_hits.h"

#include <stdlib.h>
#include <string.h>

#include "da_error.h"

#define MAX_RECORDS (96u * 1024)
#define SHIFT_FIRST 12 /* pages */
#define SHIFT_LAST  63
#define FREE        UINT32_MAX

struct hits {
	struct hits_record *all;
	size_t nr, room, max;
	uint32_t *slot; /* position in all, or FREE */
	size_t nr_slots;
	unsigned shift;
	uint64_t seed;
};

struct hits *hits_new(size_t max, uint64_t seed)
{
	struct hits *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->max = max ? max : MAX_RECORDS;
	h->shift = SHIFT_FIRST;
	h->seed = seed;
	return h;
}

void hits_free(struct hits *h)
{
	if (!h)
		return;
	free(h->all);
	free(h->slot);
	free(h);
}

static bool same(const struct hits_record *a, const struct hits_record *b)
{
	return a->place == b->place && a->chunk == b->chunk && a->entry == b->entry &&
	       a->probe == b->probe;
}

/* The slot of this key, or the free one where it belongs. */
static uint32_t *slot_of(const struct hits *h, const struct hits_record *key)
{
	uint64_t x = (key->place ^ h->seed) * 0x9e3779b97f4a7c15ull;
	size_t i;

	x = ((x ^ x >> 32) + key->chunk) * 0xd6e8feb86659fd93ull;
	x = ((x ^ x >> 32) + ((uint64_t)key->entry << 6 | key->probe)) * 0x9e3779b97f4a7c15ull;
	for (i = (size_t)(x >> 32) & (h->nr_slots - 1); h->slot[i] != FREE;
	     i = (i + 1) & (h->nr_slots - 1))
		if (same(&h->all[h->slot[i]], key))
			break;
	return &h->slot[i];
}

static int new_slots(struct hits *h, size_t nr)
{
	uint32_t *slot = malloc(nr * sizeof(*slot));

	if (!slot)
		return -DA_ENOMEM;
	memset(slot, 0xff, nr * sizeof(*slot)); /* FREE */
	free(h->slot);
	h->slot = slot;
	h->nr_slots = nr;
	for (size_t i = 0; i < h->nr; i++)
		*slot_of(h, &h->all[i]) = (uint32_t)i;
	return 0;
}

static void join(struct hits_record *to, const struct hits_record *from)
{
	to->reports += from->reports;
	for (size_t i = 0; i < HITS_INTERVALS / 64; i++)
		to->bits[i] |= from->bits[i];
}

/* Places of twice the size, until a quarter of the room is free or an entry has only one. */
static void coarsen(struct hits *h)
{
	while (h->nr > h->max - h->max / 4 && h->shift < SHIFT_LAST) {
		size_t nr = h->nr;

		h->shift++;
		memset(h->slot, 0xff, h->nr_slots * sizeof(*h->slot));
		h->nr = 0;
		for (size_t i = 0; i < nr; i++) {
			struct hits_record r = h->all[i];
			uint32_t *at;

			r.place = r.addr >> h->shift;
			at = slot_of(h, &r);
			if (*at != FREE) {
				join(&h->all[*at], &r);
				continue;
			}
			*at = (uint32_t)h->nr;
			h->all[h->nr++] = r;
		}
	}
	if (h->nr > h->max - h->max / 4)
		h->max = h->nr + h->nr / 2; /* one place an entry: as many as are needed */
}

/* The record of a key, made if it is not there; NULL: out of memory. */
static struct hits_record *record_of(struct hits *h, struct hits_record *key)
{
	uint32_t *at;

	if (h->nr >= h->max)
		coarsen(h);
	key->place = key->addr >> h->shift;
	if (h->nr * 4 >= h->nr_slots * 3 && new_slots(h, h->nr_slots ? h->nr_slots * 2 : 256))
		return NULL;
	at = slot_of(h, key);
	if (*at != FREE)
		return &h->all[*at];
	if (h->nr == h->room) {
		size_t room = h->room ? h->room * 2 : 64;
		struct hits_record *grown = reallocarray(h->all, room, sizeof(*grown));

		if (!grown)
			return NULL;
		h->all = grown;
		h->room = room;
	}
	*at = (uint32_t)h->nr;
	h->all[h->nr] = (struct hits_record){.place = key->place,
					     .chunk = key->chunk,
					     .addr = key->addr,
					     .entry = key->entry,
					     .probe = key->probe};
	return &h->all[h->nr++];
}

int hits_add(struct hits *h, uint32_t entry, uint32_t probe, uint64_t addr, uint64_t interval)
{
	struct hits_record key = {
		.chunk = interval / HITS_INTERVALS, .addr = addr, .entry = entry, .probe = probe};
	struct hits_record *r = record_of(h, &key);

	if (!r)
		return -DA_ENOMEM;
	r->reports++;
	r->bits[interval % HITS_INTERVALS / 64] |= 1ull << (interval % 64);
	return 0;
}

int hits_merge(struct hits *h, const struct hits *from, const uint32_t *entry)
{
	for (size_t i = 0; i < from->nr; i++) {
		struct hits_record key = from->all[i], *r;

		key.entry = entry[key.entry];
		r = record_of(h, &key);
		if (!r)
			return -DA_ENOMEM;
		join(r, &from->all[i]);
	}
	return 0;
}

struct hits_record *hits_records(struct hits *h, size_t *nr)
{
	*nr = h->nr;
	return h->all;
}
