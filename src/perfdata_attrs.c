/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The attr entries of a recording in file mode, and the ids of their events.
 *
 * An entry that cannot be read costs its event; ids that cannot be read cost the ids. In pipe mode both come
 * in records: perfdata_pipe.c.
 */
#include <stdlib.h>

#include "da_cursor.h"
#include "perfdata_priv.h"

#define ATTR_MAX 4096 /* far beyond any kernel's: the entry is damaged */

#define llu(v) ((unsigned long long)(v))

/* Reads the ids of one attr into a new array; a section that does not fit is damage and gives none. */
static int read_ids(struct da_reader *r, const struct section *s, uint64_t **ids, size_t *nr,
		    struct da_error *err)
{
	const struct input *in = &r->inputs[0];
	int ret;

	*ids = NULL;
	*nr = 0;
	if (!s->size)
		return 0;
	if (s->off > in->size || s->size > in->size - s->off) {
		reader_damage(r, "'%s': the ids of event %zu lie beyond the end of the file",
			      in->name, r->events.nr);
		return 0;
	}
	/* Sections of many events could be one and the same: the sum is bounded too. */
	if (s->size / 8 > MAX_IDS - r->events.nr_ids) {
		reader_damage(r, "'%s': more than %u event ids", in->name, MAX_IDS);
		return 0;
	}
	*nr = (size_t)(s->size / 8);
	*ids = calloc(*nr + 1, sizeof(**ids));
	if (!*ids)
		return reader_no_memory(r, err);
	ret = input_read(in, s->off, *ids, *nr * sizeof(**ids), err);
	if (ret < 0) {
		free(*ids);
		return ret;
	}
	for (size_t i = 0; r->swap && i < *nr; i++)
		(*ids)[i] = __builtin_bswap64((*ids)[i]);
	return 0;
}

/* One entry: attr.size bytes of attr, then the section of its ids. Returns its bytes, or -DA_EDAMAGED. */
static int read_attr(struct da_reader *r, uint64_t at, const struct file_header *h,
		     struct section *ids, struct da_error *err)
{
	const struct input *in = &r->inputs[0];
	uint64_t left = in->size - at;
	uint8_t b[ATTR_MAX + 16];
	struct da_attr a;
	struct da_cur c;
	uint32_t size;
	uint64_t *list;
	size_t nr;
	int ret;

	if (left < ATTR_MIN + 16) {
		reader_damage(r, "'%s': the file ends inside its attrs", in->name);
		return -DA_EDAMAGED;
	}
	ret = input_read(in, at, b, left < sizeof(b) ? (size_t)left : sizeof(b), err);
	if (ret < 0)
		return ret;
	c = da_cur_from(b, sizeof(b), r->swap);
	da_cur_skip(&c, 4);
	size = da_cur_u32(&c);
	if (!size)
		size = ATTR_MIN; /* the first ABI did not fill it in */
	if (size < ATTR_MIN || size > ATTR_MAX || left < size + 16u) {
		reader_damage(r, "'%s': event %zu has an attr of %u bytes", in->name, r->events.nr,
			      size);
		return h->attr_size >= ATTR_MIN + 16 && h->attr_size <= sizeof(b)
			       ? (int)h->attr_size
			       : -DA_EDAMAGED;
	}
	if (da_attr_parse(b, size, r->swap, &a) < 0)
		return -DA_EBUG;
	c = da_cur_from(b + size, 16, r->swap);
	ids->off = da_cur_u64(&c);
	ids->size = da_cur_u64(&c);
	ret = read_ids(r, ids, &list, &nr, err);
	if (ret < 0)
		return ret;
	if (events_add(&r->events, &a, list, nr) < 0)
		return reader_no_memory(r, err);
	return (int)size + 16;
}

int attrs_read(struct da_reader *r, const struct file_header *h, uint64_t from, uint64_t *lowest,
	       struct da_error *err)
{
	const struct input *in = &r->inputs[0];
	uint64_t nr = h->attrs.size / h->attr_size, at = h->attrs.off;

	*lowest = in->size;
	if (at >= from && at < *lowest)
		*lowest = at;
	if (nr > MAX_EVENTS) {
		reader_damage(r, "'%s': it claims %llu events; the first %u are read", in->name,
			      llu(nr), MAX_EVENTS);
		nr = MAX_EVENTS;
	}
	for (uint64_t i = 0; i < nr; i++) {
		struct section ids = {0};
		int ret;

		if (at > in->size) {
			reader_damage(r, "'%s': its attrs lie beyond the end of the file",
				      in->name);
			break;
		}
		ret = read_attr(r, at, h, &ids, err);
		if (ret == -DA_EDAMAGED)
			break;
		if (ret < 0)
			return ret;
		at += (uint64_t)ret;
		if (ids.size && ids.off >= from && ids.off < *lowest)
			*lowest = ids.off;
	}
	if (!r->events.nr)
		return da_fail(err, DA_EFORMAT, 0,
			       "cannot read '%s': no event attr in it can be read", r->path);
	r->events.partial = r->events.nr < h->attrs.size / h->attr_size;
	return 0;
}
