/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lending records: which event a record belongs to, when it was, and in which order records are given.
 *
 * Records with a time go through the sorter. AUXTRACE has none and stays behind the records that precede
 * it in the file: what explains its bytes was recorded before them. Every other record without a time is
 * given as soon as it is read, before all that still wait: it describes what follows it.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata_priv.h"

/* Bytes of one of several streams that are read before the others get their turn. */
#define TURN_ALL     (2u << 20) /* of all streams together */
#define TURN_MIN     (4u << 10)
#define TURN_MAX     (256u << 10)
#define FORK_TIME_AT 24 /* FORK and EXIT: the time in the record's body */

static uint16_t u16_at(const uint8_t *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return swap ? __builtin_bswap16(v) : v;
}

static uint32_t u32_at(const uint8_t *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return swap ? __builtin_bswap32(v) : v;
}

static uint64_t u64_at(const uint8_t *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return swap ? __builtin_bswap64(v) : v;
}

/* ---- whose record, and when ---- */

enum kind { KIND_SAMPLE, KIND_KERNEL, KIND_USER };

struct who {
	enum kind kind;
	uint32_t event;  /* NO_EVENT: none, or not known */
	uint32_t layout; /* the event by whose attr the record is laid out; NO_EVENT: none */
	bool unknown_id;
};

static enum kind kind_of(uint32_t type)
{
	return type == DA_REC_SAMPLE        ? KIND_SAMPLE
	       : type >= DA_REC_HEADER_ATTR ? KIND_USER
					    : KIND_KERNEL;
}

/* Where several events put their id in different places: the one that finds an id of its own. */
static uint32_t self_consistent(const struct events *e, const struct raw *raw, enum kind kind,
				bool swap)
{
	for (uint32_t i = 0; i < e->nr; i++) {
		const struct layout *l = &e->layout[i];
		size_t at = kind == KIND_SAMPLE ? l->id : l->t_id;

		if (at == NO_OFFSET)
			continue;
		if (kind == KIND_KERNEL) {
			if (raw->size < REC_HEADER + (uint32_t)l->trailer)
				continue;
			at += raw->size - l->trailer;
		}
		if (at + 8 <= raw->size && events_by_id(e, u64_at(raw->bytes + at, swap)) == i)
			return i;
	}
	return NO_EVENT;
}

/* The event by the id of a record; false if the record is too short to have one. */
static bool event_of(const struct events *e, const struct raw *raw, struct who *w, bool swap)
{
	bool sample = w->kind == KIND_SAMPLE;
	uint16_t pos = sample ? e->id_at : e->id_from_end;

	if (pos == NO_OFFSET) {
		w->event = e->same_layout && !e->partial ? NO_EVENT
							 : self_consistent(e, raw, w->kind, swap);
		return true;
	}
	if (pos + (sample ? 8u : REC_HEADER) > raw->size)
		return false;
	w->event = events_by_id(e, u64_at(raw->bytes + (sample ? pos : raw->size - pos), swap));
	return true;
}

static bool identify_by_id(const struct events *e, const struct raw *raw, struct who *w, bool swap)
{
	if (!event_of(e, raw, w, swap))
		return false;
	w->layout = w->event;
	if (w->event != NO_EVENT)
		return true;
	/* What the recorder made up itself has id 0; and some recorders gave no ids. The first event stands
	 * for those, where that cannot misread a sample. */
	if (w->kind == KIND_KERNEL) {
		w->layout = 0;
	} else {
		w->unknown_id = true;
		if (e->same_layout && !e->partial)
			w->event = w->layout = 0;
	}
	return true;
}

/* Whose record it is. False: it is too short for what its event puts into every record. */
static bool identify(const struct da_reader *r, const struct raw *raw, struct who *w)
{
	const struct events *e = &r->events;
	const struct layout *l;

	*w = (struct who){.kind = kind_of(raw->type), .event = NO_EVENT, .layout = NO_EVENT};
	if (w->kind == KIND_USER || !e->nr)
		return true;
	if (e->nr == 1 && !e->partial)
		w->event = w->layout = 0;
	else if (!identify_by_id(e, raw, w, r->swap))
		return false;
	if (w->layout == NO_EVENT)
		return true;
	l = &e->layout[w->layout];
	return raw->size >=
	       (w->kind == KIND_SAMPLE ? l->sample_min : REC_HEADER + (uint32_t)l->trailer);
}

