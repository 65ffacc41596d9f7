/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of reports by address in bounded memory, for cutting mappings into regions; of the match layer.
 *
 * A zone (the caller's number of a mapping) has cells of one size: a page at first. When the cells reach the
 * bound, those zones get larger cells that have the fewest reports a cell. So no count is ever lost or given to
 * another zone; only the place of a report is known less well, to a cell, and what size that is can be asked.
 * A zone of one lonely cell may be closed: then it has no cells, and its mapping is one region.
 */
#ifndef REGION_SKETCH_H
#define REGION_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#include "da_report.h"

struct sketch;

struct sketch_cell {
	uint64_t start, last; /* bytes [start, last] */
	uint64_t samples, accesses, reads, writes;
	uint32_t zone, event;
};

struct sketch *sketch_new(size_t max_cells, uint64_t seed); /* NULL: out of memory */
void sketch_free(struct sketch *k);
/* 0 or -DA_ENOMEM. */
int sketch_add(struct sketch *k, uint32_t zone, const struct da_report *r, uint64_t addr);
/* The same a little later, when its cell has come from memory: with the next reports, or with sketch_settle(),
 * which is to be called before all that is below. */
int sketch_add_later(struct sketch *k, uint32_t zone, const struct da_report *r, uint64_t addr);
int sketch_settle(struct sketch *k);
/* Adds another one, whose zone z is to[z] here. 0 or -DA_ENOMEM. */
int sketch_merge(struct sketch *k, const struct sketch *from, const uint32_t *to);
size_t sketch_cells(const struct sketch *k);
/* Writes all cells, in no order; room for sketch_cells(). */
void sketch_get(const struct sketch *k, struct sketch_cell *out);

#endif
