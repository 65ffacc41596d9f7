/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ages and idle times of regions (render_ages.h), from the heat cells: 64 columns of time a region. The last
 * change is found as region_density.c finds changes, but by one cut at a time, as there may be a million
 * regions.
 */
#include "render_ages.h"

#include <math.h>
#include <stdlib.h>

#include "da_density.h"
#include "da_error.h"
#include "render_format.h"
#include "render_plan.h"

#define COLUMNS 64
#define BATCH   2048

/* Columns: where the present rate began, and behind the last sample. */
struct age_columns {
	bool known;
	uint8_t change, last;
};

static double likelihood(uint64_t n, size_t columns)
{
	return n ? (double)n * log((double)n / (double)columns) : 0;
}

/* The column where what is seen at the end began. */
static size_t last_change(const uint64_t *n, size_t columns)
{
	size_t from = 0, best, i;
	uint64_t all, before;
	double gain, most;

	do {
		all = before = 0;
		best = from;
		most = 0;
		for (i = from; i < columns; i++)
			all += n[i];
		for (i = from + 1; i < columns; i++) {
			before += n[i - 1];
			gain = likelihood(before, i - from) +
			       likelihood(all - before, columns - i) -
			       likelihood(all, columns - from);
			if (gain > most) {
				most = gain;
				best = i;
			}
		}
		if (most <= da_density_penalty(all))
			return from;
		from = best;
	} while (from + 1 < columns);
	return from;
}

static struct age_columns judge(const uint64_t *n, size_t columns)
{
	size_t last = columns;

	while (last && !n[last - 1])
		last--;
	if (!last)
		return (struct age_columns){0};
	return (struct age_columns){
		.known = true, .change = (uint8_t)last_change(n, columns), .last = (uint8_t)last};
}

static void fill(struct ages *a, uint32_t event, struct da_heat_row *rows, size_t *region,
		 uint64_t *cells)
{
	const struct da_space *s = a->s;
	size_t i = 0, k, nr;

	while (i < s->nr_regions) {
		for (nr = 0; nr < BATCH && i < s->nr_regions; i++) {
			const struct da_region *g = &s->regions[i];
			bool cut = s->regions != s->areas;

			if (!stat_of(g, event))
				continue;
			region[nr] = i;
			rows[nr++] =
				(struct da_heat_row){g->start, g->end, cut ? g->area : (uint32_t)i,
						     cut ? g->last_area : (uint32_t)i};
		}
		da_heat_render(s->heat, event, a->t0_ns, a->t1_ns, a->columns, rows, nr, cells);
		for (k = 0; k < nr; k++)
			a->of[region[k]] = judge(cells + k * a->columns, a->columns);
	}
}

int ages_make(struct ages *a, const struct da_offline_result *r, const struct da_space *s,
	      uint32_t event)
{
	struct plan p = {.event = event};
	struct da_heat_row *rows;
	uint64_t *cells;
	size_t *region;

	*a = (struct ages){.s = s, .columns = 1};
	if (!plan_possible(s, event))
		return 0;
	plan_span(&p, r, s, COLUMNS);
	a->t0_ns = p.t0_ns;
	a->t1_ns = p.t1_ns;
	a->columns = p.columns;
	a->of = calloc(s->nr_regions + 1, sizeof(*a->of));
	rows = calloc(BATCH, sizeof(*rows));
	cells = calloc((size_t)BATCH * COLUMNS, sizeof(*cells));
	region = calloc(BATCH, sizeof(*region));
	if (a->of && rows && cells && region) {
		fill(a, event, rows, region, cells);
	} else {
		ages_release(a);
		a->columns = 0;
	}
	free(rows);
	free(cells);
	free(region);
	return a->columns ? 0 : -DA_ENOMEM;
}

struct age ages_get(const struct ages *a, const struct da_region *g)
{
	const struct plan p = {.t0_ns = a->t0_ns, .t1_ns = a->t1_ns, .columns = a->columns};
	const struct age_columns *c = a->of ? &a->of[g - a->s->regions] : NULL;
	uint64_t since;

	if (!c || !c->known)
		return (struct age){0};
	since = plan_time(&p, c->change);
	if (g->from_ns > since && g->from_ns < a->t1_ns)
		since = g->from_ns; /* a rate is as old as its mapping at most */
	return (struct age){true, a->t1_ns - since, a->t1_ns - plan_time(&p, c->last)};
}

void ages_release(struct ages *a)
{
	free(a->of);
	a->of = NULL;
}
