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

/* ---- mappings without a report ---- */

/* In a space with reports the mappings that got none are regions too: observed, none. Those that were
 * there in the end, as earlier ones lie under them. */
static int add_silent_maps(struct da_match *m, const struct space *s)
{
	uint64_t end_ns = s->pub.to_ns == UINT64_MAX ? UINT64_MAX : s->pub.to_ns - 1;
	size_t nr = da_tasks_maps(m->tasks, s->pub.pid, end_ns, NULL, 0), i;
	struct da_map *maps = nr ? reallocarray(NULL, nr, sizeof(*maps)) : NULL;
	uint32_t self = s->self;
	uint64_t mm = s->pub.mm;

	if (!nr)
		return 0;
	if (!maps)
		return -DA_ENOMEM;
	nr = da_tasks_maps(m->tasks, s->pub.pid, end_ns, maps, nr);
	for (i = 0; i < nr; i++)
		if (maps[i].mm == mm && maps[i].start < maps[i].end)
			match_entry_of_map(m, self, &maps[i]);
	free(maps);
	return 0;
}

static void life_of_mm(void *ctx, uint64_t mm, uint32_t pid, const char *comm, uint64_t from_ns,
		       uint64_t to_ns)
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

/* What was hit of an entry, [lo, hi); lo >= hi: nothing. */
struct span {
	uint64_t lo, hi;
};

struct entries {
	const struct entry *all;
	const struct span *hits; /* by entry; NULL: chunks, all hit and disjoint as they are */
};

static struct span span_of(const struct entries *x, uint32_t i)
{
	return x->hits ? x->hits[i] : (struct span){x->all[i].start, x->all[i].end};
}

