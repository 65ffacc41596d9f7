/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heat cells (da_heat.h): one open-addressed table of counts, keyed by event, zone, time bin and address
 * bin, whose resolution falls as it fills. Nothing is stored per report.
 *
 * Not here: which rows and columns make a readable picture (render_heat.c), and what a zone is (match.c).
 */
#include "heat_priv.h"

#include <stdlib.h>
#include <sys/random.h>

#include "da_error.h"

/* One time axis is worth refining up to this many bins: a picture has at most some hundred columns. */
#define TIME_BINS_MAX 1024
/* Below this many bins time is not made coarser to save cells: columns would show the bins' edges. */
#define TIME_BINS_MIN    128
#define TIME_SHIFT_FIRST 14 /* 16 us */
#define ADDR_SHIFT_FIRST 12 /* a page */
#define SHIFT_MAX        63
#define SLOTS_FIRST      64
#define MAX_CELLS_FLOOR  1024

struct da_heat *da_heat_new(size_t max_cells)
{
	struct da_heat *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->slot = calloc(SLOTS_FIRST, sizeof(*h->slot));
	if (!h->slot) {
		free(h);
		return NULL;
	}
	h->nr_slots = SLOTS_FIRST;
	h->max_cells = max_cells < MAX_CELLS_FLOOR ? MAX_CELLS_FLOOR : max_cells;
	if (getrandom(&h->seed, sizeof(h->seed), GRND_NONBLOCK) < 0)
		h->seed = (uintptr_t)h; /* not secret then, but no file can know it */
	h->time_shift = TIME_SHIFT_FIRST;
	h->addr_shift = ADDR_SHIFT_FIRST;
	h->zoned = true;
	return h;
}

void da_heat_expect(struct da_heat *h, uint64_t span_ns)
{
	while (!h->cells && h->time_shift < SHIFT_MAX &&
	       span_ns >> h->time_shift >= TIME_BINS_MAX / 2)
		h->time_shift++;
}

size_t da_heat_cells(const struct da_heat *h)
{
	return h->cells;
}

void da_heat_resolution(const struct da_heat *h, uint64_t *addr_bytes, uint64_t *time_ns)
{
	*addr_bytes = 1ull << h->addr_shift;
	*time_ns = 1ull << h->time_shift;
}

bool da_heat_zoned(const struct da_heat *h)
{
	return h->zoned;
}

static size_t slot_of(const struct cell *k, size_t nr_slots, uint64_t seed)
{
	uint64_t x = (k->addr ^ seed) * 0x9e3779b97f4a7c15ull;

	x ^= (k->time + ((uint64_t)k->zone << 32) + k->event) * 0xc2b2ae3d27d4eb4full;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ull;
	return (size_t)(x >> 32) & (nr_slots - 1);
}

static bool same_key(const struct cell *a, const struct cell *b)
{
	return a->addr == b->addr && a->time == b->time && a->event == b->event &&
	       a->zone == b->zone;
}

/* The slot of the key: its cell, or the free slot where it belongs. There is always a free one. */
static struct cell *probe(struct cell *slot, size_t nr_slots, uint64_t seed, const struct cell *key)
{
	size_t i = slot_of(key, nr_slots, seed);

	while (slot[i].n && !same_key(&slot[i], key))
		i = (i + 1) & (nr_slots - 1);
	return &slot[i];
}

/* Adding n is capped, as a counter that wraps would show a hot cell as a cold one. */
static bool put(struct cell *slot, size_t nr_slots, uint64_t seed, const struct cell *c)
{
	struct cell *s = probe(slot, nr_slots, seed, c);
	bool fresh = !s->n;

	if (fresh)
		*s = *c;
	else if (__builtin_add_overflow(s->n, c->n, &s->n))
		s->n = UINT64_MAX;
	return fresh;
}

/* ---- the front ---- */

struct da_heat_front *da_heat_front_new(void)
{
	return calloc(1, sizeof(struct da_heat_front));
}

void da_heat_front_free(struct da_heat_front *f)
{
	free(f);
}

void da_heat_use_front(struct da_heat *h, struct da_heat_front *f)
{
	h->front = f;
}

/* Puts what is to be added into the cell, which is there. */
static void front_put(struct front_cell *c)
{
	struct da_heat *h = c->heat;
	struct cell k = {c->addr, c->time, c->more, (uint32_t)c->zoned_event,
			 (uint32_t)(c->zoned_event >> 32)};

	if (h && c->more)
		put(h->slot, h->nr_slots, h->seed, &k);
	c->more = 0;
}

/* A cell of the table takes its place in the front. */
static void front_take(struct da_heat *h, const struct cell *k)
{
	uint64_t ze = (uint64_t)k->zone << 32 | k->event;
	struct front_cell *c = front_at(h->front, k->addr, k->time, ze);

	front_put(c);
	*c = (struct front_cell){h, k->addr, k->time, ze, 0};
}

