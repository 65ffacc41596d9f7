/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The plan of a heat map: which rows and columns, and what every cell holds. The same plan is drawn on a
 * terminal and written as JSON; shared by src/render_*.c and nobody else.
 */
#ifndef RENDER_PLAN_H
#define RENDER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_heat.h"
#include "da_offline.h"

struct plan {
	uint32_t event;
	uint64_t t0_ns, t1_ns; /* [t0, t1) */
	size_t columns, nr_rows;
	struct da_heat_row *rows; /* by address; zones are areas of the space */
	uint64_t *cells;          /* nr_rows * columns */
	bool *unseen; /* the same: nobody was looking there and then; such a cell has no count */
	bool *lost;   /* per column: something was lost in this time */
	uint64_t max; /* of cells */
	uint64_t row_bytes;  /* height of a row, an upper bound */
	bool shared_rows;    /* some row stands for several regions */
	uint64_t least;      /* regions with fewer samples are not drawn ... */
	size_t left_regions; /* ... which are so many */
	uint64_t left_samples;
};

/* False if there is nothing to draw: no report of the event in this space had a time. */
bool plan_possible(const struct da_space *s, uint32_t event);
/* At most max_rows and max_columns. 0 or -DA_ENOMEM; plan_release() in both cases. */
int plan_make(struct plan *p, const struct da_offline_result *r, const struct da_space *s,
	      uint32_t event, size_t max_columns, size_t max_rows);
void plan_release(struct plan *p);
/* The time shown and the number of columns, of p->event; part of plan_make(). */
void plan_span(struct plan *p, const struct da_offline_result *r, const struct da_space *s,
	       size_t max_columns);
/* Start of a column. */
uint64_t plan_time(const struct plan *p, size_t column);

#endif
