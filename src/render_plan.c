/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows, columns and cells of a heat map (render_plan.h).
 *
 * Rows have one height, a power of two, aligned, so that they do not cut a heat bin; they begin anew with
 * each region and cover what was hit of it. Of many regions those with few samples are left out, if they
 * matter little together; else (many alike) a row stands for several. Drawing is not here.
 */
#include "render_plan.h"

#include <stdlib.h>
#include <string.h>

#include "da_error.h"
#include "render_format.h"

#define PAGE 4096ull

bool plan_possible(const struct da_space *s, uint32_t event)
{
	uint64_t t0, t1;

	return s->heat && da_heat_span(s->heat, event, &t0, &t1);
}

void plan_release(struct plan *p)
{
	free(p->rows);
	free(p->cells);
	free(p->unseen);
	free(p->lost);
	memset(p, 0, sizeof(*p));
}

uint64_t plan_time(const struct plan *p, size_t column)
{
	return p->t0_ns +
	       (uint64_t)((unsigned __int128)(p->t1_ns - p->t0_ns) * column / p->columns);
}

/* ---- columns ---- */

/* The time of the recording in which this space lived; a process of a moment fills the picture too. */
void plan_span(struct plan *p, const struct da_offline_result *r, const struct da_space *s,
	       size_t max_columns)
{
	uint64_t h0 = 0, h1 = 0, bytes, bin, bins;

	da_heat_span(s->heat, p->event, &h0, &h1);
	da_heat_resolution(s->heat, &bytes, &bin);
	p->t0_ns = h0;
	p->t1_ns = h1;
	if (r->first_ns <= r->last_ns) {
		uint64_t t0 = r->first_ns > s->from_ns ? r->first_ns : s->from_ns;
		uint64_t t1 = r->last_ns < s->to_ns ? r->last_ns : s->to_ns;

		p->t0_ns = t0 < h0 ? t0 : h0;
		p->t1_ns = t1 > h1 ? t1 : h1;
	}
	if (p->t1_ns < UINT64_MAX)
		p->t1_ns++; /* the last report belongs to it */
	/* More columns than bins would show a pattern of the bins. */
	bins = (p->t1_ns - p->t0_ns) / bin;
	p->columns = bins >= max_columns ? max_columns : bins ? (size_t)bins : 1;
}

/* ---- rows ---- */

static uint64_t row_bound(uint64_t addr, uint64_t height)
{
	return addr & ~(height - 1);
}

