/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frozen sorted set of ranges (da_region_set.h): building and freezing. Searching is inline in the
 * header, as it is done once a report.
 *
 * Not here: what a range means, and how the ranges of an address space are found (match.c).
 */
#include "da_region_set.h"

#include <stdlib.h>

#include "da_error.h"

void da_region_set_release(struct da_region_set *s)
{
	free(s->ranges);
	free(s->starts);
	da_region_set_init(s);
}

int da_region_set_add(struct da_region_set *s, uint64_t start, uint64_t end, uint64_t tag)
{
	if (s->frozen)
		return -DA_EBUG;
	if (start >= end)
		return -DA_EFORMAT;
	if (s->nr == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		struct da_range *r = reallocarray(s->ranges, room, sizeof(*r));

		if (!r)
			return -DA_ENOMEM;
		s->ranges = r;
		s->room = room;
	}
	s->ranges[s->nr++] = (struct da_range){start, end, tag};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct da_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

int da_region_set_freeze(struct da_region_set *s)
{
	size_t i;

	if (s->frozen)
		return 0;
	for (i = 1; i < s->nr && s->ranges[i - 1].start <= s->ranges[i].start; i++)
		;
	if (i < s->nr) /* mostly they come in order */
		qsort(s->ranges, s->nr, sizeof(*s->ranges), by_start);
	for (i = 1; i < s->nr; i++)
		if (s->ranges[i].start < s->ranges[i - 1].end)
			return -DA_EFORMAT;
	if (s->nr) {
		s->starts = malloc(s->nr * sizeof(*s->starts));
		if (!s->starts)
			return -DA_ENOMEM;
	}
	for (i = 0; i < s->nr; i++)
		s->starts[i] = s->ranges[i].start;
	s->frozen = true;
	return 0;
}
