/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions whose bounds are given (DAMON's) instead of found: the sketch's cells are counted in the region that
 * their middle lies in. What lies in none is not cold but outside of what was watched, and is shown as that.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"
#include "match_refine.h"

static uint64_t middle(const struct spot *s)
{
	return s->c.start + (s->c.last - s->c.start) / 2;
}

/* The areas that a region reaches into: for the heat cells, and the first that was hit gives the label. */
static void find_areas(const struct da_space *s, struct da_region *r, size_t *at,
		       const struct spot *spot)
{
	size_t i = *at;
	const char *label = NULL;

	while (i < s->nr_areas && s->areas[i].end <= r->start)
		i++;
	*at = i;
	r->area = r->last_area = (uint32_t)(i < s->nr_areas ? i : s->nr_areas ? i - 1 : 0);
	r->from_ns = 0;
	for (; i < s->nr_areas && s->areas[i].start < r->end; i++) {
		r->last_area = (uint32_t)i;
		if (!label)
			label = s->areas[i].label;
	}
	if (spot && spot->area < s->nr_areas)
		label = s->areas[spot->area].label;
	r->label = label ? label : "not mapped";
}

static const char *outside_label(struct da_match *m, const char *label)
{
	char *text = NULL;

	return match_keep_text(m, asprintf(&text, "outside: %s", label) < 0 ? NULL : text);
}

int match_adopt(struct da_match *m, struct cut_table *t, struct space *s, const struct spot *spot,
		size_t nr)
{
	size_t used = 0, i, n, area = 0;
	int err = 0;

	t->region = NULL;
	t->nr = t->room = 0;
	/* one round more than there are bounds: what lies behind the last */
	for (i = 0; i <= s->nr_bounds && !err; i++) {
		const struct da_damon_region *b = i < s->nr_bounds ? &s->bounds[i] : NULL;
		uint64_t before = i ? s->bounds[i - 1].end : 0;
		struct da_region *r;

		for (n = 0; used + n < nr && (!b || middle(&spot[used + n]) < b->start);)
			n++;
		if (n) {
			r = cut_new_region(t);
			if (!r)
				return -DA_ENOMEM;
			*r = (struct da_region){
				.start = spot[used].c.start > before ? spot[used].c.start : before,
				.end = spot[used + n - 1].c.last + 1};
			if (b && r->end > b->start)
				r->end = b->start;
			find_areas(&s->pub, r, &area, &spot[used]);
			r->label = outside_label(m, r->label);
			err = cut_add_up(t, r, spot, used, used + n);
			used += n;
		}
		if (!b || err)
			continue;
		for (n = 0; used + n < nr && middle(&spot[used + n]) < b->end;)
			n++;
		r = cut_new_region(t);
		if (!r)
			return -DA_ENOMEM;
		*r = (struct da_region){.start = b->start,
					.end = b->end,
					.watched = true,
					.nr_accesses = b->nr_accesses,
					.age = b->age};
		find_areas(&s->pub, r, &area, n ? &spot[used] : NULL);
		err = cut_add_up(t, r, spot, used, used + n);
		used += n;
	}
	s->pub.regions = t->region;
	s->pub.nr_regions = t->nr;
	return err;
}
