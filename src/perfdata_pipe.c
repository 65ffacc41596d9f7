/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pipe mode: no sections, so a recording says in records what a file says in its header.
 *
 * All of them are looked at before the first record is lent, because names and features may come late. The
 * input is a file by now (perfdata_input.c spools), so nothing is kept but where a feature's bytes lie.
 */
#include <stdlib.h>
#include <string.h>

#include "da_cursor.h"
#include "perfdata_priv.h"

#define WINDOW_BYTES (1u << 20)
#define UPDATE_NAME  2

static void bad(struct da_reader *r, const struct raw *raw, const char *what)
{
	r->info.damaged_records++;
	reader_damage(r, "'%s': record at 0x%llx: %s of %u bytes does not fit", r->path,
		      (unsigned long long)raw->offset, what, raw->size);
}

/* HEADER_ATTR: attr.size bytes, then ids to the record's end. */
static int take_attr(struct da_reader *r, const struct raw *raw, struct da_error *err)
{
	struct da_cur c = da_cur_from(raw->bytes, raw->size, r->swap), look;
	const uint8_t *attr;
	struct da_attr a;
	uint32_t size;
	uint64_t *ids;
	size_t nr;

	da_cur_skip(&c, REC_HEADER);
	look = c;
	da_cur_skip(&look, 4);
	size = da_cur_u32(&look);
	if (!size)
		size = ATTR_MIN;
	attr = da_cur_bytes(&c, size);
	if (!attr || da_attr_parse(attr, size, r->swap, &a) < 0) {
		bad(r, raw, "the attr");
		r->events.partial = true;
		return 0;
	}
	nr = da_cur_left(&c) / 8;
	if (r->events.nr >= MAX_EVENTS || nr > MAX_IDS - r->events.nr_ids) {
		reader_damage(r, "'%s': more than %u events or %u ids", r->path, MAX_EVENTS,
			      MAX_IDS);
		r->events.partial = true;
		return 0;
	}
	ids = calloc(nr + 1, sizeof(*ids));
	if (!ids)
		return reader_no_memory(r, err);
	for (size_t i = 0; i < nr; i++)
		ids[i] = da_cur_u64(&c);
	return events_add(&r->events, &a, ids, nr) < 0 ? reader_no_memory(r, err) : 0;
}

/* HEADER_FEATURE: u64 bit, then what a file's section holds. */
static void take_feature(struct da_reader *r, const struct raw *raw)
{
	struct da_cur c = da_cur_from(raw->bytes, raw->size, r->swap);
	uint64_t bit;

	da_cur_skip(&c, REC_HEADER);
	bit = da_cur_u64(&c);
	if (!da_cur_ok(&c)) {
		bad(r, raw, "the feature");
		return;
	}
	if (bit < NR_FEATURES)
		r->features->f[bit] = (struct feature){
			.present = true, .off = raw->offset + 16, .size = raw->size - 16u};
}

/* EVENT_UPDATE: u64 kind, u64 id of the event, and for a name the string. */
static int take_update(struct da_reader *r, const struct raw *raw, struct da_error *err)
{
	struct da_cur c = da_cur_from(raw->bytes, raw->size, r->swap);
	uint64_t kind, id;
	const char *name;
	uint32_t event;

	da_cur_skip(&c, REC_HEADER);
	kind = da_cur_u64(&c);
	id = da_cur_u64(&c);
	if (kind != UPDATE_NAME)
		return 0;
	name = da_cur_str(&c);
	if (!name || !*name)
		return 0;
	event = events_by_id(&r->events, id);
	if (event == NO_EVENT && r->events.nr == 1)
		event = 0;
	if (event == NO_EVENT)
		return 0;
	return events_set_name(&r->events, event, name, strlen(name)) < 0 ? reader_no_memory(r, err)
									  : 0;
}

enum what { ATTRS, REST };

static int walk(struct da_reader *r, uint64_t pos, enum what what, struct da_error *err)
{
	struct stream s;
	struct raw raw;
	int ret;

	stream_init(&s, r, &r->inputs[0], pos, r->inputs[0].size, WINDOW_BYTES, NULL);
	s.quiet = true;
	s.skim = true;
	while ((ret = stream_next(&s, &raw, err)) > 0) {
		ret = 0;
		/* Attrs precede the samples that they explain. */
		if (what == ATTRS && raw.type == DA_REC_SAMPLE && r->events.nr)
			break;
		if (what == ATTRS && raw.type == DA_REC_HEADER_ATTR)
			ret = take_attr(r, &raw, err);
		else if (what == REST && raw.type == DA_REC_HEADER_FEATURE)
			take_feature(r, &raw);
		else if (what == REST && raw.type == DA_REC_EVENT_UPDATE)
			ret = take_update(r, &raw, err);
		else if (what == REST && raw.type == DA_REC_TRACING_DATA && raw.payload_avail)
			r->features->f[DA_FEAT_TRACING_DATA] = (struct feature){
				.present = true, .off = raw.payload_at, .size = raw.payload_avail};
		if (ret < 0)
			break;
	}
	stream_release(&s);
	return ret;
}

int pipe_open(struct da_reader *r, uint64_t pos, struct da_error *err)
{
	int ret = walk(r, pos, ATTRS, err);

	if (ret < 0)
		return ret;
	if (!r->events.nr)
		return da_fail(err, DA_EFORMAT, 0,
			       "cannot read '%s': no event attr in it can be read", r->path);
	if (events_freeze(&r->events) < 0)
		return reader_no_memory(r, err);
	ret = walk(r, pos, REST, err);
	if (ret < 0)
		return ret;
	return features_parse(r, err);
}
