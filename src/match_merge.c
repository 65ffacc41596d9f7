/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One match added to another (da_match_merge()): a recording's AUX traces are decoded in parts, each by
 * itself, and the parts are put together in an order that does not depend on who decoded them.
 *
 * Spaces and regions are found again by what they are, not by their numbers; numbers are translated.
 */
#include <stdlib.h>
#include <string.h>

#include "match_priv.h"

/* Numbers of the part to those of the whole. */
struct numbers {
	uint32_t *space, *entry;
};

static bool merge_spaces(struct da_match *m, const struct da_match *part, struct numbers *n)
{
	size_t i;

	for (i = 0; i < part->nr_spaces; i++) {
		const struct da_space *s = &part->space[i].pub;

		n->space[i] = s->kind == DA_SPACE_PHYSICAL ? match_phys_space(m)
							   : match_space(m, s->mm, s->pid);
		if (n->space[i] == NONE)
			return false;
		da_ledger_add(&m->space[n->space[i]].pub.ledger, &s->ledger);
	}
	return true;
}

/* Mappings, in the order in which the part met them. A region that grew in the part was met several times:
 * the first one decides, and it becomes as wide as it was there. */
static bool merge_mappings(struct da_match *m, const struct da_match *part, struct numbers *n)
{
	size_t i;

	for (i = 0; i < part->nr_met; i++) {
		const struct met *met = &part->met[i];
		uint32_t to = match_entry_of_map(m, n->space[met->space], &met->map);
		const struct entry *e = &part->entry[met->entry];
		struct entry *mine;

		if (to == NONE)
			return false;
		if (n->entry[met->entry] != NONE)
			continue;
		n->entry[met->entry] = to;
		mine = &m->entry[to];
		mine->start = e->start < mine->start ? e->start : mine->start;
		mine->end = e->end > mine->end ? e->end : mine->end;
	}
	return true;
}

static bool merge_chunks(struct da_match *m, const struct da_match *part, struct numbers *n)
{
	const char *last = NULL, *label = NULL;
	size_t i;

	for (i = 0; i < part->nr_entries; i++) {
		const struct entry *e = &part->entry[i];
		uint32_t space = n->space[e->space], to;

		if (n->entry[i] != NONE)
			continue;
		to = match_chunk_entry(m, space, e->start);
		if (to == NONE) {
			to = match_new_chunk(m, space, e->start, e->end - e->start, NULL);
			if (to == NONE)
				return false;
			m->entry[to].end = e->end;
			if (e->label != last && m->space[space].pub.kind == DA_SPACE_VIRTUAL) {
				label = match_label_from(m, part, e->label);
				last = e->label;
			}
			if (m->space[space].pub.kind == DA_SPACE_VIRTUAL)
				m->entry[to].label = label;
		}
		n->entry[i] = to;
	}
	return true;
}

static bool merge_stats(struct da_match *m, const struct da_match *part, const struct numbers *n)
{
	size_t i;

	for (i = 0; i < part->nr_stats; i++) {
		const struct da_region_stat *s = &part->stat[i];
		uint32_t at = match_stat(m, n->entry[s->owner], s->event);
		struct da_region_stat *to;

		if (at == NONE)
			return false;
		to = &m->stat[at];
		to->samples += s->samples;
		to->accesses += s->accesses;
		to->reads += s->reads;
		to->writes += s->writes;
		to->hits += s->hits;
		to->hit_start = s->hit_start < to->hit_start ? s->hit_start : to->hit_start;
		to->hit_end = s->hit_end > to->hit_end ? s->hit_end : to->hit_end;
	}
	return true;
}

static bool merge_heat(struct da_match *m, const struct da_match *part, const struct numbers *n)
{
	size_t i;

	for (i = 0; i < part->nr_spaces; i++) {
		const struct da_heat *from = part->space[i].pub.heat;
		struct da_heat *to = from ? match_heat(m, n->space[i]) : NULL;
		size_t before = to ? da_heat_cells(to) : 0;

		if (!from)
			continue;
		if (!to || da_heat_merge(to, from, n->entry))
			return false;
		match_heat_grew(m, to, before);
	}
	return true;
}

/* The sampler's work is kept by (space, event); the index has no order, and none is needed. */
static bool merge_work(struct da_match *m, const struct da_match *part, const struct numbers *n)
{
	size_t i;

	for (i = 0; i < part->lasting.nr_slots; i++) {
		const struct index_slot *s = &part->lasting.slot[i];
		const struct work *from;
		struct work *to;

		if (s->at == NONE || (s->tag & 15) != KEY_WORK)
			continue;
		from = &part->work[s->at];
		to = match_work(m, n->space[s->key >> 32], (uint32_t)s->key,
				from->first << from->shift);
		if (!to)
			return false;
		work_merge(to, from);
	}
	return true;
}

static void merge_ledgers(struct da_match *m, const struct da_match *part)
{
	size_t i;

	for (i = 0; i < part->nr_ledgers; i++)
		da_ledger_add(match_ledger_of(m, part->ledger[i].event, part->ledger[i].cpu),
			      &part->ledger[i].ledger);
}

void da_match_merge(struct da_match *m, struct da_match *part)
{
	struct numbers n = {
		.space = reallocarray(NULL, part->nr_spaces + 1, sizeof(uint32_t)),
		.entry = reallocarray(NULL, part->nr_entries + 1, sizeof(uint32_t)),
	};
	bool ok;

	match_flush(m);
	match_flush(part);
	ok = n.space && n.entry && !part->no_memory;
	if (ok) {
		memset(n.entry, 0xff, part->nr_entries * sizeof(uint32_t)); /* NONE */
		merge_ledgers(m, part);
		ok = merge_spaces(m, part, &n) && merge_mappings(m, part, &n) &&
		     merge_chunks(m, part, &n) && merge_stats(m, part, &n) &&
		     merge_heat(m, part, &n) && merge_work(m, part, &n) &&
		     (!m->sketch || !sketch_merge(m->sketch, part->sketch, n.entry)) &&
		     (!m->hits || !hits_merge(m->hits, part->hits, n.entry));
	}
	if (!ok)
		m->no_memory = true;
	free(n.space);
	free(n.entry);
}