/* Recordings of old kernels have no trailer; these two records carry their time themselves. */
static bool time_in_body(const struct raw *raw)
{
	return (raw->type == DA_REC_FORK || raw->type == DA_REC_EXIT) &&
	       raw->size >= FORK_TIME_AT + 8;
}

/* The time by which a record that identify() accepted is sorted; 0: none. */
static uint64_t time_of(const struct da_reader *r, const struct raw *raw, const struct who *w)
{
	const struct layout *l = w->layout == NO_EVENT ? NULL : &r->events.layout[w->layout];
	uint64_t time = 0;

	if (l && w->kind == KIND_SAMPLE && l->time != NO_OFFSET)
		time = u64_at(raw->bytes + l->time, r->swap);
	else if (l && w->kind == KIND_KERNEL && l->t_time != NO_OFFSET)
		time = u64_at(raw->bytes + raw->size - l->trailer + l->t_time, r->swap);
	else if (time_in_body(raw))
		time = u64_at(raw->bytes + FORK_TIME_AT, r->swap);
	return time == UINT64_MAX ? 0 : time; /* what a recorder makes up has 0 or -1 */
}

/* Fills what all records share from where the layout says it is. */
static void take_shared(const struct layout *l, enum kind kind, struct da_rec *rec)
{
	const uint8_t *p = rec->bytes;
	uint16_t id, tid, time, cpu;

	if (kind == KIND_SAMPLE) {
		id = l->id;
		tid = l->tid;
		time = l->time;
		cpu = l->cpu;
	} else {
		p += rec->size - l->trailer;
		id = l->t_id;
		tid = l->t_tid;
		time = l->t_time;
		cpu = l->t_cpu;
	}
	if (time != NO_OFFSET) {
		rec->time_ns = u64_at(p + time, rec->swap);
		rec->has |= DA_SAMPLE_TIME;
	}
	if (id != NO_OFFSET) {
		rec->id = u64_at(p + id, rec->swap);
		rec->has |= DA_SAMPLE_ID;
	}
	if (tid != NO_OFFSET) {
		rec->pid = u32_at(p + tid, rec->swap);
		rec->tid = u32_at(p + tid + 4, rec->swap);
		rec->has |= DA_SAMPLE_TID;
	}
	if (cpu != NO_OFFSET) {
		rec->cpu = u32_at(p + cpu, rec->swap);
		rec->has |= DA_SAMPLE_CPU;
	}
}

/* Lends a record that identify() accepted. */
static void lend(const struct da_reader *r, const struct raw *raw, const struct who *w,
		 struct da_rec *rec)
{
	*rec = (struct da_rec){.type = raw->type,
			       .misc = raw->misc,
			       .size = raw->size,
			       .bytes = raw->bytes,
			       .offset = raw->offset,
			       .swap = r->swap};
	if (w->event != NO_EVENT)
		rec->event = &r->events.ev[w->event];
	if (w->layout != NO_EVENT)
		take_shared(&r->events.layout[w->layout], w->kind, rec);
	if (!(rec->has & DA_SAMPLE_TIME) && time_in_body(raw)) {
		rec->time_ns = u64_at(rec->bytes + FORK_TIME_AT, rec->swap);
		rec->has |= DA_SAMPLE_TIME;
	}
}

static bool has_payload(uint32_t type)
{
	return type == DA_REC_AUXTRACE || type == DA_REC_TRACING_DATA;
}

static void take_payload(const struct raw *raw, uint32_t input, struct da_rec *rec)
{
	rec->payload_total = raw->payload_total;
	rec->payload_at = raw->payload_at;
	rec->payload_avail = raw->payload_avail;
	rec->payload_input = input;
}

/* ---- turns of several streams ---- */

static uint64_t turn_bytes(const struct da_reader *r)
{
	uint64_t n = TURN_ALL / r->nr_streams;

	return n < TURN_MIN ? TURN_MIN : n > TURN_MAX ? TURN_MAX : n;
}

/* The stream that lags behind reads next. What all of them have passed by a whole turn may go: within a
 * stream, which is one CPU's ring, records are nearly in order. */
