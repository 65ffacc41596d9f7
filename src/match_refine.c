/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings cut into regions of equal sampled density: the sketch's cells of a mapping, and the gaps between
 * them, are the elements that da_density_cuts() may part; the cells between two cuts are a region's numbers.
 *
 * What is not here: the segmentation itself (region_density.c), and how cells come about (region_sketch.c).
 */
#include <stdlib.h>
#include <string.h>

#include "da_density.h"
#include "da_error.h"
#include "match_refine.h"

#define MOST_SCALE 1e9 /* no likelihood is worth such a penalty */

static int by_place(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	if (x->area != y->area)
		return x->area < y->area ? -1 : 1;
	if (x->c.start != y->c.start)
		return x->c.start < y->c.start ? -1 : 1;
	if (x->c.last != y->c.last)
		return x->c.last > y->c.last ? -1 : 1;
	return (x->c.event > y->c.event) - (x->c.event < y->c.event);
}

/* The regions of one area under way. */
struct cutter {
	const struct da_region *area;
	const struct spot *spot; /* of the area, in order */
	size_t nr_spots;
	/* elements */
	uint64_t *edge, *count;
	size_t *cuts, *first_spot; /* of an element: its first spot */
	size_t nr;
	uint32_t events[64]; /* those that have spots here */
	size_t nr_events;
};

static void release(struct cutter *c)
{
	free(c->edge);
	free(c->count);
	free(c->cuts);
	free(c->first_spot);
}

/* More kinds of events than there is room for take part in no cut; their numbers follow the others. */
static void gather_events(struct cutter *c)
{
	size_t i, k;

	c->nr_events = 0;
	for (i = 0; i < c->area->nr_by_event; i++) {
		for (k = 0; k < c->nr_events; k++)
			if (c->events[k] == c->area->by_event[i].event)
				break;
		if (k == c->nr_events && k < sizeof(c->events) / sizeof(*c->events))
			c->events[c->nr_events++] = c->area->by_event[i].event;
	}
}

static void count(struct cutter *c, size_t element, const struct sketch_cell *cell)
{
	size_t k;

	for (k = 0; k < c->nr_events; k++)
		if (c->events[k] == cell->event)
			c->count[element * c->nr_events + k] += cell->samples;
}

/* Cells and gaps in turn. A cell that lies in the one before (zones that became one region had cells of
 * different sizes) belongs to it. */
static int make_elements(struct cutter *c)
{
	uint64_t at = c->area->start;
	size_t i, room = 2 * c->nr_spots + 2;

	gather_events(c);
	c->edge = reallocarray(NULL, room, sizeof(*c->edge));
	c->count = calloc(room, (c->nr_events + 1) * sizeof(*c->count));
	c->cuts = reallocarray(NULL, room, sizeof(*c->cuts));
	c->first_spot = reallocarray(NULL, room, sizeof(*c->first_spot));
	if (!c->edge || !c->count || !c->cuts || !c->first_spot)
		return -DA_ENOMEM;
	c->edge[0] = at;
	c->nr = 0;
	for (i = 0; i < c->nr_spots; i++) {
		const struct sketch_cell *s = &c->spot[i].c;
		uint64_t end = s->last < c->area->end - 1 ? s->last + 1 : c->area->end;

		if (c->nr && s->start < at) {
			count(c, c->nr - 1, s);
			continue;
		}
		if (s->start > at) {
			c->first_spot[c->nr] = i;
			c->edge[++c->nr] = s->start;
		}
		c->first_spot[c->nr] = i;
		count(c, c->nr, s);
		at = end > s->start && end > at ? end : at + 1;
		c->edge[++c->nr] = at;
	}
	if (at < c->area->end) {
		c->first_spot[c->nr] = c->nr_spots;
		c->edge[++c->nr] = c->area->end;
	}
	return 0;
}

/* ---- results ---- */

struct da_region *cut_new_region(struct cut_table *t)
{
	return grow((void **)&t->region, &t->room, t->nr, sizeof(*t->region)) ? NULL
									      : &t->region[t->nr++];
}

static struct da_region_stat *new_stat(struct cut_table *t)
{
	return grow((void **)&t->stat, &t->room_stats, t->nr_stats, sizeof(*t->stat))
		       ? NULL
		       : &t->stat[t->nr_stats++];
}

static int by_event(const void *a, const void *b)
{
	const struct da_region_stat *x = a, *y = b;

	return (x->event > y->event) - (x->event < y->event);
}

/* The numbers of the spots [first, end) to the region's. */
int cut_add_up(struct cut_table *t, struct da_region *r, const struct spot *spot, size_t first,
	       size_t end)
{
	size_t from = t->nr_stats, i, k;

	r->nr_by_event = 0;
	for (i = first; i < end; i++) {
		const struct sketch_cell *c = &spot[i].c;
		struct da_region_stat *st = NULL;

		for (k = from; k < t->nr_stats && !st; k++)
			if (t->stat[k].event == c->event)
				st = &t->stat[k];
		if (!st) {
			st = new_stat(t);
			if (!st)
				return -DA_ENOMEM;
			*st = (struct da_region_stat){.event = c->event, .hit_start = UINT64_MAX};
			r->nr_by_event++;
		}
		st->samples += c->samples;
		st->accesses += c->accesses;
		st->reads += c->reads;
		st->writes += c->writes;
		if (c->start < st->hit_start)
			st->hit_start = c->start > r->start ? c->start : r->start;
		if (c->last >= st->hit_end)
			st->hit_end = c->last < r->end ? c->last + 1 : r->end;
	}
	if (r->nr_by_event > 1)
		qsort(&t->stat[from], r->nr_by_event, sizeof(*t->stat), by_event);
	return 0;
}