static void front_leave(struct da_heat *h)
{
	for (size_t i = 0; i < 1u << FRONT_BITS; i++) {
		struct front_cell *c = &h->front->cell[i];

		if (c->heat != h)
			continue;
		front_put(c);
		c->heat = NULL;
	}
}

void da_heat_settle(struct da_heat *h)
{
	if (h->front)
		front_leave(h);
}

void da_heat_free(struct da_heat *h)
{
	if (!h)
		return;
	if (h->front)
		front_leave(h);
	free(h->slot);
	free(h);
}

/* ---- resolution ---- */

struct change {
	unsigned time, addr; /* bits of resolution to give up */
	bool drop_zones;
	const uint32_t *rezone;
};

static struct cell changed(struct cell c, const struct change *ch)
{
	c.time >>= ch->time;
	c.addr >>= ch->addr;
	if (ch->drop_zones)
		c.zone = 0;
	else if (ch->rezone)
		c.zone = ch->rezone[c.zone];
	return c;
}

/* Moves all cells to a table of nr_slots, changing their keys on the way. */
static int rebuild(struct da_heat *h, size_t nr_slots, const struct change *ch)
{
	struct cell *slot = calloc(nr_slots, sizeof(*slot));
	size_t i, cells = 0;

	if (!slot)
		return -DA_ENOMEM;
	da_heat_settle(h);
	for (i = 0; i < h->nr_slots; i++) {
		struct cell c;

		if (!h->slot[i].n)
			continue;
		c = changed(h->slot[i], ch);
		cells += put(slot, nr_slots, h->seed, &c);
	}
	free(h->slot);
	h->slot = slot;
	h->nr_slots = nr_slots;
	h->cells = cells;
	h->time_shift += ch->time;
	h->addr_shift += ch->addr;
	if (ch->drop_zones)
		h->zoned = false;
	return 0;
}

/* A table for the cells there are: a smaller one is nearer to the processor. */
static size_t slots_needed(const struct da_heat *h)
{
	size_t n = h->nr_slots;

	while (n > SLOTS_FIRST && h->cells * 8 < n * 3)
		n /= 2;
	return n;
}

static uint64_t time_bins(const struct da_heat *h)
{
	return h->cells ? (h->t1 >> h->time_shift) - (h->t0 >> h->time_shift) + 1 : 0;
}

/* One cell of this many stands for all in survey(). */
#define SURVEY 8

/* Whether a cell is asked follows from what it is, not from where the seed has put it: the same input shall
 * give the same cells. Bit 0 of either axis does not decide, as it tells neighbours apart. */
static bool surveyed(const struct cell *c)
{
	uint64_t x = (c->addr >> 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ ((c->time >> 1) + c->zone)) * 0xc2b2ae3d27d4eb4full;
	return x >> 61 == 0;
}

/* Cells that a change would merge with their neighbour on its axis: an upper bound of what is saved, and
 * close to twice of it. */
static void survey(const struct da_heat *h, size_t *by_addr, size_t *by_time)
{
	size_t i, addr = 0, time = 0;

	for (i = 0; i < h->nr_slots; i++) {
		struct cell k = h->slot[i];

		if (!k.n || !surveyed(&k))
			continue;
		k.addr ^= 1;
		addr += probe(h->slot, h->nr_slots, h->seed, &k)->n != 0;
		k.addr ^= 1;
		k.time ^= 1;
		time += probe(h->slot, h->nr_slots, h->seed, &k)->n != 0;
	}
	*by_addr = addr * SURVEY;
	*by_time = time * SURVEY;
}

int da_heat_coarsen(struct da_heat *h)
{
	struct change ch = {0};
	size_t by_addr, by_time;
	uint64_t bins = time_bins(h);

	if (!h->zoned && h->addr_shift == SHIFT_MAX && h->time_shift == SHIFT_MAX)
		return -DA_EMORE;
	if (bins > TIME_BINS_MAX / 2 && h->time_shift < SHIFT_MAX) {
		ch.time = 1;
		return rebuild(h, slots_needed(h), &ch);
	}
	survey(h, &by_addr, &by_time);
	by_addr = h->addr_shift < SHIFT_MAX ? by_addr : 0;
	by_time = bins > TIME_BINS_MIN && h->time_shift < SHIFT_MAX ? by_time : 0;
	if (by_addr < h->cells / 8 && by_time < h->cells / 8) {
		/* Many small zones: neither axis saves much. Sparse cells merge after some more halvings of
		 * the address, but only if they may cross from one zone to the next. */
		if (h->zoned)
			ch.drop_zones = true;
		else if (h->addr_shift < SHIFT_MAX)
			ch.addr = 1;
		else
			ch.time = 1;
	} else if (by_addr >= by_time) {
		ch.addr = 1;
	} else {
		ch.time = 1;
	}
	return rebuild(h, slots_needed(h), &ch);
}