/* Rows of one height; fills at most max of them and returns how many there would be (max + 1: more). */
static size_t rows_of_height(struct plan *p, const struct da_space *s, uint64_t height, bool share,
			     size_t max)
{
	size_t i, n = 0;

	p->shared_rows = false;
	for (i = 0; i < s->nr_areas; i++) {
		const struct da_region *g = &s->areas[i];
		const struct da_region_stat *st = stat_of(g, p->event);
		uint64_t at, last;

		if (!st || st->samples < p->least)
			continue;
		at = row_bound(st->hit_start, height);
		last = row_bound(st->hit_end - 1, height);
		if ((last - at) / height >= max)
			return max + 1;
		for (;; at += height) {
			uint64_t start = at > g->start ? at : g->start, end = at + (height - 1);

			end = end >= g->end - 1 ? g->end : end + 1;
			if (share && n && row_bound(p->rows[n - 1].start, height) == at) {
				p->rows[n - 1].end = end;
				p->rows[n - 1].last_zone = (uint32_t)i;
				p->shared_rows = true;
			} else if (n == max) {
				return max + 1;
			} else {
				p->rows[n++] =
					(struct da_heat_row){start, end, (uint32_t)i, (uint32_t)i};
			}
			if (at == last)
				break;
		}
	}
	return n;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* Sets what is left out, and whether rows must be shared all the same. */
static int choose_regions(struct plan *p, const struct da_space *s, size_t max_rows, bool *share)
{
	size_t room = max_rows / 2, nr = 0, i; /* a region may need several rows */
	uint64_t *samples = reallocarray(NULL, s->nr_areas + 1, sizeof(*samples)), all = 0,
		 kept = 0;

	if (!samples)
		return -DA_ENOMEM;
	for (i = 0; i < s->nr_areas; i++) {
		const struct da_region_stat *st = stat_of(&s->areas[i], p->event);

		if (!st)
			continue;
		samples[nr++] = st->samples;
		all += st->samples;
	}
	*share = false;
	p->least = 1;
	if (nr > room) {
		qsort(samples, nr, sizeof(*samples), by_size);
		/* with the last that has room those of equal count are left out, so that none is preferred */
		for (i = 0; i < room && samples[i] > samples[room]; i++)
			kept += samples[i];
		p->least = samples[room] + 1;
		*share = kept < all - all / 8;
		if (*share) {
			p->least = 1;
		} else {
			p->left_regions = nr - i;
			p->left_samples = all - kept;
		}
	}
	free(samples);
	return 0;
}

static int choose_rows(struct plan *p, const struct da_space *s, size_t max_rows)
{
	uint64_t bin_ns, bytes;
	unsigned shift = 0;
	bool share;

	if (choose_regions(p, s, max_rows, &share))
		return -DA_ENOMEM;
	da_heat_resolution(s->heat, &bytes, &bin_ns);
	p->rows = calloc(max_rows, sizeof(*p->rows));
	if (!p->rows)
		return -DA_ENOMEM;
	while ((PAGE << shift) < bytes)
		shift++;
	for (;; shift++) {
		p->row_bytes = PAGE << shift;
		p->nr_rows = rows_of_height(p, s, p->row_bytes, share, max_rows);
		if (p->nr_rows <= max_rows)
			return 0;
		if (shift == 51) /* height 2^63: two rows hold everything */
			break;
	}
	p->nr_rows = max_rows;
	return 0;
}

/* ---- cells ---- */

/* Is a silent column a column without accesses, or one in which the sampler did not look? Events that
 * happen by themselves (faults, tracepoints) are looked at all the time; samplers of time are not. */
static bool looks_always(enum da_producer p)
{
	return p != DA_PROD_REGS && p != DA_PROD_SPE && p != DA_PROD_PEBS_RAW &&
	       p != DA_PROD_IBS_OP && p != DA_PROD_IBS_FETCH;
}

static void mark_unseen(struct plan *p, const struct da_offline_result *r, const struct da_space *s)
{
	bool always = looks_always(r->events[p->event].producer);
	size_t row, col, i;

	for (col = 0; col < p->columns; col++) {
		uint64_t t0 = plan_time(p, col), t1 = plan_time(p, col + 1);
		bool seen = always || da_match_observed(r->match, s, p->event, t0, t1);

		for (row = 0; row < p->nr_rows; row++) {
			uint64_t from = UINT64_MAX; /* mapped since */

			i = row * p->columns + col;
			if (p->cells[i])
				continue;
			for (uint32_t z = p->rows[row].zone;
			     seen && from >= t1 && z <= p->rows[row].last_zone; z++)
				from = s->areas[z].from_ns < from ? s->areas[z].from_ns : from;
			p->unseen[i] = !seen || from >= t1;
		}
	}
}

static void mark_lost(struct plan *p, const struct da_offline_result *r)
{
	size_t col, i;

	for (i = 0; i < r->nr_gaps; i++) {
		const struct da_offline_gap *g = &r->gaps[i];

		if (g->t1_ns < p->t0_ns || g->t0_ns >= p->t1_ns)
			continue;
		for (col = 0; col < p->columns; col++) {
			if (g->t1_ns < plan_time(p, col) || g->t0_ns >= plan_time(p, col + 1))
				continue;
			p->lost[col] = true;
		}
	}
}

int plan_make(struct plan *p, const struct da_offline_result *r, const struct da_space *s,
	      uint32_t event, size_t max_columns, size_t max_rows)
{
	size_t i, nr;
	int err;

	memset(p, 0, sizeof(*p));
	p->event = event;
	plan_span(p, r, s, max_columns);
	err = choose_rows(p, s, max_rows);
	if (err)
		return err;
	nr = p->nr_rows * p->columns;
	p->cells = calloc(nr + 1, sizeof(*p->cells));
	p->unseen = calloc(nr + 1, sizeof(*p->unseen));
	p->lost = calloc(p->columns, sizeof(*p->lost));
	if (!p->cells || !p->unseen || !p->lost)
		return -DA_ENOMEM;
	da_heat_render(s->heat, event, p->t0_ns, p->t1_ns, p->columns, p->rows, p->nr_rows,
		       p->cells);
	for (i = 0; i < nr; i++)
		p->max = p->cells[i] > p->max ? p->cells[i] : p->max;
	mark_unseen(p, r, s);
	mark_lost(p, r);
	return 0;
}
