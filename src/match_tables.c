/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of the match layer: the index that finds everything by number, growing arrays, and the bitmap of
 * the times in which a sampler was seen at work. What the numbers mean is in match.c and match_regions.c.
 */
#include <stdlib.h>
#include <string.h>

#include "da_error.h"
#include "match_priv.h"

/* ---- index ---- */

static size_t slot_of(const struct index *x, uint32_t tag, uint64_t key)
{
	uint64_t h = (key ^ x->seed) * 0x9e3779b97f4a7c15ull;

	h ^= (h >> 32) + tag;
	h *= 0xd6e8feb86659fd93ull;
	return (size_t)(h >> 32) & (x->nr_slots - 1);
}

/* The slot of the key, or the free one where it belongs. */
static struct index_slot *probe(const struct index *x, uint32_t tag, uint64_t key)
{
	size_t i = slot_of(x, tag, key);

	while (x->slot[i].at != NONE && (x->slot[i].key != key || x->slot[i].tag != tag))
		i = (i + 1) & (x->nr_slots - 1);
	return &x->slot[i];
}

uint32_t index_find(const struct index *x, enum index_kind kind, uint32_t space, uint64_t key)
{
	return x->nr_slots ? probe(x, space << 4 | kind, key)->at : NONE;
}

static int index_grow(struct index *x)
{
	struct index bigger = {
		.nr_slots = x->nr_slots ? x->nr_slots * 2 : 256, .used = x->used, .seed = x->seed};
	size_t i;

	bigger.slot = malloc(bigger.nr_slots * sizeof(*bigger.slot));
	if (!bigger.slot)
		return -DA_ENOMEM;
	for (i = 0; i < bigger.nr_slots; i++)
		bigger.slot[i].at = NONE;
	for (i = 0; i < x->nr_slots; i++)
		if (x->slot[i].at != NONE)
			*probe(&bigger, x->slot[i].tag, x->slot[i].key) = x->slot[i];
	free(x->slot);
	*x = bigger;
	return 0;
}

int index_put(struct index *x, enum index_kind kind, uint32_t space, uint64_t key, uint32_t at)
{
	uint32_t tag = space << 4 | kind;
	struct index_slot *s;

	if (x->used * 4 >= x->nr_slots * 3) {
		int err = index_grow(x);

		if (err)
			return err;
	}
	s = probe(x, tag, key);
	x->used += s->at == NONE;
	*s = (struct index_slot){key, tag, at};
	return 0;
}

int grow(void **array, size_t *room, size_t nr, size_t size)
{
	size_t n = *room ? *room * 2 : 16;
	void *p;

	if (nr < *room)
		return 0;
	p = reallocarray(*array, n, size);
	if (!p)
		return -DA_ENOMEM;
	*array = p;
	*room = n;
	return 0;
}

/* ---- work ---- */

#define WORK_SHIFT_FIRST 14 /* 16 us */

static void set_bit(uint64_t *bits, uint64_t i)
{
	bits[i / 64] |= 1ull << (i % 64);
}

void work_init(struct work *w, uint64_t time_ns)
{
	memset(w, 0, sizeof(*w));
	w->shift = WORK_SHIFT_FIRST;
	w->first = time_ns >> w->shift;
	set_bit(w->bits, 0);
}

/* Makes the bins so wide that [lo, hi] fits, at least 1 << least ns, and moves the bits. */
static void rescale(struct work *w, uint64_t lo_ns, uint64_t hi_ns, unsigned least)
{
	struct work old = *w;
	unsigned by;
	uint64_t i;

	if (w->shift < least)
		w->shift = least;
	while (w->shift < 63 && (hi_ns >> w->shift) - (lo_ns >> w->shift) >= WORK_BINS)
		w->shift++;
	by = w->shift - old.shift;
	w->first = lo_ns >> w->shift;
	memset(w->bits, 0, sizeof(w->bits));
	for (i = 0; i < WORK_BINS; i++)
		if (old.bits[i / 64] >> (i % 64) & 1)
			set_bit(w->bits, ((old.first + i) >> by) - w->first);
}

/* Last bin with a bit set; there is always one. */
static uint64_t newest(const struct work *w)
{
	size_t i = WORK_BINS / 64;

	while (!w->bits[--i] && i)
		;
	return w->first + i * 64 + 63 - (unsigned)__builtin_clzll(w->bits[i] | 1);
}

void work_mark(struct work *w, uint64_t time_ns)
{
	uint64_t bin = time_ns >> w->shift;

	if (bin < w->first)
		rescale(w, time_ns, ((newest(w) + 1) << w->shift) - 1, 0);
	else if (bin - w->first >= WORK_BINS)
		rescale(w, w->first << w->shift, time_ns, 0);
	set_bit(w->bits, (time_ns >> w->shift) - w->first);
}

void work_merge(struct work *w, const struct work *from)
{
	uint64_t i, t;

	/* bins as wide as the other's, so that each of its bins has a place in one */
	if (from->shift > w->shift)
		rescale(w, w->first << w->shift, ((newest(w) + 1) << w->shift) - 1, from->shift);
	for (i = 0; i < WORK_BINS; i++) {
		if (!(from->bits[i / 64] >> (i % 64) & 1))
			continue;
		t = (from->first + i) << from->shift;
		work_mark(w, t);
	}
}

bool work_any(const struct work *w, uint64_t t0_ns, uint64_t t1_ns)
{
	uint64_t lo = t0_ns >> w->shift, hi, i;

	if (t1_ns <= t0_ns)
		return false;
	hi = (t1_ns - 1) >> w->shift;
	lo = lo < w->first ? w->first : lo;
	hi = hi - w->first >= WORK_BINS && hi >= w->first ? w->first + WORK_BINS - 1 : hi;
	for (i = lo; i <= hi && hi >= w->first; i++)
		if (w->bits[(i - w->first) / 64] >> ((i - w->first) % 64) & 1)
			return true;
	return false;
}
