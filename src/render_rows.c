/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sorting the regions of one event (render_rows.h). Ties are broken by address, so that equal input gives
 * equal output.
 */
#include "render_rows.h"

#include <stdlib.h>
#include <string.h>

#include "render_format.h"

static const char *const sort_names[DA_SORT_NR] = {
	[DA_SORT_SHARE] = "share",     [DA_SORT_ADDR] = "addr",         [DA_SORT_LABEL] = "label",
	[DA_SORT_SAMPLES] = "samples", [DA_SORT_ACCESSES] = "accesses", [DA_SORT_READS] = "reads",
	[DA_SORT_WRITES] = "writes",   [DA_SORT_SIZE] = "size",
};

const char *da_sort_name(enum da_sort s)
{
	return (unsigned)s < DA_SORT_NR ? sort_names[s] : "unknown";
}

static uint64_t weight(const struct row *w, enum da_sort s)
{
	switch (s) {
	case DA_SORT_SAMPLES:
		return w->st->samples;
	case DA_SORT_READS:
		return w->st->reads;
	case DA_SORT_WRITES:
		return w->st->writes;
	case DA_SORT_SIZE:
		return w->g->end - w->g->start;
	default:
		return w->st->accesses;
	}
}

static int by_order(const void *a, const void *b, void *ctx)
{
	const struct row *x = a, *y = b;
	enum da_sort s = *(const enum da_sort *)ctx;

	if (s == DA_SORT_LABEL) {
		int c = strcmp(x->g->label, y->g->label);

		if (c)
			return c;
	} else if (s != DA_SORT_ADDR) {
		uint64_t wx = weight(x, s), wy = weight(y, s);

		if (wx != wy)
			return wx > wy ? -1 : 1;
	}
	return (x->g->start > y->g->start) - (x->g->start < y->g->start);
}

int rows_in_order(const struct da_space *s, uint32_t event, enum da_sort sort, struct row **out,
		  size_t *nr)
{
	struct row *rows = reallocarray(NULL, s->nr_regions + 1, sizeof(*rows));
	size_t i, n = 0;

	if (!rows)
		return -DA_ENOMEM;
	for (i = 0; i < s->nr_regions; i++) {
		const struct da_region_stat *st = stat_of(&s->regions[i], event);

		if (st)
			rows[n++] = (struct row){&s->regions[i], st};
	}
	if (n)
		qsort_r(rows, n, sizeof(*rows), by_order, &sort);
	*out = rows;
	*nr = n;
	return 0;
}
