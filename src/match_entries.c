/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spaces and regions of the match layer while reports come in: found or made on the first report that
 * needs them, with their labels.
 *
 * A region is a mapping through its life: one that grows or shrinks (heap by brk, stack, an anonymous area
 * that its neighbour merged with) stays the same region. Looking up a report is match.c's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "da_error.h"
#include "match_priv.h"

static const char UNKNOWN[] = "unknown"; /* label of a chunk in no mapping */

static uint32_t failed(struct da_match *m)
{
	m->no_memory = true;
	return NONE;
}

/* ---- spaces ---- */

static uint32_t new_space(struct da_match *m, const struct da_space *pub)
{
	uint32_t i = (uint32_t)m->nr_spaces;

	if (grow((void **)&m->space, &m->room_spaces, m->nr_spaces, sizeof(*m->space)))
		return failed(m);
	m->space[m->nr_spaces++] = (struct space){.pub = *pub, .self = i};
	return i;
}

uint32_t match_space(struct da_match *m, uint64_t mm, uint32_t pid)
{
	uint64_t key = mm ? mm : SPACE_BY_PID | pid;
	uint32_t i = index_find(&m->index, KEY_SPACE, 0, key);
	struct da_space pub = {
		.kind = DA_SPACE_VIRTUAL, .mm = mm, .pid = pid, .comm = "", .to_ns = UINT64_MAX};

	if (i != NONE)
		return i;
	i = new_space(m, &pub);
	if (i != NONE && index_put(&m->index, KEY_SPACE, 0, key, i))
		return failed(m);
	return i;
}

uint32_t match_phys_space(struct da_match *m)
{
	if (m->phys == NONE) {
		struct da_space pub = {.kind = DA_SPACE_PHYSICAL, .comm = "", .to_ns = UINT64_MAX};

		m->phys = new_space(m, &pub);
	}
	return m->phys;
}

/* ---- labels ---- */

const char *match_keep_text(struct da_match *m, char *text)
{
	if (!text || grow((void **)&m->texts, &m->room_texts, m->nr_texts, sizeof(*m->texts))) {
		free(text);
		m->no_memory = true;
		return "";
	}
	m->texts[m->nr_texts++] = text;
	return text;
}

static char *label_text(const struct da_map *map)
{
	const char *name = map->name && *map->name ? map->name : "unnamed";
	char *text = NULL;
	int n;

	if (map->kind == DA_MAP_HEAP || map->kind == DA_MAP_STACK || map->kind == DA_MAP_VDSO)
		return strdup(name);
	if (map->kind == DA_MAP_ANON && !strcmp(name, "//anon"))
		name = map->prot & PROT_EXEC ? "JIT" : "anon";
	n = asprintf(&text, "%s %c%c%c", name, map->prot & PROT_READ ? 'r' : '-',
		     map->prot & PROT_WRITE ? 'w' : '-', map->prot & PROT_EXEC ? 'x' : '-');
	return n < 0 ? NULL : text;
}

static uint64_t hash_of(const struct da_map *map)
{
	uint64_t h = 0xcbf29ce484222325ull ^ map->kind * 8u ^ (map->prot & 7); /* FNV-1a */
	const char *p = map->name;

	while (p && *p)
		h = (h ^ (unsigned char)*p++) * 0x100000001b3ull;
	return h;
}

/* The same text is the same pointer: labels are compared so. Two names with one hash get labels of their
 * own, which only keeps two regions apart. */
static const char *label_of(struct da_match *m, const struct da_map *map)
{
	uint64_t key = hash_of(map);
	uint32_t i = index_find(&m->index, KEY_LABEL, 0, key);
	struct label *l = i == NONE ? NULL : &m->label[i];
	const char *text;

	if (l && l->kind == map->kind && l->prot == (map->prot & 7) &&
	    !strcmp(l->name, map->name ? map->name : ""))
		return l->text;
	text = match_keep_text(m, label_text(map));
	if (l)
		return text;
	if (grow((void **)&m->label, &m->room_labels, m->nr_labels, sizeof(*m->label)) ||
	    index_put(&m->index, KEY_LABEL, 0, key, (uint32_t)m->nr_labels)) {
		m->no_memory = true;
		return text;
	}
	m->label[m->nr_labels++] =
		(struct label){map->name ? map->name : "", map->prot & 7, map->kind, text};
	return text;
}

