/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The regions of one event in the order that the user asked for; shared by src/render_*.c and nobody else.
 */
#ifndef RENDER_ROWS_H
#define RENDER_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "da_render.h"

struct row {
	const struct da_region *g;
	const struct da_region_stat *st;
};

/* The regions that an event was matched in, sorted; *out is malloc'ed. 0 or -DA_ENOMEM. */
int rows_in_order(const struct da_space *s, uint32_t event, enum da_sort sort, struct row **out,
		  size_t *nr);

#endif
