/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of the match layer: what was collected becomes, for every space, a sorted table of disjoint
 * regions with its numbers, and the heat cells learn the regions' final positions.
 *
 * Mappings of different times can overlap (a loader maps a whole file and then its segments over it).
 * Reports are never counted twice nor given to the wrong one: where no report tells the mappings apart
 * the older one is cut, where reports are mixed the two become one region that names both.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"
#include "match_priv.h"

#define PAGE 4096ull

/* A region under way, and the addresses hit in it; none: lo > hi. */
struct draft {
	struct da_region *r;
	uint64_t lo, hi;
	const char *first; /* its label before anything was joined to it */
	bool several;
};

/* ---- mappings without a report ---- */

/* In a space with reports the mappings that got none are regions too: observed, none. */
static int add_silent_maps(struct da_match *m, const struct space *s)
{
	size_t nr = da_tasks_mm_maps(m->tasks, s->pub.mm, NULL, 0), i;
	struct da_map *maps = nr ? reallocarray(NULL, nr, sizeof(*maps)) : NULL;
	uint32_t self = s->self;

	if (!nr)
		return 0;
	if (!maps)
		return -DA_ENOMEM;
	nr = da_tasks_mm_maps(m->tasks, s->pub.mm, maps, nr);
	for (i = 0; i < nr; i++)
		if (maps[i].start < maps[i].end)
			match_entry_of_map(m, self, &maps[i]);
	free(maps);
	return 0;
}

static void life_of_mm(void *ctx, uint64_t mm, uint32_t pid, const char *comm, uint64_t from_ns, uint64_t to_ns)
{
	struct da_match *m = ctx;
	uint32_t i = index_find(&m->index, KEY_SPACE, 0, mm);

	(void)pid;
	if (i == NONE)
		return;
	m->space[i].pub.comm = comm ? comm : "";
	m->space[i].pub.from_ns = from_ns;
	m->space[i].pub.to_ns = to_ns ? to_ns : UINT64_MAX;
}

/* ---- one space's entries to regions ---- */