const char *match_label_from(struct da_match *m, const struct da_match *from, const char *text)
{
	struct da_map map = {0};
	size_t i;

	for (i = 0; i < from->nr_labels && from->label[i].text != text; i++)
		;
	if (i == from->nr_labels) /* its own, or none of a mapping */
		return strcmp(text, UNKNOWN) ? match_keep_text(m, strdup(text)) : UNKNOWN;
	map.name = from->label[i].name;
	map.prot = from->label[i].prot;
	map.kind = from->label[i].kind;
	return label_of(m, &map);
}

/* ---- entries ---- */

static uint32_t new_entry(struct da_match *m, uint32_t space, uint64_t start, uint64_t end,
			  uint64_t from_ns, const char *label)
{
	if (grow((void **)&m->entry, &m->room_entries, m->nr_entries, sizeof(*m->entry)))
		return failed(m);
	m->entry[m->nr_entries] = (struct entry){
		.start = start,
		.end = end,
		.from_ns = from_ns,
		.label = label,
		.space = space,
		.stat = NONE,
	};
	return (uint32_t)m->nr_entries++;
}

/* The kernel lets these grow towards lower addresses (new anonymous areas are put below and merged). */
static bool grows_down(const struct da_map *map)
{
	return map->kind == DA_MAP_STACK || map->kind == DA_MAP_ANON;
}

/* The kernel calls the first extent of a heap //anon and later ones [heap]. */
static bool same_label(const char *a, const char *b)
{
	static const char heap[] = "[heap]", anon[] = "anon rw-";

	return a == b || (!strcmp(a, heap) && !strcmp(b, anon)) ||
	       (!strcmp(a, anon) && !strcmp(b, heap));
}

/* A region that this mapping is a later or an earlier extent of. */
static uint32_t same_mapping(const struct da_match *m, uint32_t space, const struct da_map *map,
			     const char *label)
{
	uint32_t i = index_find(&m->index, KEY_START, space, map->start);
	const struct entry *e = i == NONE ? NULL : &m->entry[i];

	if (e && same_label(e->label, label) && e->start <= map->start && map->start < e->end)
		return i;
	if (!grows_down(map))
		return NONE;
	i = index_find(&m->index, KEY_END, space, map->end);
	e = i == NONE ? NULL : &m->entry[i];
	return e && same_label(e->label, label) && e->start < map->end && map->end <= e->end ? i
											     : NONE;
}

uint32_t match_entry_of_map(struct da_match *m, uint32_t space, const struct da_map *map)
{
	uint32_t i = index_find(&m->index, KEY_ID, space, map->id);
	const char *label;
	struct entry *e;

	if (i != NONE)
		return i;
	label = label_of(m, map);
	i = same_mapping(m, space, map, label);
	if (i == NONE)
		i = new_entry(m, space, map->start, map->end, map->from_ns, label);
	if (i == NONE)
		return NONE;
	e = &m->entry[i];
	if (map->kind == DA_MAP_HEAP)
		e->label = label;
	e->start = map->start < e->start ? map->start : e->start;
	e->end = map->end > e->end ? map->end : e->end;
	e->from_ns = map->from_ns < e->from_ns ? map->from_ns : e->from_ns;
	if (index_put(&m->index, KEY_ID, space, map->id, i) ||
	    index_put(&m->index, KEY_START, space, map->start, i) ||
	    (grows_down(map) && index_put(&m->index, KEY_END, space, map->end, i)))
		return failed(m);
	if (m->o.part) {
		if (grow((void **)&m->met, &m->room_met, m->nr_met, sizeof(*m->met)))
			return failed(m);
		m->met[m->nr_met++] = (struct met){*map, space, i};
	}
	return i;
}

/* ---- fixed chunks ---- */

