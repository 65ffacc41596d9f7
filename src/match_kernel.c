/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The regions of a DAMON that ran in the kernel beside the recording (damon:damon_aggregated): our samples are
 * counted in its last snapshot.
 *
 * The tracepoint does not say whose addresses its target's are. So a target belongs to the space of which most
 * samples lie in its regions, and a space gets the target that holds most of its samples.
 */
#include <stdlib.h>

#include "da_error.h"
#include "match_refine.h"

#define MAX_TARGETS 64 /* more are not looked at */

/* Samples of a space that lie in a target's regions; both are in order. */
static uint64_t inside(const struct da_damon_target *t, const struct spot *spot, size_t nr)
{
	uint64_t n = 0;
	size_t i, k = 0;

	for (i = 0; i < nr && k < t->nr_regions; i++) {
		uint64_t at = spot[i].c.start + (spot[i].c.last - spot[i].c.start) / 2;

		while (k < t->nr_regions && t->regions[k].end <= at)
			k++;
		if (k < t->nr_regions && t->regions[k].start <= at)
			n += spot[i].c.samples;
	}
	return n;
}

static int take(struct space *s, const struct da_damon_target *t)
{
	size_t i;

	free(s->bounds);
	s->bounds = reallocarray(NULL, t->nr_regions + 1, sizeof(*s->bounds));
	if (!s->bounds)
		return -DA_ENOMEM;
	s->nr_bounds = t->nr_regions;
	for (i = 0; i < t->nr_regions; i++)
		s->bounds[i] = t->regions[i];
	return 0;
}

int match_kernel(struct da_match *m, const struct spot *spot, size_t nr)
{
	uint64_t *most = calloc(m->nr_spaces + 1, sizeof(*most));
	const struct da_damon_target *t;
	size_t i, k, used, n;
	int err = most ? 0 : -DA_ENOMEM;

	for (k = 0; !err && k < MAX_TARGETS && (t = da_damon_target(m->kernel, k)); k++) {
		uint64_t best = 0, got;
		size_t of = 0;

		for (i = 0, used = 0; i < m->nr_spaces; i++, used += n) {
			for (n = 0; used + n < nr && spot[used + n].space == i;)
				n++;
			got = inside(t, spot + used, n);
			if (got > best) {
				best = got;
				of = i;
			}
		}
		if (best > most[of]) {
			most[of] = best;
			err = take(&m->space[of], t);
		}
	}
	free(most);
	return err;
}

void da_match_kernel(struct da_match *m, const struct da_damon *d)
{
	m->kernel = d;
}
