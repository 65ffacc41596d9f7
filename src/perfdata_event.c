/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The events of a recording: their ids, their names, and where in their records id, task, time and CPU
 * lie, so that ordering needs no full parse.
 *
 * It reads no file; perfdata_read.c and perfdata_pipe.c give it attrs and ids.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata_priv.h"

/* ---- layouts ---- */

/* The fixed front of a SAMPLE, in record order. */
static void sample_layout(uint64_t type, struct layout *l)
{
	uint16_t at = REC_HEADER;

	l->id = l->tid = l->time = l->cpu = NO_OFFSET;
	if (type & DA_SAMPLE_IDENTIFIER) {
		l->id = at;
		at += 8;
	}
	if (type & DA_SAMPLE_IP)
		at += 8;
	if (type & DA_SAMPLE_TID) {
		l->tid = at;
		at += 8;
	}
	if (type & DA_SAMPLE_TIME) {
		l->time = at;
		at += 8;
	}
	if (type & DA_SAMPLE_ADDR)
		at += 8;
	if (type & DA_SAMPLE_ID) {
		if (l->id == NO_OFFSET)
			l->id = at;
		at += 8;
	}
	if (type & DA_SAMPLE_STREAM_ID)
		at += 8;
	if (type & DA_SAMPLE_CPU) {
		l->cpu = at;
		at += 8;
	}
	l->sample_min = at;
}

static void trailer_layout(const struct da_attr *a, struct layout *l)
{
	uint64_t type = a->sample_type;
	uint16_t at = 0;

	l->t_id = l->t_tid = l->t_time = l->t_cpu = NO_OFFSET;
	l->trailer = 0;
	if (!(a->flags & DA_ATTR_SAMPLE_ID_ALL))
		return;
	if (type & DA_SAMPLE_TID) {
		l->t_tid = at;
		at += 8;
	}
	if (type & DA_SAMPLE_TIME) {
		l->t_time = at;
		at += 8;
	}
	if (type & DA_SAMPLE_ID) {
		l->t_id = at;
		at += 8;
	}
	if (type & DA_SAMPLE_STREAM_ID)
		at += 8;
	if (type & DA_SAMPLE_CPU) {
		l->t_cpu = at;
		at += 8;
	}
	if (type & DA_SAMPLE_IDENTIFIER) {
		l->t_id = at;
		at += 8;
	}
	l->trailer = at;
}

/* Bytes from a trailer's end to its id. */
static uint16_t id_from_end(const struct layout *l)
{
	return l->t_id == NO_OFFSET ? NO_OFFSET : (uint16_t)(l->trailer - l->t_id);
}

/* Is a record of one event read rightly with the other's attr? */
static bool same_layout(const struct da_attr *a, const struct da_attr *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
	       a->branch_sample_type == b->branch_sample_type &&
	       a->sample_regs_user == b->sample_regs_user &&
	       a->sample_regs_intr == b->sample_regs_intr &&
	       (a->flags & DA_ATTR_SAMPLE_ID_ALL) == (b->flags & DA_ATTR_SAMPLE_ID_ALL);
}

/* ---- events ---- */

void events_release(struct events *e)
{
	for (size_t i = 0; i < e->nr; i++) {
		free(e->ev[i].name);
		free((void *)(uintptr_t)e->ev[i].ids);
	}
	free(e->ev);
	free(e->layout);
	free(e->map);
	memset(e, 0, sizeof(*e));
}

int events_add(struct events *e, const struct da_attr *a, uint64_t *ids, size_t nr_ids)
{
	struct da_event *ev;

	if (e->nr == e->cap) {
		size_t cap = e->cap ? 2 * e->cap : 8;

		ev = reallocarray(e->ev, cap, sizeof(*ev));
		if (!ev) {
			free(ids);
			return -DA_ENOMEM;
		}
		e->ev = ev;
		e->cap = cap;
	}
	ev = &e->ev[e->nr];
	*ev = (struct da_event){.attr = *a, .ids = ids, .nr_ids = nr_ids, .index = (uint32_t)e->nr};
	e->nr++;
	e->nr_ids += nr_ids;
	return 0;
}

/* ---- ids ---- */

static int by_id(const void *a, const void *b)
{
	const struct id_entry *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* A sorted array and no hash: ids come from a file, which could choose them to collide. */
static int build_map(struct events *e)
{
	size_t nr = 0;

	if (!e->nr_ids)
		return 0;
	e->map = calloc(e->nr_ids, sizeof(*e->map));
	if (!e->map)
		return -DA_ENOMEM;
	for (size_t i = 0; i < e->nr; i++) {
		for (size_t k = 0; k < e->ev[i].nr_ids; k++)
			e->map[nr++] =
				(struct id_entry){.id = e->ev[i].ids[k], .event = (uint32_t)i};
	}
	qsort(e->map, nr, sizeof(*e->map), by_id);
	return 0;
}

uint32_t events_by_id(const struct events *e, uint64_t id)
{
	size_t lo = 0, nr = e->map ? e->nr_ids : 0;

	/* First entry that is not less; the first event keeps an id that two claim. */
	while (nr) {
		size_t half = nr / 2;

		if (e->map[lo + half].id < id) {
			lo += half + 1;
			nr -= half + 1;
		} else {
			nr = half;
		}
	}
	if (!e->map || lo == e->nr_ids || e->map[lo].id != id)
		return NO_EVENT;
	return e->map[lo].event;
}

int events_freeze(struct events *e)
{
	if (!e->nr)
		return 0;
	e->layout = calloc(e->nr, sizeof(*e->layout));
	if (!e->layout)
		return -DA_ENOMEM;
	e->same_layout = true;
	for (size_t i = 0; i < e->nr; i++) {
		struct layout *l = &e->layout[i];

		sample_layout(e->ev[i].attr.sample_type, l);
		trailer_layout(&e->ev[i].attr, l);
		if (!i) {
			e->id_at = l->id;
			e->id_from_end = id_from_end(l);
			continue;
		}
		if (e->id_at != l->id)
			e->id_at = NO_OFFSET;
		if (e->id_from_end != id_from_end(l))
			e->id_from_end = NO_OFFSET;
		if (!same_layout(&e->ev[0].attr, &e->ev[i].attr))
			e->same_layout = false;
	}
	return build_map(e);
}

void events_quick(struct events *e)
{
	e->quick_time = NO_OFFSET;
	if (!e->nr)
		return;
	e->quick_id = e->id_at;
	e->quick_time = e->layout[0].time;
	e->quick_min = e->layout[0].sample_min;
	if (e->nr == 1 && !e->partial)
		e->quick_id = NO_OFFSET;
	else if (e->quick_id == NO_OFFSET)
		e->quick_time = NO_OFFSET;
	for (size_t i = 1; i < e->nr; i++) {
		if (e->layout[i].time != e->quick_time)
			e->quick_time = NO_OFFSET;
		if (e->layout[i].sample_min > e->quick_min)
			e->quick_min = e->layout[i].sample_min;
	}
}

/* ---- names ---- */

int events_set_name(struct events *e, size_t i, const char *name, size_t len)
{
	char *copy = strndup(name, len);

	if (!copy)
		return -DA_ENOMEM;
	free(e->ev[i].name);
	e->ev[i].name = copy;
	return 0;
}

int events_name_rest(struct events *e)
{
	char name[96];

	for (size_t i = 0; i < e->nr; i++) {
		if (e->ev[i].name)
			continue;
		da_attr_name(&e->ev[i].attr, name, sizeof(name));
		if (events_set_name(e, i, name, sizeof(name)) < 0)
			return -DA_ENOMEM;
	}
	return 0;
}