/* By space; those that were hit, by the first address hit; then the silent ones, by start. */
static int by_place(const void *a, const void *b, void *ctx)
{
	const struct entries *all = ctx;
	const struct entry *x = &all->all[*(const uint32_t *)a],
			   *y = &all->all[*(const uint32_t *)b];
	struct span hx = span_of(all, *(const uint32_t *)a),
		    hy = span_of(all, *(const uint32_t *)b);
	bool silent_x = hx.lo >= hx.hi, silent_y = hy.lo >= hy.hi;
	uint64_t kx = silent_x ? x->start : hx.lo, ky = silent_y ? y->start : hy.lo;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	if (silent_x != silent_y)
		return silent_y ? -1 : 1;
	if (kx != ky)
		return kx < ky ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* What the events hit of each entry, together; only mappings need it. malloc'ed. */
static struct span *gather_hits(const struct da_match *m)
{
	struct span *hits = reallocarray(NULL, m->nr_entries + 1, sizeof(*hits));
	size_t i;

	if (!hits)
		return NULL;
	for (i = 0; i < m->nr_entries; i++)
		hits[i] = (struct span){UINT64_MAX, 0};
	for (i = 0; i < m->nr_stats; i++) {
		const struct da_region_stat *st = &m->stat[i];
		struct span *h = &hits[st->owner];

		h->lo = st->hit_start < h->lo ? st->hit_start : h->lo;
		h->hi = st->hit_end > h->hi ? st->hit_end : h->hi;
	}
	return hits;
}

static const char *both_labels(struct da_match *m, const char *a, const char *b)
{
	char *text = NULL;

	return match_keep_text(m, asprintf(&text, "%s + %s", a, b) < 0 ? NULL : text);
}

/* The region under way: what was hit in it, and its label before anything was joined to it. */
struct draft {
	struct da_region *r;
	uint64_t lo, hi;
	const char *first;
	bool several;
};

static void join(struct da_match *m, struct draft *d, const struct entry *e, struct span hit)
{
	d->r->start = e->start < d->r->start ? e->start : d->r->start;
	d->r->end = e->end > d->r->end ? e->end : d->r->end;
	d->r->from_ns = e->from_ns < d->r->from_ns ? e->from_ns : d->r->from_ns;
	d->hi = hit.hi > d->hi ? hit.hi : d->hi;
	if (e->label != d->first && !d->several) {
		d->r->label = both_labels(m, d->first, e->label); /* two names say enough */
		d->several = true;
	}
}

/* Where the extents of two neighbours overlap the later one begins, unless the former was hit there. */
static void part(const struct draft *a, const struct draft *b)
{
	if (!a->r || a->r->end <= b->r->start)
		return;
	if (b->r->start < a->hi)
		b->r->start = b->lo & ~(PAGE - 1);
	a->r->end = b->r->start;
}

/* Regions of the entries that were hit, in order of what was hit; entries whose hits are mixed become one
 * region. entry.stat becomes the position of its region, hits (NULL: not wanted) says what was hit of each.
 * Returns the number of regions. */
static size_t build_hit(struct da_match *m, const struct entries *x, struct space *s,
			const uint32_t *order, size_t nr, struct span *hits)
{
	/* Physical memory has no mappings: neighbouring chunks are one region unless the user chose them. */
	bool melt = s->pub.kind == DA_SPACE_PHYSICAL && m->o.regions != DA_REGIONS_FIXED;
	struct draft before = {0}, d = {0};
	size_t i, n = 0;

	for (i = 0; i < nr; i++) {
		struct entry *e = &m->entry[order[i]];
		struct span hit = span_of(x, order[i]);

		if (d.r && ((hit.lo & ~(PAGE - 1)) < d.hi || (melt && d.r->end == e->start))) {
			join(m, &d, e, hit);
		} else {
			if (d.r)
				part(&before, &d);
			before = d;
			d = (struct draft){.r = &s->pub.regions[n++],
					   .lo = hit.lo,
					   .hi = hit.hi,
					   .first = e->label};
			*d.r = (struct da_region){.start = e->start,
						  .end = e->end,
						  .from_ns = e->from_ns,
						  .label = e->label};
		}
		e->stat = (uint32_t)(n - 1);
		if (hits)
			hits[n - 1] = (struct span){d.lo, d.hi};
	}
	if (d.r)
		part(&before, &d);
	return n;
}

static size_t position(const struct da_region *regs, size_t nr, uint64_t addr)
{
	size_t lo = 0;

	while (nr > 1) {
		size_t half = nr / 2;

		if (regs[lo + half].start <= addr)
			lo += half;
		nr -= half;
	}
	return lo;
}

/* A mapping that came later, though silent, ends an older one where that was not hit: a loader's first
 * mapping of a whole file shrinks to its first segment. */
static void cut_by(const struct entry *e, struct da_region *regs, size_t nr,
		   const struct span *hits)
{
	size_t i = position(regs, nr, e->start);

	if (e->from_ns >= regs[i].from_ns && e->start >= hits[i].hi && e->start > regs[i].start &&
	    e->start < regs[i].end)
		regs[i].end = e->start;
	i = position(regs, nr, e->end);
	if (e->from_ns >= regs[i].from_ns && e->end <= hits[i].lo && e->end > regs[i].start &&
	    e->end < regs[i].end)
		regs[i].start = e->end;
}

/* What the silent entries fill of the gaps between regs[nr_regs], in order. Returns the number of pieces,
 * at most nr + nr_regs. */
static size_t build_silent(const struct da_match *m, const uint32_t *order, size_t nr,
			   const struct da_region *regs, size_t nr_regs, struct da_region *pieces)
{
	size_t i, c = 0, n = 0;
	uint64_t at = 0;

	for (i = 0; i < nr; i++) {
		const struct entry *e = &m->entry[order[i]];

		at = e->start > at ? e->start : at;
		while (at < e->end) {
			while (c < nr_regs && regs[c].end <= at)
				c++;
			if (c < nr_regs && regs[c].start <= at) {
				at = regs[c].end;
				continue;
			}
			pieces[n] = (struct da_region){.start = at,
						       .end = e->end,
						       .from_ns = e->from_ns,
						       .label = e->label};
			if (c < nr_regs && regs[c].start < e->end)
				pieces[n].end = regs[c].start;
			at = pieces[n++].end;
		}
	}
	return n;
}

/* Adds the silent pieces to the regions, from the end so that nothing is overwritten. */
static int add_silent(struct da_match *m, const struct entries *x, struct space *s,
		      const uint32_t *order, size_t nr_hit, size_t nr_silent,
		      const struct span *hits)
{
	size_t n = s->pub.nr_regions, k, i, to;
	struct da_region *pieces = reallocarray(NULL, nr_silent + n, sizeof(*pieces)), *regs;

	if (!pieces)
		return -DA_ENOMEM;
	for (i = 0; i < nr_silent && n > 0; i++)
		cut_by(&m->entry[order[nr_hit + i]], s->pub.regions, n, hits);
	k = build_silent(m, order + nr_hit, nr_silent, s->pub.regions, n, pieces);
	regs = reallocarray(s->pub.regions, n + k + 1, sizeof(*regs));
	if (!regs) {
		free(pieces);
		return -DA_ENOMEM;
	}
	s->pub.regions = regs;
	s->pub.nr_regions = n + k;
	for (to = n + k; k > 0;)
		regs[--to] =
			n > 0 && regs[n - 1].start > pieces[k - 1].start ? regs[--n] : pieces[--k];
	free(pieces);
	for (i = 0; i < nr_hit; i++)
		m->entry[order[i]].stat =
			(uint32_t)position(regs, s->pub.nr_regions, span_of(x, order[i]).lo);
	return 0;
}

/* The regions of one space from its entries order[0..nr). */
static int build(struct da_match *m, const struct entries *x, struct space *s,
		 const uint32_t *order, size_t nr)
{
	struct span *hits = NULL;
	size_t nr_hit = 0;
	int err = 0;

	while (nr_hit < nr && span_of(x, order[nr_hit]).lo < span_of(x, order[nr_hit]).hi)
		nr_hit++;
	s->pub.regions = calloc(nr_hit + 1, sizeof(*s->pub.regions));
	if (nr_hit < nr)
		hits = calloc(nr_hit + 1, sizeof(*hits));
	if (!s->pub.regions || (nr_hit < nr && !hits)) {
		free(hits);
		return -DA_ENOMEM;
	}
	s->pub.nr_regions = build_hit(m, x, s, order, nr_hit, hits);
	if (nr_hit < nr)
		err = add_silent(m, x, s, order, nr_hit, nr - nr_hit, hits);
	free(hits);
	return err;
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
		st[n].hits += st[i].hits;
		st[n].hit_start =
			st[i].hit_start < st[n].hit_start ? st[i].hit_start : st[n].hit_start;
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
			m->joined[(size_t)(r->by_event - m->joined) + r->nr_by_event++] =
				m->stat[i];
		else
			r->by_event = &m->stat[i];
	}
	for (i = 0; i < m->nr_spaces; i++) {
		for (k = 0; k < m->space[i].pub.nr_regions; k++) {
			r = &m->space[i].pub.regions[k];
			if (r->nr_by_event > 1)
				r->nr_by_event = merge_stats(&m->joined[r->by_event - m->joined],
							     r->nr_by_event);
			match_part_probes(m, r);
		}
	}
	return 0;
}

