/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions by DAMON's algorithm: each process's reports drive a da_adapt of its own, which watches what a kdamond
 * would, the three ranges around its mappings. Its last regions are those that are shown.
 *
 * Reports must come in order of time, so a part of an AUX trace (da_match_merge()) drives nothing.
 */
#include <stdlib.h>

#include "da_error.h"
#include "match_priv.h"

/* Whose snapshots these are: spaces move in memory, this does not. */
struct adapt_to {
	const struct da_match_opts *o;
	uint32_t pid;
};

static void snapshot(void *ctx, uint64_t start_ns, uint64_t end_ns, const struct da_adapt_region *r,
		     size_t nr)
{
	struct adapt_to *to = ctx;
	struct da_damon_region *copy = reallocarray(NULL, nr + 1, sizeof(*copy));
	size_t i;

	for (i = 0; copy && i < nr; i++)
		copy[i] =
			(struct da_damon_region){r[i].start, r[i].end, r[i].nr_accesses, r[i].age};
	if (copy)
		to->o->snapshot(to->o->snapshot_ctx, to->pid, start_ns, end_ns, copy, nr);
	free(copy);
}

static struct da_adapt *new_adapt(struct da_match *m, struct space *s, const struct da_report *r)
{
	if (!m->o.snapshot)
		return da_adapt_new(&m->o.adapt, r->time_ns, NULL, NULL);
	s->adapt_to = calloc(1, sizeof(*s->adapt_to));
	if (!s->adapt_to)
		return NULL;
	*s->adapt_to = (struct adapt_to){.o = &m->o, .pid = r->pid};
	return da_adapt_new(&m->o.adapt, r->time_ns, snapshot, s->adapt_to);
}

/* Processes without two gaps are watched from their first to their last address: a kdamond would refuse them. */
static int watch(struct da_match *m, struct space *s, uint32_t pid, uint64_t time_ns)
{
	size_t nr = da_tasks_maps(m->tasks, pid, time_ns, NULL, 0), i, n = 0, ranges;
	struct da_map *maps = nr ? reallocarray(NULL, nr, sizeof(*maps)) : NULL;
	struct da_adapt_range *all = nr ? reallocarray(NULL, nr, sizeof(*all)) : NULL, three[3];
	int err = maps && all ? 0 : -DA_ENOMEM;

	if (!nr)
		return 0;
	if (!err)
		nr = da_tasks_maps(m->tasks, pid, time_ns, maps, nr);
	for (i = 0; !err && i < nr; i++)
		if (maps[i].start < maps[i].end && (!n || maps[i].start >= all[n - 1].end))
			all[n++] = (struct da_adapt_range){maps[i].start, maps[i].end};
	if (!err && n) {
		ranges = da_adapt_three(all, n, three);
		if (!ranges) {
			three[0] = (struct da_adapt_range){all[0].start, all[n - 1].end};
			ranges = 1;
		}
		err = da_adapt_ranges(s->adapt, three, ranges);
	}
	free(maps);
	free(all);
	return err;
}

void match_adapt(struct da_match *m, uint32_t space, const struct da_report *r, uint64_t addr)
{
	struct space *s = &m->space[space];
	int err = 0;

	if (!(r->has & DA_HAS_TIME) || s->pub.kind != DA_SPACE_VIRTUAL)
		return;
	m->last_ns = r->time_ns > m->last_ns ? r->time_ns : m->last_ns;
	if (!s->adapt) {
		s->adapt = new_adapt(m, s, r);
		if (!s->adapt) {
			m->no_memory = true;
			return;
		}
	}
	if (da_adapt_wants_ranges(s->adapt, r->time_ns))
		err = watch(m, s, r->pid, r->time_ns);
	if (err || da_adapt_access(s->adapt, r->time_ns, addr))
		m->no_memory = true;
}

int match_adapt_bounds(struct da_match *m, struct space *s)
{
	const struct da_adapt_region *r;
	uint64_t end = s->pub.to_ns < m->last_ns ? s->pub.to_ns : m->last_ns;
	size_t i;

	if (!s->adapt)
		return 0;
	if (da_adapt_finish(s->adapt, end))
		return -DA_ENOMEM;
	r = da_adapt_regions(s->adapt, &s->nr_bounds);
	s->bounds = reallocarray(NULL, s->nr_bounds + 1, sizeof(*s->bounds));
	if (!s->bounds)
		return -DA_ENOMEM;
	for (i = 0; i < s->nr_bounds; i++)
		s->bounds[i] =
			(struct da_damon_region){r[i].start, r[i].end, r[i].nr_accesses, r[i].age};
	da_adapt_free(s->adapt);
	s->adapt = NULL;
	return 0;
}