static int by_space_and_start(const void *a, const void *b, void *ctx)
{
	const struct entry *all = ctx, *x = &all[*(const uint32_t *)a], *y = &all[*(const uint32_t *)b];

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static const char *both_labels(struct da_match *m, const char *a, const char *b)
{
	char *text = NULL;

	return match_keep_text(m, asprintf(&text, "%s + %s", a, b) < 0 ? NULL : text);
}

static void join(struct da_match *m, struct draft *d, const struct entry *e)
{
	d->r->end = e->end > d->r->end ? e->end : d->r->end;
	d->r->from_ns = e->from_ns < d->r->from_ns ? e->from_ns : d->r->from_ns;
	d->lo = e->lo < d->lo ? e->lo : d->lo;
	d->hi = e->hi > d->hi ? e->hi : d->hi;
	if (e->label != d->first && !d->several) {
		d->r->label = both_labels(m, d->first, e->label); /* two names say enough */
		d->several = true;
	}
}

/* What becomes of an entry that begins inside the region before it. */
enum overlap { DROP_REGION, CUT, DROP_ENTRY, JOIN };

static enum overlap resolve(const struct draft *d, const struct entry *e, uint64_t *start)
{
	struct da_region *r = d->r;

	*start = e->start;
	if (d->lo >= d->hi || d->hi <= e->start) {
		if (r->start == e->start)
			return DROP_REGION;
		r->end = e->start;
		return CUT;
	}
	if (e->lo >= e->hi) {
		*start = r->end;
		return r->end < e->end ? CUT : DROP_ENTRY;
	}
	if ((e->lo & ~(PAGE - 1)) < d->hi)
		return JOIN;
	*start = e->lo & ~(PAGE - 1);
	r->end = *start;
	return CUT;
}

/* Fills the regions of one space from its entries order[0..nr), sorted; entry.stat becomes the position
 * of its region. */
static void build(struct da_match *m, struct space *s, const uint32_t *order, size_t nr)
{
	/* Physical memory has no mappings: neighbouring chunks are one region unless the user chose them. */
	bool melt = s->pub.kind == DA_SPACE_PHYSICAL && m->o.regions != DA_REGIONS_FIXED;
	struct da_region *regs = s->pub.regions;
	struct draft d = {0};
	size_t i, n = 0;

	for (i = 0; i < nr; i++) {
		struct entry *e = &m->entry[order[i]];
		uint64_t start = e->start;
		enum overlap o = CUT;

		if (d.r && d.r->end > e->start)
			o = resolve(&d, e, &start);
		else if (melt && d.r && d.r->end == e->start)
			o = JOIN;
		if (o == DROP_REGION)
			n--;
		if (o == JOIN)
			join(m, &d, e);
		if (o == JOIN || o == DROP_ENTRY) {
			e->stat = (uint32_t)(n - 1);
			continue;
		}
		d = (struct draft){.r = &regs[n], .lo = e->lo, .hi = e->hi, .first = e->label};
		*d.r = (struct da_region){
			.start = start, .end = e->end, .from_ns = e->from_ns, .label = e->label,
		};
		e->stat = (uint32_t)n++;
	}
	s->pub.nr_regions = n;
}

/* ---- numbers ---- */

static struct da_region *region_of(const struct da_match *m, const struct da_region_stat *st)
{
	const struct entry *e = &m->entry[st->owner];

	return &m->space[e->space].pub.regions[e->stat];
}

static int by_event(const void *a, const void *b)
{
	const struct da_region_stat *x = a, *y = b;

	return (x->event > y->event) - (x->event < y->event);
}

/* Sorts by event and adds up what joined regions have twice; returns how many are left. */
static uint32_t merge_stats(struct da_region_stat *st, uint32_t nr)
{
	uint32_t i, n = 0;

	qsort(st, nr, sizeof(*st), by_event);
	for (i = 1; i < nr; i++) {
		if (st[i].event != st[n].event) {
			st[++n] = st[i];
			continue;
		}
		st[n].samples += st[i].samples;
		st[n].accesses += st[i].accesses;
		st[n].reads += st[i].reads;
		st[n].writes += st[i].writes;
		st[n].hit_start = st[i].hit_start < st[n].hit_start ? st[i].hit_start : st[n].hit_start;
		st[n].hit_end = st[i].hit_end > st[n].hit_end ? st[i].hit_end : st[n].hit_end;
	}
	return n + 1;
}

/* A region with one stat points at it; those with several get copies beside each other. */
static int hand_out_stats(struct da_match *m)
{
	struct da_region_stat *room;
	struct da_region *r;
	size_t i, k, several = 0;

	for (i = 0; i < m->nr_stats; i++)
		several += region_of(m, &m->stat[i])->nr_by_event++ ? 1 : 0;
	if (several) {
		/* at most twice that: a region's first stat was not counted */
		room = m->joined = reallocarray(NULL, several * 2, sizeof(*room));
		if (!room)
			return -DA_ENOMEM;
		for (i = 0; i < m->nr_spaces; i++) {
			for (k = 0; k < m->space[i].pub.nr_regions; k++) {
				r = &m->space[i].pub.regions[k];
				if (r->nr_by_event < 2)
					continue;
				r->by_event = room;
				room += r->nr_by_event;
				r->nr_by_event = 0;
			}
		}
	}
	for (i = 0; i < m->nr_stats; i++) {
		r = region_of(m, &m->stat[i]);
		if (r->by_event)
			m->joined[(size_t)(r->by_event - m->joined) + r->nr_by_event++] = m->stat[i];
		else
			r->by_event = &m->stat[i];
	}
	if (!several)
		return 0;
	for (i = 0; i < m->nr_spaces; i++) {
		for (k = 0; k < m->space[i].pub.nr_regions; k++) {
			r = &m->space[i].pub.regions[k];
			if (r->nr_by_event > 1)
				r->nr_by_event = merge_stats(&m->joined[r->by_event - m->joined],
							     r->nr_by_event);
		}
	}
	return 0;
}

/* ---- all of it ---- */

static int build_all(struct da_match *m, uint32_t *order)
{
	size_t i, first = 0;
	int err;

	for (i = 0; i < m->nr_entries; i++)
		order[i] = (uint32_t)i;
	if (m->nr_entries)
		qsort_r(order, m->nr_entries, sizeof(*order), by_space_and_start, m->entry);
	while (first < m->nr_entries) {
		struct space *s = &m->space[m->entry[order[first]].space];
		size_t nr = 1;

		while (first + nr < m->nr_entries && m->entry[order[first + nr]].space == s->self)
			nr++;
		s->pub.regions = calloc(nr, sizeof(*s->pub.regions));
		if (!s->pub.regions)
			return -DA_ENOMEM;
		build(m, s, order + first, nr);
		first += nr;
	}
	err = hand_out_stats(m);
	if (err)
		return err;
	for (i = 0; i < m->nr_entries; i++) /* heat zones were entries */
		order[i] = m->entry[i].stat;
	for (i = 0; i < m->nr_spaces; i++) {
		if (!m->space[i].pub.heat)
			continue;
		err = da_heat_rezone(m->space[i].pub.heat, order);
		if (err)
			return err;
	}
	return 0;
}

int match_build_regions(struct da_match *m)
{
	uint32_t *order;
	size_t i;
	int err;

	for (i = 0; i < m->nr_spaces && m->o.regions == DA_REGIONS_VMA; i++) {
		if (!m->space[i].pub.mm || !m->space[i].pub.ledger.out[DA_STAGE_MATCH])
			continue;
		err = add_silent_maps(m, &m->space[i]);
		if (err)
			return err;
	}
	da_tasks_each_mm(m->tasks, life_of_mm, m);
	for (i = 0; i < m->nr_spaces; i++) {
		struct da_space *s = &m->space[i].pub;

		if (s->kind == DA_SPACE_VIRTUAL && !s->mm)
			s->comm = da_tasks_comm_of(m->tasks, s->pid, s->pid, UINT64_MAX);
	}
	/* The index and the credits have done their work; a million regions need the memory now. */
	free(m->index.slot);
	m->index = (struct index){0};
	free(m->credit);
	m->credit = NULL;
	order = reallocarray(NULL, m->nr_entries + 1, sizeof(*order));
	if (!order)
		return -DA_ENOMEM;
	err = build_all(m, order);
	free(order);
	free(m->entry);
	m->entry = NULL;
	m->nr_entries = 0;
	return err;
}