/* ---- all of it ---- */

static int build_spaces(struct da_match *m, uint32_t *order)
{
	struct span *hits = m->o.regions != DA_REGIONS_FIXED ? gather_hits(m) : NULL;
	struct entries x = {m->entry, hits};
	size_t i, nr, first = 0;
	int err = 0;

	if (m->o.regions != DA_REGIONS_FIXED && !hits)
		return -DA_ENOMEM;
	for (i = 0; i < m->nr_entries; i++)
		order[i] = (uint32_t)i;
	if (m->nr_entries)
		qsort_r(order, m->nr_entries, sizeof(*order), by_place, &x);
	for (; first < m->nr_entries && !err; first += nr) {
		struct space *s = &m->space[m->entry[order[first]].space];

		for (nr = 1; first + nr < m->nr_entries; nr++)
			if (m->entry[order[first + nr]].space != s->self)
				break;
		err = build(m, &x, s, order + first, nr);
	}
	free(hits);
	return err;
}

static int build_all(struct da_match *m, uint32_t *order)
{
	int err = build_spaces(m, order);
	size_t i;

	err = err ? err : hand_out_stats(m);
	if (err)
		return err;
	for (i = 0; i < m->nr_entries; i++) /* heat zones were entries */
		order[i] = m->entry[i].stat;
	for (i = 0; i < m->nr_spaces && !err; i++) {
		struct da_space *s = &m->space[i].pub;

		s->areas = s->regions;
		s->nr_areas = s->nr_regions;
		if (s->heat)
			err = da_heat_rezone(s->heat, order);
	}
	if (err || !m->sketch)
		return err;
	err = match_refine(m, order);
	return err ? err : match_cut_probes(m);
}

int match_build_regions(struct da_match *m)
{
	uint32_t *order;
	size_t i;
	int err;

	if (!m->o.accumulate)
		return 0; /* nothing was kept of what was hit where */
	da_tasks_each_mm(m->tasks, life_of_mm, m);
	for (i = 0; i < m->nr_spaces && m->o.regions != DA_REGIONS_FIXED; i++) {
		if (!m->space[i].pub.mm || !m->space[i].pub.ledger.out[DA_STAGE_MATCH])
			continue;
		err = add_silent_maps(m, &m->space[i]);
		if (err)
			return err;
	}
	for (i = 0; i < m->nr_spaces; i++) {
		struct da_space *s = &m->space[i].pub;

		if (s->kind == DA_SPACE_VIRTUAL && !s->mm)
			s->comm = da_tasks_comm_of(m->tasks, s->pid, s->pid, UINT64_MAX);
	}
	/* The index and the credits have done their work; a million regions need the memory now. */
	free(m->index.slot);
	m->index = (struct index){0};
	free(m->chunks.slot);
	m->chunks = (struct chunks){0};
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