static void next_turn(struct da_reader *r)
{
	uint64_t limit = UINT64_MAX;
	size_t best = r->nr_streams;

	r->progress[r->turn].prev = r->turn_start;
	for (size_t i = 0; i < r->nr_streams; i++) {
		const struct progress *p = &r->progress[i];

		if (p->ended)
			continue;
		if (p->prev < limit)
			limit = p->prev;
		if (best == r->nr_streams || p->max < r->progress[best].max)
			best = i;
	}
	if (best == r->nr_streams) {
		r->ended = true;
		return;
	}
	r->turn = best;
	r->turn_start = r->progress[best].max;
	r->turn_left = turn_bytes(r);
	sorter_limit(r->sorter, limit);
}

/* A record of this stream was read; time 0: it has none. */
static void took_turn(struct da_reader *r, uint32_t size, uint64_t time)
{
	struct progress *p = &r->progress[r->turn];

	if (r->nr_streams == 1)
		return;
	if (time > p->max)
		p->max = time;
	if (size < r->turn_left)
		r->turn_left -= size;
	else
		next_turn(r);
}

/* ---- reading ---- */

static void damaged_record(struct da_reader *r, const struct stream *s, const struct raw *raw)
{
	r->info.damaged_records++;
	r->info.skipped_bytes += raw->size;
	reader_damage(
		r,
		"'%s': record at 0x%llx of type %u and %u bytes is shorter than its event's fields",
		s->in->name, (unsigned long long)raw->offset, raw->type, raw->size);
}

/* Whose record one is, in a number for the sorter: that of its event, or one of these. */
#define WHO_ZERO (1u << 29) /* laid out by the first event, and not its record */
#define WHO_NONE (1u << 30) /* nobody's */

static uint32_t pack(const struct who *w)
{
	if (w->layout == NO_EVENT)
		return WHO_NONE;
	if (w->event == NO_EVENT)
		return WHO_ZERO;
	return w->kind == KIND_SAMPLE ? WHO_SAMPLE | w->event : w->event;
}

static struct who unpack(uint32_t packed, uint32_t type)
{
	uint32_t event = packed & ~WHO_SAMPLE;
	struct who w = {.kind = kind_of(type), .event = event, .layout = event};

	if (packed == WHO_NONE)
		w.event = w.layout = NO_EVENT;
	else if (packed == WHO_ZERO)
		w = (struct who){.kind = w.kind, .event = NO_EVENT, .layout = 0};
	return w;
}

/* time 0: none. */
static int sort_in(struct da_reader *r, const struct raw *raw, const struct who *w, uint64_t time)
{
	struct held h = {.raw = *raw,
			 .time = time,
			 .who = pack(w),
			 .input = (uint32_t)r->turn,
			 .has_payload = has_payload(raw->type)};

	if (!time && raw->type != DA_REC_AUXTRACE)
		return sorter_put_first(r->sorter, &h);
	if (!time)
		h.time = r->sorter->max;
	return sorter_put(r->sorter, &h);
}

/* A recorder's pass over its CPUs is over. */
static void round_end(struct da_reader *r)
{
	uint64_t limit = r->round_limit;

	if (r->nr_streams > 1)
		return; /* turns take the place of rounds */
	r->round_limit = r->sorter->max;
	sorter_limit(r->sorter, limit);
}

/* Reads one record into the sorter. Negative: failed. */
static int read_one(struct da_reader *r)
{
	struct stream *s = &r->streams[r->turn];
	uint64_t time;
	struct raw raw;
	struct who w;
	int ret;

	ret = stream_next(s, &raw, &r->failed);
	if (ret < 0)
		return ret;
	if (!ret) {
		r->progress[r->turn].ended = true;
		next_turn(r);
		return 0;
	}
	if (!identify(r, &raw, &w)) {
		damaged_record(r, s, &raw);
		took_turn(r, raw.size, 0);
		return 0;
	}
	r->info.unknown_ids += w.unknown_id;
	time = time_of(r, &raw, &w);
	if (sort_in(r, &raw, &w, time) < 0)
		return reader_no_memory(r, &r->failed);
	if (raw.type == DA_REC_FINISHED_ROUND)
		round_end(r);
	took_turn(r, raw.size, time);
	return 0;
}

/* ---- many samples at once ---- */

static uint32_t quick_event(struct da_reader *r, const uint8_t *p)
{
	uint64_t id;
	struct id_cache *c;

	if (r->events.quick_id == NO_OFFSET)
		return 0; /* the only one */
	memcpy(&id, p + r->events.quick_id, sizeof(id));
	c = &r->ids[id & (IDS_CACHED - 1)];
	if (c->id != id || c->event == NO_EVENT)
		*c = (struct id_cache){id, events_by_id(&r->events, id)};
	return c->event;
}

