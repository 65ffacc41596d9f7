/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes in the match layer. A probe is kept as if it were one more event behind the real ones: reports and
 * hits of a region are counted, put together and merged as an event's are. Where mappings are cut into
 * regions in the end, the log of match_hits.c says what each piece was hit by. Which reports pass is
 * probe.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "da_error.h"
#include "match_priv.h"

bool match_probes(struct da_match *m, const struct da_report *r, uint32_t *mask)
{
	*mask = da_probes_pass(m->o.probes, m->tasks, r);
	return *mask || !da_probes_weighted(m->o.probes);
}

void match_probes_count(struct da_match *m, uint32_t entry, uint32_t mask, uint64_t addr,
			uint64_t interval)
{
	for (; mask; mask &= mask - 1) {
		uint32_t probe = (uint32_t)__builtin_ctz(mask);
		uint32_t stat = match_stat(m, entry, (uint32_t)m->o.nr_events + probe);

		if (stat == NONE)
			return; /* no memory: da_match_finish() fails */
		m->stat[stat].samples++;
		m->stat[stat].hits += match_credit(&m->credit[stat], interval);
		if (m->hits && hits_add(m->hits, entry, probe, addr, interval))
			m->no_memory = true;
	}
}

/* The probes' numbers are behind those of the events. */
void match_part_probes(struct da_match *m, struct da_region *g)
{
	uint32_t n = g->nr_by_event;

	while (n && g->by_event[n - 1].event >= m->o.nr_events)
		n--;
	g->by_probe = g->by_event + n;
	g->nr_by_probe = g->nr_by_event - n;
	g->nr_by_event = n;
}

/* ---- mappings that were cut ---- */

/* A record's region, as a number over all spaces; entry becomes its high part, place its low one. */
static void place_record(const struct da_match *m, struct hits_record *h)
{
	const struct da_space *s = &m->space[m->entry[h->entry].space].pub;
	size_t lo = 0, nr = s->nr_regions;

	while (nr > 1) {
		size_t half = nr / 2;

		if (s->regions[lo + half].start <= h->addr)
			lo += half;
		nr -= half;
	}
	h->entry = m->entry[h->entry].space;
	h->place = lo;
}

static int by_region(const void *a, const void *b)
{
	const struct hits_record *x = a, *y = b;

	if (x->entry != y->entry)
		return x->entry < y->entry ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	if (x->probe != y->probe)
		return x->probe < y->probe ? -1 : 1;
	return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* Adds up the records of one probe in one region; returns how many they are. */
static size_t add_up(const struct hits_record *h, size_t nr, struct da_region_stat *st)
{
	uint64_t bits[HITS_INTERVALS / 64] = {0};
	size_t n;

	for (n = 0; n < nr && h[n].entry == h[0].entry && h[n].place == h[0].place &&
		    h[n].probe == h[0].probe;
	     n++) {
		bool last = n + 1 == nr || h[n + 1].chunk != h[n].chunk ||
			    h[n + 1].entry != h[0].entry || h[n + 1].place != h[0].place ||
			    h[n + 1].probe != h[0].probe;

		st->samples += h[n].reports;
		for (size_t i = 0; i < HITS_INTERVALS / 64; i++) {
			bits[i] |= h[n].bits[i];
			if (last)
				st->hits += (uint64_t)__builtin_popcountll(bits[i]);
		}
		if (last)
			memset(bits, 0, sizeof(bits));
	}
	return n;
}

/* Regions of DAMON's do not keep to mappings: all of them are new. */
static bool is_cut(const struct da_match *m, const struct da_space *s, size_t i)
{
	return m->o.regions > DA_REGIONS_DENSITY ||
	       (i && s->regions[i - 1].area == s->regions[i].area) ||
	       (i + 1 < s->nr_regions && s->regions[i + 1].area == s->regions[i].area);
}

int match_cut_probes(struct da_match *m)
{
	struct hits_record *h;
	size_t nr, i, n = 0;

	if (!m->hits)
		return 0;
	for (i = 0; i < m->nr_spaces; i++)
		for (size_t k = 0; k < m->space[i].pub.nr_regions; k++)
			if (is_cut(m, &m->space[i].pub, k))
				m->space[i].pub.regions[k].nr_by_probe = 0;
	h = hits_records(m->hits, &nr);
	for (i = 0; i < nr; i++)
		place_record(m, &h[i]);
	if (nr)
		qsort(h, nr, sizeof(*h), by_region);
	m->probe_stat = reallocarray(NULL, nr + 1, sizeof(*m->probe_stat));
	if (!m->probe_stat)
		return -DA_ENOMEM;
	for (i = 0; i < nr; n++) {
		struct da_space *s = &m->space[h[i].entry].pub;
		struct da_region *r = &s->regions[h[i].place];
		struct da_region_stat *st = &m->probe_stat[n];

		*st = (struct da_region_stat){.event = (uint32_t)m->o.nr_events + h[i].probe};
		if (is_cut(m, s, h[i].place)) {
			if (!r->nr_by_probe++)
				r->by_probe = st;
		}
		i += add_up(&h[i], nr - i, st);
	}
	hits_free(m->hits);
	m->hits = NULL;
	return 0;
}
