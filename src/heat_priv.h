/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The insides of the heat cells: heat.c keeps them, heat_show.c reads them, and match_count.c uses the short
 * way of adding to a cell that was added to a moment ago.
 *
 * Reports come in order of time, so most of them fall into cells that have just been counted in. The front
 * is a small direct-mapped cache of such cells: a hit costs no look-up in the table, which may be larger than
 * a core's caches. What is not in the front goes the long way, da_heat_add().
 */
#ifndef DA_HEAT_PRIV_H
#define DA_HEAT_PRIV_H

#include "da_heat.h"

struct cell {
	uint64_t addr, time; /* bins: value >> shift */
	uint64_t n;          /* 0: free slot */
	uint32_t event, zone;
};

struct da_heat {
	struct cell *slot;
	size_t nr_slots; /* power of two, at most three quarters full */
	size_t cells, max_cells;
	uint64_t t0, t1; /* over all events; valid when cells > 0 */
	uint64_t seed;   /* of the hash: no file can be made whose cells all collide */
	unsigned time_shift, addr_shift;
	bool zoned;
	struct da_heat_front *front; /* NULL: none */
};

/* A cell that is in the table of its heat, and what is to be added to it. */
struct front_cell {
	struct da_heat *heat; /* NULL: free */
	uint64_t addr, time;
	uint64_t zoned_event; /* zone << 32 | event */
	uint64_t more;
};

#define FRONT_BITS 9 /* 20 KiB: a part of a core's first cache */

struct da_heat_front {
	struct front_cell cell[1u << FRONT_BITS];
};

static inline struct front_cell *front_at(struct da_heat_front *f, uint64_t addr, uint64_t time,
					  uint64_t zoned_event)
{
	uint64_t x = addr * 0x9e3779b97f4a7c15ull + time * 0xc2b2ae3d27d4eb4full +
		     zoned_event * 0xd6e8feb86659fd93ull;

	return &f->cell[x >> (64 - FRONT_BITS)];
}

/* Adds a report to its cell if that is in the front. */
static inline bool front_hit(struct da_heat_front *f, struct da_heat *h, uint32_t event,
			     uint32_t zone, uint64_t time_ns, uint64_t addr)
{
	uint64_t a = addr >> h->addr_shift, t = time_ns >> h->time_shift;
	uint64_t ze = (h->zoned ? (uint64_t)zone << 32 : 0) | event;
	struct front_cell *c = front_at(f, a, t, ze);

	if (((uintptr_t)c->heat ^ (uintptr_t)h) | (c->addr ^ a) | (c->time ^ t) |
	    (c->zoned_event ^ ze))
		return false;
	c->more++; /* no recording has 2^64 reports */
	h->t0 = time_ns < h->t0 ? time_ns : h->t0;
	h->t1 = time_ns > h->t1 ? time_ns : h->t1;
	return true;
}

#endif