/* Takes the samples that come next as long as nothing about them is odd: what read_one() does, for the usual
 * records. */
static int read_samples(struct da_reader *r)
{
	const struct events *e = &r->events;
	struct sorter *so = r->sorter;
	struct stream *s = &r->streams[0];
	const struct window *w = &s->win;
	size_t at, end;

	if (r->swap || r->nr_streams > 1 || e->quick_time == NO_OFFSET || w->block == NO_BLOCK ||
	    s->in_zip || s->pos < w->off || s->pos - w->off > w->len || s->pos >= s->data_end)
		return 0;
	at = (size_t)(s->pos - w->off);
	end = s->data_end - w->off < w->len ? (size_t)(s->data_end - w->off) : w->len;
	while (end - at >= REC_HEADER && !sorter_due(so)) {
		const uint8_t *p = w->buf + at;
		uint32_t type, event;
		uint16_t size;
		uint64_t time;

		memcpy(&type, p, sizeof(type));
		memcpy(&size, p + 6, sizeof(size));
		if (type != DA_REC_SAMPLE || size < e->quick_min || size > end - at)
			break;
		memcpy(&time, p + e->quick_time, sizeof(time));
		event = quick_event(r, p);
		if (!time || time == UINT64_MAX || event == NO_EVENT)
			break;
		if (entries_room(&so->e) < 0)
			return reader_no_memory(r, &r->failed);
		sorter_add(so, time, place_at(w->block, at), WHO_SAMPLE | event, size);
		at += size;
	}
	s->pos = w->off + at;
	return 0;
}

/* ---- batches ---- */

int reader_fill(struct da_reader *r, struct da_batch *b)
{
	for (;;) {
		while (!r->ended && !sorter_due(r->sorter)) {
			if (read_samples(r) < 0 || (!sorter_due(r->sorter) && read_one(r) < 0))
				return -1;
		}
		if (sorter_cut(r->sorter, b, r->ended) < 0)
			return reader_no_memory(r, &r->failed);
		r->info.late_records = r->sorter->late;
		if (b->first.nr || b->e.nr)
			return 1;
		if (r->ended)
			return 0;
	}
}

int da_reader_batch(struct da_reader *r, struct da_batch **out, struct da_error *err)
{
	struct da_batch *b = NULL;
	int ret = -1;

	for (size_t i = 0; i < DA_BATCHES && !b; i++)
		b = r->batches[i].taken ? NULL : &r->batches[i];
	if (!b || r->no_container)
		return da_fail(err, DA_EBUG, 0, "no further batch of '%s' can be taken", r->path);
	if (!r->failed.code)
		ret = reader_fill(r, b);
	if (ret < 0)
		return da_fail(err, r->failed.code, 0, "%s", r->failed.msg);
	b->taken = ret > 0;
	*out = ret > 0 ? b : NULL;
	return ret;
}

void da_reader_return(struct da_reader *r, struct da_batch *b)
{
	if (!b)
		return;
	sorter_return(r->sorter, b);
	b->taken = false;
}

size_t da_reader_lent(const struct da_reader *r)
{
	size_t blocks = 0;

	for (size_t i = 0; i < BLOCKS_MAX; i++)
		blocks += r->blocks.b[i].lent != 0;
	return blocks * BLOCK_BYTES;
}

void da_reader_loose(struct da_reader *r, uint64_t span_ns, uint64_t align_ns)
{
	r->sorter->loose = true;
	r->sorter->align = align_ns;
	for (size_t i = 0; i < DA_BATCHES; i++)
		r->batches[i].span = span_ns;
}

bool da_batch_next(const struct da_reader *r, struct da_batch *b, struct da_rec *rec)
{
	struct held h;
	struct who w;

	if (!batch_next(b, &r->blocks, r->swap, &h))
		return false;
	h.raw.type = u32_at(h.raw.bytes, r->swap);
	h.raw.misc = u16_at(h.raw.bytes + 4, r->swap);
	w = unpack(h.who, h.raw.type);
	lend(r, &h.raw, &w, rec);
	if (h.has_payload)
		take_payload(&h.raw, h.input, rec);
	return true;
}