/* An area as it is: nothing was seen in it, or its zone was closed. */
static int copy_area(struct cut_table *t, const struct da_region *area, uint32_t at)
{
	struct da_region *r = cut_new_region(t);
	struct da_region_stat *st;
	uint32_t i;

	if (!r)
		return -DA_ENOMEM;
	*r = *area;
	r->area = r->last_area = at;
	for (i = 0; i < area->nr_by_event; i++) {
		st = new_stat(t);
		if (!st)
			return -DA_ENOMEM;
		*st = area->by_event[i];
	}
	return 0;
}

/* A closed zone leaves its mapping without cells, or a joined mapping with some of them only. */
static bool is_whole(const struct cutter *c)
{
	uint64_t cells = 0, all = 0;
	size_t i;

	for (i = 0; i < c->nr_spots; i++)
		cells += c->spot[i].c.samples;
	for (i = 0; i < c->area->nr_by_event; i++)
		all += c->area->by_event[i].samples;
	return cells == all;
}

static int cut_area(struct cut_table *t, struct cutter *c, uint32_t at, double scale)
{
	struct da_density_in in;
	size_t first = 0, i;
	long nr;
	int err;

	if (!c->nr_spots || !is_whole(c))
		return copy_area(t, c->area, at);
	err = make_elements(c);
	if (err)
		return err;
	in = (struct da_density_in){c->edge, c->count, c->nr, c->nr_events, scale};
	nr = da_density_cuts(&in, c->cuts);
	if (nr < 0)
		return (int)nr;
	for (i = 0; i <= (size_t)nr && !err; i++) {
		size_t end = i < (size_t)nr ? c->cuts[i] : c->nr;
		struct da_region *r = cut_new_region(t);

		if (!r)
			return -DA_ENOMEM;
		*r = *c->area;
		r->start = c->edge[first];
		r->end = c->edge[end];
		r->area = r->last_area = at;
		err = cut_add_up(t, r, c->spot, c->first_spot[first],
				 end < c->nr ? c->first_spot[end] : c->nr_spots);
		first = end;
	}
	return err;
}

static int cut_space(struct cut_table *t, struct space *s, const struct spot *spot, size_t nr,
		     double scale)
{
	size_t used = 0, i;
	int err = 0;

	for (i = 0; i < s->pub.nr_areas && !err; i++) {
		struct cutter c = {.area = &s->pub.areas[i], .spot = spot + used};

		while (used + c.nr_spots < nr && spot[used + c.nr_spots].area == i)
			c.nr_spots++;
		used += c.nr_spots;
		err = cut_area(t, &c, (uint32_t)i, scale);
		release(&c);
	}
	return err;
}

/* Where there is a bound, a region has to be the likelier the more there would be. */
static int refine_space(struct da_match *m, struct cut_table *t, struct space *s,
			const struct spot *spot, size_t nr)
{
	size_t stats = t->nr_stats, whole = s->pub.nr_areas, max = m->o.max_regions;
	/* DAMON's regions that nobody gave: mappings stay whole */
	double scale = m->o.regions == DA_REGIONS_DENSITY ? 1 : MOST_SCALE;
	int err;

	t->region = NULL;
	t->nr = t->room = 0;
	err = cut_space(t, s, spot, nr, scale);
	while (!err && max && t->nr > max && t->nr > whole && scale < MOST_SCALE) {
		scale *= 1.3;
		t->nr = 0;
		t->nr_stats = stats;
		err = cut_space(t, s, spot, nr, scale);
	}
	s->pub.regions = t->region;
	s->pub.nr_regions = t->nr;
	return err;
}

int match_refine(struct da_match *m, const uint32_t *area)
{
	size_t nr = sketch_cells(m->sketch), i, used = 0, n, k;
	struct spot *spot = reallocarray(NULL, nr + 1, sizeof(*spot));
	struct sketch_cell *cell = reallocarray(NULL, nr + 1, sizeof(*cell));
	struct cut_table t = {0};
	int err = spot && cell ? 0 : -DA_ENOMEM;

	if (!err)
		sketch_get(m->sketch, cell);
	sketch_free(m->sketch);
	m->sketch = NULL;
	for (i = 0; i < nr && !err; i++)
		spot[i] = (struct spot){cell[i], m->entry[cell[i].zone].space, area[cell[i].zone]};
	free(cell);
	if (!err && nr)
		qsort(spot, nr, sizeof(*spot), by_place);
	if (!err && m->kernel && m->o.regions == DA_REGIONS_KERNEL)
		err = match_kernel(m, spot, nr);
	for (i = 0; i < m->nr_spaces && !err; i++) {
		for (n = 0; used + n < nr && spot[used + n].space == i;)
			n++;
		err = m->o.regions == DA_REGIONS_DAMON ? match_adapt_bounds(m, &m->space[i]) : 0;
		if (err)
			break;
		if (m->space[i].bounds)
			err = match_adopt(m, &t, &m->space[i], spot + used, n);
		else
			err = refine_space(m, &t, &m->space[i], spot + used, n);
		used += n;
	}
	free(spot);
	m->cut_stat = t.stat;
	used = 0;
	for (i = 0; i < m->nr_spaces && !err; i++) { /* the stats do not move any more */
		for (k = 0; k < m->space[i].pub.nr_regions; k++) {
			struct da_region *r = &m->space[i].pub.regions[k];

			r->by_event = r->nr_by_event ? t.stat + used : NULL;
			used += r->nr_by_event;
		}
	}
	return err;
}
