/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Heat cells shown (da_heat.h): the span of an event, and the counts resampled to rows and columns.
 *
 * Reads the table and changes nothing; keeping it is heat.c's, choosing rows and columns render_heat.c's.
 */
#include "heat_priv.h"

#include <string.h>

int da_heat_span(const struct da_heat *h, uint32_t event, uint64_t *t0_ns, uint64_t *t1_ns)
{
	uint64_t lo = UINT64_MAX, hi = 0, size = 1ull << h->time_shift;
	size_t i;
	int found = 0;

	for (i = 0; i < h->nr_slots; i++) {
		const struct cell *c = &h->slot[i];

		if (!c->n || c->event != event)
			continue;
		found = 1;
		lo = c->time < lo ? c->time : lo;
		hi = c->time > hi ? c->time : hi;
	}
	if (!found)
		return 0;
	lo <<= h->time_shift;
	hi = (hi << h->time_shift) + (size - 1);
	*t0_ns = lo > h->t0 ? lo : h->t0;
	*t1_ns = hi < h->t1 ? hi : h->t1;
	return 1;
}

/* The rows that a cell may count in: those of its zone, or all. */
static void rows_of_zone(const struct da_heat *h, uint32_t zone, const struct da_heat_row *rows,
			 size_t nr, size_t *first, size_t *end)
{
	size_t lo = 0, hi = nr;

	*first = 0;
	*end = nr;
	if (!h->zoned)
		return;
	while (lo < hi) { /* the first row that reaches this zone */
		size_t mid = lo + (hi - lo) / 2;

		if (rows[mid].last_zone < zone)
			lo = mid + 1;
		else
			hi = mid;
	}
	*first = lo;
	for (hi = nr; lo < hi;) { /* the first row behind it */
		size_t mid = lo + (hi - lo) / 2;

		if (rows[mid].zone <= zone)
			lo = mid + 1;
		else
			hi = mid;
	}
	*end = lo;
}

/* The row of a cell: that of its bin's middle, else the nearest one that the bin reaches. nr: none. */
static size_t row_of(const struct da_heat *h, const struct cell *c, const struct da_heat_row *rows,
		     size_t nr)
{
	uint64_t start = c->addr << h->addr_shift, size = 1ull << h->addr_shift;
	uint64_t last = start + (size - 1), middle = start + size / 2;
	size_t first, end, lo, hi;

	rows_of_zone(h, c->zone, rows, nr, &first, &end);
	lo = first;
	hi = end;
	while (lo < hi) { /* the first row that ends behind the middle */
		size_t mid = lo + (hi - lo) / 2;

		if (rows[mid].end <= middle)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < end && rows[lo].start <= middle)
		return lo;
	if (lo > first && rows[lo - 1].end > start &&
	    (lo == end || middle - rows[lo - 1].end <= rows[lo].start - middle))
		return lo - 1;
	if (lo < end && rows[lo].start <= last)
		return lo;
	return lo > first && rows[lo - 1].end > start ? lo - 1 : nr;
}

/* The column of a cell's time bin, or columns when it is outside. */
static size_t column_of(const struct da_heat *h, const struct cell *c, uint64_t t0, uint64_t t1,
			size_t columns)
{
	uint64_t start = c->time << h->time_shift, size = 1ull << h->time_shift;
	uint64_t last = start + (size - 1), middle = start + size / 2;

	if (last < t0 || start >= t1)
		return columns;
	if (middle < t0)
		middle = t0;
	if (middle >= t1)
		middle = t1 - 1;
	return (size_t)((unsigned __int128)(middle - t0) * columns / (t1 - t0));
}

void da_heat_render(const struct da_heat *h, uint32_t event, uint64_t t0_ns, uint64_t t1_ns,
		    size_t columns, const struct da_heat_row *rows, size_t nr_rows, uint64_t *cells)
{
	size_t i;

	memset(cells, 0, nr_rows * columns * sizeof(*cells));
	if (t1_ns <= t0_ns || !columns)
		return;
	for (i = 0; i < h->nr_slots; i++) {
		const struct cell *c = &h->slot[i];
		size_t row, col;

		if (!c->n || c->event != event)
			continue;
		col = column_of(h, c, t0_ns, t1_ns, columns);
		row = col < columns ? row_of(h, c, rows, nr_rows) : nr_rows;
		if (row == nr_rows)
			continue;
		if (__builtin_add_overflow(cells[row * columns + col], c->n,
					   &cells[row * columns + col]))
			cells[row * columns + col] = UINT64_MAX;
	}
}