size_t da_batch_samples(const struct da_reader *r, struct da_batch *b, struct da_sample_at *out,
			size_t max)
{
	const struct entry *e;
	size_t n = batch_samples(b, &e, max);

	for (size_t i = 0; i < n; i++) {
		out[i] = (struct da_sample_at){.bytes = place_bytes(&r->blocks, e[i].place),
					       .time_ns = e[i].time,
					       .event = e[i].who & ~WHO_SAMPLE,
					       .place = e[i].place};
		__builtin_prefetch(out[i].bytes);
		__builtin_prefetch(out[i].bytes + 64);
	}
	return n;
}

struct da_batch_size da_batch_size(const struct da_batch *b)
{
	return (struct da_batch_size){
		.first = b->first.nr, .samples = b->nr_samples, .others = b->e.nr - b->nr_samples};
}

void da_sample_rec(const struct da_reader *r, const struct da_sample_at *s, struct da_rec *rec)
{
	struct raw raw = {.type = DA_REC_SAMPLE,
			  .misc = u16_at(s->bytes + 4, r->swap),
			  .size = place_size(&r->blocks, s->place, r->swap),
			  .bytes = s->bytes,
			  .offset = place_offset(&r->blocks, s->place)};
	struct who w = {.kind = KIND_SAMPLE, .event = s->event, .layout = s->event};

	lend(r, &raw, &w, rec);
}

/* ---- da_reader_next() ---- */

/* Fills *rec with the next record, but for its payload. */
static int next_record(struct da_reader *r, struct da_rec *rec, struct da_error *err)
{
	int ret;

	while (!r->batch || !da_batch_next(r, r->batch, rec)) {
		da_reader_return(r, r->batch);
		ret = da_reader_batch(r, &r->batch, err);
		if (ret <= 0)
			return ret;
	}
	if (rec->payload_at && !r->leave_payloads)
		pieces_begin(&r->pieces, &r->inputs[rec->payload_input], rec);
	return 1;
}

int da_reader_next(struct da_reader *r, struct da_rec *rec, struct da_error *err)
{
	int ret = 1;

	if (r->no_container)
		return raw_next(r, rec);
	if (r->pieces.active)
		*rec = r->piece_rec;
	else
		ret = next_record(r, rec, err);
	if (ret <= 0 || !r->pieces.active)
		return ret;
	ret = pieces_next(&r->pieces, rec, err);
	r->piece_rec = *rec;
	return ret < 0 ? ret : 1;
}

/* ---- da_reader_scan() ---- */

struct scan {
	uint32_t type;
	int (*fn)(void *ctx, const struct da_rec *rec);
	void *ctx;
	struct pieces pieces;
};

static int scan_record(const struct da_reader *r, struct scan *sc, const struct stream *s,
		       const struct raw *raw, struct da_error *err)
{
	struct da_rec rec;
	struct who w;
	int ret;

	if (sc->type && raw->type != sc->type)
		return 0;
	if (!identify(r, raw, &w))
		return 0;
	lend(r, raw, &w, &rec);
	if (!has_payload(raw->type))
		return sc->fn(sc->ctx, &rec);
	take_payload(raw, (uint32_t)(s->in - r->inputs), &rec);
	pieces_begin(&sc->pieces, s->in, &rec);
	do {
		ret = pieces_next(&sc->pieces, &rec, err);
		if (!ret)
			ret = sc->fn(sc->ctx, &rec);
	} while (!ret && sc->pieces.active);
	return ret;
}

int da_reader_scan(struct da_reader *r, uint32_t type,
		   int (*fn)(void *ctx, const struct da_rec *rec), void *ctx, struct da_error *err)
{
	struct scan sc = {.type = type, .fn = fn, .ctx = ctx};
	struct da_error local = {0};
	int ret = 0;

	for (size_t i = 0; i < r->nr_streams && !ret; i++) {
		const struct stream *first = &r->streams[i];
		struct stream s;
		struct raw raw;

		stream_init(&s, r, first->in, first->start, first->end, first->win.want, NULL);
		s.data_end = first->data_end;
		s.quiet = true;
		/* What perf compresses came from the kernel. */
		s.skim = type >= DA_REC_HEADER_ATTR;
		while ((ret = stream_next(&s, &raw, &local)) > 0) {
			ret = scan_record(r, &sc, &s, &raw, &local);
			if (ret)
				break;
		}
		stream_release(&s);
	}
	free(sc.pieces.buf);
	if (local.code)
		return da_fail(err, local.code, 0, "%s", local.msg);
	return ret;
}
