/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings that the live run found without a record (DA_OWN_MAP): each is given to the task timeline when
 * the recording has come to the time since which it holds, as if its record stood there.
 */
#include <stdlib.h>
#include <string.h>

#include "da_cursor.h"
#include "offline_priv.h"

#define MAX_MAPS  65536
#define MAX_BYTES 8192

static int by_time(const void *a, const void *b)
{
	const struct map_since *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void give(struct da_offline *o, const struct map_since *m)
{
	struct da_cur c = da_cur_from(m->bytes, m->len, m->swap);
	struct da_rec rec = {.bytes = m->bytes,
			     .size = (uint32_t)m->len,
			     .swap = m->swap,
			     .time_ns = m->time_ns,
			     .has = DA_SAMPLE_TIME};

	rec.type = da_cur_u32(&c);
	rec.misc = da_cur_u16(&c);
	if (da_cur_u16(&c) != m->len || rec.type != DA_REC_MMAP2)
		offline_damage(o, "a mapping of our own records does not fit its bytes");
	else if (da_tasks_record(o->tasks, &rec) == -DA_ENOMEM)
		o->no_memory = true;
}

void map_record(struct da_offline *o, const uint8_t *payload, size_t len, bool swap)
{
	struct map_table *t = &o->maps;
	struct da_cur c = da_cur_from(payload, len, swap);
	struct map_since m = {.time_ns = da_cur_u64(&c), .swap = swap, .order = t->nr};

	if (!da_cur_ok(&c) || len < 16 || len > MAX_BYTES) {
		offline_damage(o, "a mapping of our own records does not fit its bytes");
		return;
	}
	if (t->nr == MAX_MAPS)
		return; /* a recorder writes a few a second */
	if (t->nr == t->room) {
		size_t room = t->room ? t->room * 2 : 16;
		struct map_since *grown = reallocarray(t->all, room, sizeof(*grown));

		if (!grown) {
			o->no_memory = true;
			return;
		}
		t->all = grown;
		t->room = room;
	}
	m.len = len - 8;
	m.bytes = malloc(m.len);
	if (!m.bytes) {
		o->no_memory = true;
		return;
	}
	memcpy(m.bytes, payload + 8, m.len);
	t->all[t->nr++] = m;
	if (o->own_inline) /* too late for the samples before it, in time for those behind */
		give(o, &m);
}

void maps_end(struct da_offline *o)
{
	if (o->own_inline)
		return;
	if (o->maps.nr)
		qsort(o->maps.all, o->maps.nr, sizeof(*o->maps.all), by_time);
}

void maps_until(struct da_offline *o, uint64_t time_ns)
{
	struct map_table *t = &o->maps;

	while (!o->own_inline && t->given < t->nr && t->all[t->given].time_ns <= time_ns)
		give(o, &t->all[t->given++]);
}

void maps_release(struct da_offline *o)
{
	while (o->maps.nr)
		free(o->maps.all[--o->maps.nr].bytes);
	free(o->maps.all);
}
