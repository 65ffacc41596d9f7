/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of regions that are made of the sketch's cells, shared by match_refine.c, which finds their bounds,
 * and match_adopt.c, which is given them.
 */
#ifndef MATCH_REFINE_H
#define MATCH_REFINE_H

#include "match_priv.h"

/* A cell with its final place. */
struct spot {
	struct sketch_cell c;
	uint32_t space, area;
};

struct cut_table {
	struct da_region *region;
	size_t nr, room;
	struct da_region_stat *stat; /* of all spaces, in the order of their regions */
	size_t nr_stats, room_stats;
};

struct da_region *cut_new_region(struct cut_table *t); /* NULL: out of memory */
/* The numbers of the spots [first, end) become those of the region that was made last. 0 or -DA_ENOMEM. */
int cut_add_up(struct cut_table *t, struct da_region *r, const struct spot *spot, size_t first,
	       size_t end);

/* Gives spaces the bounds of the kernel's targets. spot: of all spaces, in order. 0 or -DA_ENOMEM. */
int match_kernel(struct da_match *m, const struct spot *spot, size_t nr);
/* The space's regions are its bounds, and what was hit outside of them. spot: all of the space, in order. */
int match_adopt(struct da_match *m, struct cut_table *t, struct space *s, const struct spot *spot,
		size_t nr);

#endif