static int make_room(struct da_heat *h)
{
	struct change none = {0};
	int err;

	if (h->cells >= h->max_cells) {
		size_t goal = h->max_cells - h->max_cells / 8;

		while (h->cells > goal) {
			err = da_heat_coarsen(h);
			if (err == -DA_EMORE)
				break; /* a cell an event: cannot be less */
			if (err)
				return err;
		}
	}
	if (h->cells * 4 >= h->nr_slots * 3)
		return rebuild(h, h->nr_slots * 2, &none);
	return 0;
}

/* The cells are to reach over [lo, hi] too: the bins of the new span must not be too many. */
static int reach(struct da_heat *h, uint64_t lo, uint64_t hi)
{
	struct change later = {.time = 1};
	int err;

	if (!h->cells) {
		h->t0 = lo;
		h->t1 = hi;
	}
	h->t0 = lo < h->t0 ? lo : h->t0;
	h->t1 = hi > h->t1 ? hi : h->t1;
	while ((h->t1 >> h->time_shift) - (h->t0 >> h->time_shift) >= TIME_BINS_MAX &&
	       h->time_shift < SHIFT_MAX) {
		/* A far time asks for many halvings at once: one pass does them all. */
		later.time = 1;
		while (h->time_shift + later.time < SHIFT_MAX &&
		       ((h->t1 - h->t0) >> (h->time_shift + later.time)) >= TIME_BINS_MAX)
			later.time++;
		err = rebuild(h, h->nr_slots, &later);
		if (err)
			return err;
	}
	return 0;
}

int da_heat_add(struct da_heat *h, uint32_t event, uint32_t zone, uint64_t time_ns, uint64_t addr,
		uint64_t n)
{
	struct cell c;
	bool fresh;
	int err;

	if (!n)
		return 0;
	if (n == 1 && h->front && front_hit(h->front, h, event, zone, time_ns, addr))
		return 0;
	if (!h->cells || time_ns < h->t0 || time_ns > h->t1) {
		err = reach(h, time_ns, time_ns);
		if (err)
			return err;
	}
	c = (struct cell){addr >> h->addr_shift, time_ns >> h->time_shift, n, event,
			  h->zoned ? zone : 0};
	fresh = put(h->slot, h->nr_slots, h->seed, &c);
	if (h->front)
		front_take(h, &c);
	if (!fresh)
		return 0;
	h->cells++;
	if (h->cells < h->max_cells && h->cells * 4 < h->nr_slots * 3)
		return 0;
	return make_room(h);
}

void da_heat_prefetch(const struct da_heat *h, uint32_t event, uint32_t zone, uint64_t time_ns,
		      uint64_t addr)
{
	struct cell c = {.addr = addr >> h->addr_shift,
			 .time = time_ns >> h->time_shift,
			 .event = event,
			 .zone = h->zoned ? zone : 0};

	__builtin_prefetch(&h->slot[slot_of(&c, h->nr_slots, h->seed)], 1);
}

/* Makes room only at the end: the tables have no order, and what is left must not depend on theirs. */
static int add_cells(struct da_heat *h, const struct da_heat *from, const uint32_t *to)
{
	const struct change none = {0};
	size_t i;

	for (i = 0; i < from->nr_slots; i++) {
		struct cell c = from->slot[i];

		if (!c.n)
			continue;
		c.time >>= h->time_shift - from->time_shift;
		c.addr >>= h->addr_shift - from->addr_shift;
		c.zone = h->zoned ? to[c.zone] : 0;
		h->cells += put(h->slot, h->nr_slots, h->seed, &c);
		if (h->cells * 4 >= h->nr_slots * 3 && rebuild(h, h->nr_slots * 2, &none))
			return -DA_ENOMEM;
	}
	return h->cells < h->max_cells ? 0 : make_room(h);
}

int da_heat_merge(struct da_heat *h, const struct da_heat *from, const uint32_t *to)
{
	struct change ch = {.drop_zones = h->zoned && !from->zoned};
	int err = 0;

	if (!from->cells)
		return 0;
	if (from->time_shift > h->time_shift)
		ch.time = from->time_shift - h->time_shift;
	if (from->addr_shift > h->addr_shift)
		ch.addr = from->addr_shift - h->addr_shift;
	if (ch.time || ch.addr || ch.drop_zones)
		err = rebuild(h, h->nr_slots, &ch);
	if (!err)
		err = reach(h, from->t0, from->t1);
	return err ? err : add_cells(h, from, to);
}

int da_heat_rezone(struct da_heat *h, const uint32_t *to)
{
	struct change ch = {.rezone = to};

	da_heat_settle(h);
	return h->zoned ? rebuild(h, h->nr_slots, &ch) : 0;
}