/* The slot of a chunk, or the free one where it belongs. */
static uint32_t *chunk_slot(const struct da_match *m, const struct chunks *c, uint32_t space,
			    uint64_t start)
{
	uint64_t h = (start ^ m->index.seed) * 0x9e3779b97f4a7c15ull;
	size_t i;

	h = ((h ^ h >> 32) + space) * 0xd6e8feb86659fd93ull;
	for (i = (size_t)(h >> 32) & (c->nr_slots - 1);; i = (i + 1) & (c->nr_slots - 1)) {
		const struct entry *e = c->slot[i] == NONE ? NULL : &m->entry[c->slot[i]];

		if (!e || (e->start == start && e->space == space))
			return &c->slot[i];
	}
}

uint32_t match_chunk_entry(const struct da_match *m, uint32_t space, uint64_t start)
{
	return m->chunks.nr_slots ? *chunk_slot(m, &m->chunks, space, start) : NONE;
}

static int grow_chunks(struct da_match *m)
{
	struct chunks *c = &m->chunks,
		      bigger = {.nr_slots = c->nr_slots ? c->nr_slots * 2 : 256, .used = c->used};
	size_t i;

	bigger.slot = malloc(bigger.nr_slots * sizeof(*bigger.slot));
	if (!bigger.slot)
		return -DA_ENOMEM;
	memset(bigger.slot, 0xff, bigger.nr_slots * sizeof(*bigger.slot));
	for (i = 0; i < c->nr_slots; i++) {
		const struct entry *e = c->slot[i] == NONE ? NULL : &m->entry[c->slot[i]];

		if (e)
			*chunk_slot(m, &bigger, e->space, e->start) = c->slot[i];
	}
	free(c->slot);
	*c = bigger;
	return 0;
}

uint32_t match_new_chunk(struct da_match *m, uint32_t space, uint64_t start, uint64_t bytes,
			 const struct da_map *map)
{
	uint64_t end = start + bytes < start ? UINT64_MAX : start + bytes;
	const char *label = "phys";
	uint32_t i;

	if (m->space[space].pub.kind == DA_SPACE_VIRTUAL)
		label = map ? label_of(m, map) : UNKNOWN;
	if (m->chunks.used * 4 >= m->chunks.nr_slots * 3 && grow_chunks(m))
		return failed(m);
	i = new_entry(m, space, start, end, 0, label);
	if (i == NONE)
		return NONE;
	*chunk_slot(m, &m->chunks, space, start) = i;
	m->chunks.used++;
	return i;
}

/* ---- numbers of one event in one region ---- */

uint32_t match_stat(struct da_match *m, uint32_t entry, uint32_t event)
{
	struct entry *e = &m->entry[entry];
	uint64_t key = (uint64_t)entry << 32 | event;
	uint32_t i;

	if (e->stat != NONE && m->stat[e->stat].event == event)
		return e->stat;
	i = e->stat == NONE ? NONE : index_find(&m->index, KEY_STAT, 0, key);
	if (i != NONE)
		return i;
	if (grow((void **)&m->stat, &m->room_stats, m->nr_stats, sizeof(*m->stat)) ||
	    grow((void **)&m->credit, &m->room_credits, m->nr_stats, sizeof(*m->credit)))
		return failed(m);
	i = (uint32_t)m->nr_stats;
	if (e->stat == NONE)
		e->stat = i;
	else if (index_put(&m->index, KEY_STAT, 0, key, i))
		return failed(m);
	m->stat[i] =
		(struct da_region_stat){.event = event, .owner = entry, .hit_start = UINT64_MAX};
	m->credit[i] = (struct credit){0};
	m->nr_stats++;
	return i;
}

struct work *match_work(struct da_match *m, uint32_t space, uint32_t event, uint64_t time_ns)
{
	uint64_t key = (uint64_t)space << 32 | event;
	uint32_t i;

	if (m->nr_work && m->last_work_key == key)
		return &m->work[m->last_work];
	i = index_find(&m->lasting, KEY_WORK, 0, key);
	if (i == NONE) {
		if (grow((void **)&m->work, &m->room_work, m->nr_work, sizeof(*m->work)) ||
		    index_put(&m->lasting, KEY_WORK, 0, key, (uint32_t)m->nr_work)) {
			m->no_memory = true;
			return NULL;
		}
		i = (uint32_t)m->nr_work++;
		work_init(&m->work[i], time_ns);
	}
	m->last_work = i;
	m->last_work_key = key;
	return &m->work[i];
}
