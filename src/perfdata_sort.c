/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The window in which records are brought into time order.
 *
 * A recorder drains its CPUs one after the other, so records lie in runs, each (nearly) in order, and
 * after every pass over the CPUs it may write FINISHED_ROUND:
 *
 *   file:    | cpu0: 1 4 6 | cpu1: 2 3 7 | ROUND | cpu0: 8 9 | cpu1: 5 10 | ROUND | ...
 *                             max time 7 ----^                  max 10 ------^
 *
 * When a CPU was drained in this round, it had no record older than the previous round's maximum left
 * over, except those that are in this round: at a ROUND all up to the maximum of the round before may go.
 *
 * The window is bounded. When it is full the older half goes, and a record that then comes too late is
 * given at once and counted. Records are copied into one block, so that they outlive the read buffer;
 * what stays behind a flush is moved to a second one. Per record there is an entry of 16 bytes and no
 * allocation; entries are merged run by run, and nothing is done for those that are in order already.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata_priv.h"

#define WINDOW_MAX  (16u << 20)  /* bytes of records */
#define ENTRIES_MAX (256u << 10) /* records */
#define BATCH_BYTES (512u << 10) /* a sort of less is not worth its cost */
#define RUN_MIN     16           /* shorter runs are made that long by insertion */
#define BLOCK_FIRST (64u << 10)
#define CAP_FIRST   1024u

struct entry {
	uint64_t time;
	uint32_t at; /* of struct slot in the block */
};

/* Before the bytes of each record in a block; both are aligned to 8. */
struct slot {
	uint64_t offset;
	uint32_t size, event, layout;
	bool has_payload;
};

/* After the bytes, only for records with a payload. */
struct slot_payload {
	uint64_t at, total, avail;
	uint32_t input;
};

struct block {
	uint8_t *p;
	size_t len, cap;
};

struct sorter {
	struct block cur, other;
	struct entry *e, *tmp; /* nr entries in e; both have room for cap */
	uint32_t *runs;        /* first entry of each run, while merging */
	size_t nr, cap;
	size_t sorted;      /* e[0, sorted) stayed behind the flush before */
	size_t head, ready; /* e[head, ready) can be taken */
	size_t fresh;       /* bytes put since the flush before */
	bool in_order;      /* e[0, nr) is in order as it is */
	bool limit_new;     /* the limit has risen since the flush before */
	uint64_t limit;     /* records up to it may go */
	uint64_t given;     /* latest time that went */
	uint64_t max, late;
};

struct sorter *sorter_new(void)
{
	struct sorter *s = calloc(1, sizeof(*s));

	if (s)
		s->in_order = true;
	return s;
}

void sorter_free(struct sorter *s)
{
	if (!s)
		return;
	free(s->cur.p);
	free(s->other.p);
	free(s->e);
	free(s->tmp);
	free(s->runs);
	free(s);
}

/* ---- room ---- */

static int block_room(struct block *b, size_t n)
{
	size_t cap = b->cap ? b->cap : BLOCK_FIRST;
	uint8_t *p;

	if (n <= b->cap - b->len)
		return 0;
	while (n > cap - b->len)
		cap *= 2;
	p = realloc(b->p, cap);
	if (!p)
		return -DA_ENOMEM;
	b->p = p;
	b->cap = cap;
	return 0;
}

static int entry_room(struct sorter *s)
{
	size_t cap = s->cap ? 2 * s->cap : CAP_FIRST;
	struct entry *e;
	uint32_t *runs;

	if (s->nr < s->cap)
		return 0;
	e = reallocarray(s->e, cap, sizeof(*e));
	if (!e)
		return -DA_ENOMEM;
	s->e = e;
	e = reallocarray(s->tmp, cap, sizeof(*e));
	if (!e)
		return -DA_ENOMEM;
	s->tmp = e;
	runs = reallocarray(s->runs, cap / RUN_MIN + 3, sizeof(*runs));
	if (!runs)
		return -DA_ENOMEM;
	s->runs = runs;
	s->cap = cap;
	return 0;
}

static size_t aligned(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static size_t slot_bytes(const struct slot *sl)
{
	return sizeof(*sl) + aligned(sl->size) +
	       (sl->has_payload ? sizeof(struct slot_payload) : 0);
}

/* What was taken is dropped; what stays behind moves to a block of its own. */
static int reclaim(struct sorter *s)
{
	size_t left = s->nr - s->ready;
	struct block b;

	s->other.len = 0;
	for (size_t i = 0; i < left; i++) {
		struct entry *from = &s->e[s->ready + i];
		const uint8_t *p = s->cur.p + from->at;
		struct slot sl;
		size_t n;

		memcpy(&sl, p, sizeof(sl));
		n = slot_bytes(&sl);
		if (block_room(&s->other, n) < 0)
			return -DA_ENOMEM;
		memcpy(s->other.p + s->other.len, p, n);
		s->e[i] = (struct entry){.time = from->time, .at = (uint32_t)s->other.len};
		s->other.len += n;
	}
	b = s->cur;
	s->cur = s->other;
	s->other = b;
	s->nr = s->sorted = left;
	s->head = s->ready = 0;
	s->fresh = 0;
	return 0;
}

int sorter_put(struct sorter *s, const struct held *h)
{
	struct slot sl = {.offset = h->raw.offset,
			  .size = h->raw.size,
			  .event = h->event,
			  .layout = h->layout,
			  .has_payload = h->has_payload};
	size_t n = slot_bytes(&sl);
	uint8_t *p;

	if (s->ready && reclaim(s) < 0)
		return -DA_ENOMEM;
	if (block_room(&s->cur, n) < 0 || entry_room(s) < 0)
		return -DA_ENOMEM;
	if (s->nr && h->time < s->e[s->nr - 1].time)
		s->in_order = false;
	if (h->time < s->given)
		s->late++;
	if (h->time > s->max)
		s->max = h->time;
	s->e[s->nr++] = (struct entry){.time = h->time, .at = (uint32_t)s->cur.len};
	p = s->cur.p + s->cur.len;
	memcpy(p, &sl, sizeof(sl));
	memcpy(p + sizeof(sl), h->raw.bytes, h->raw.size);
	if (h->has_payload) {
		struct slot_payload sp = {.at = h->raw.payload_at,
					  .total = h->raw.payload_total,
					  .avail = h->raw.payload_avail,
					  .input = h->input};

		memcpy(p + sizeof(sl) + aligned(h->raw.size), &sp, sizeof(sp));
	}
	s->cur.len += n;
	s->fresh += n;
	return 0;
}

/* ---- order ---- */

/* Insertion sort of e[from, to), whose first `ordered` entries are in order. */
static void insert(struct entry *e, size_t from, size_t ordered, size_t to)
{
	for (size_t i = from + ordered; i < to; i++) {
		struct entry x = e[i];
		size_t k = i;

		for (; k > from && e[k - 1].time > x.time; k--)
			e[k] = e[k - 1];
		e[k] = x;
	}
}

/* Cuts e[0, nr) into runs that are in order; returns their number, s->runs[number] is nr. */
static size_t find_runs(struct sorter *s)
{
	size_t at = 0, nr = 0;

	while (at < s->nr) {
		size_t end = at < s->sorted ? s->sorted : at + 1;

		while (end < s->nr && s->e[end].time >= s->e[end - 1].time)
			end++;
		if (end - at < RUN_MIN && end < s->nr) {
			size_t to = s->nr - at < RUN_MIN ? s->nr : at + RUN_MIN;

			insert(s->e, at, end - at, to);
			end = to;
		}
		s->runs[nr++] = (uint32_t)at;
		at = end;
	}
	s->runs[nr] = (uint32_t)s->nr;
	return nr;
}

/* Stable: of equal times the left run's go first. */
static void merge(const struct entry *a, const struct entry *a_end, const struct entry *b,
		  const struct entry *b_end, struct entry *to)
{
	while (a < a_end && b < b_end)
		*to++ = b->time < a->time ? *b++ : *a++;
	while (a < a_end)
		*to++ = *a++;
	while (b < b_end)
		*to++ = *b++;
}

static void sort(struct sorter *s)
{
	size_t nr;

	if (s->in_order)
		return;
	nr = find_runs(s);
	while (nr > 1) {
		struct entry *e = s->e;
		size_t merged = 0;

		for (size_t i = 0; i < nr; i += 2) {
			size_t a = s->runs[i], b = s->runs[i + 1],
			       end = i + 2 <= nr ? s->runs[i + 2] : b;

			merge(e + a, e + b, e + b, e + end, s->tmp + a);
			s->runs[merged++] = (uint32_t)a;
		}
		s->runs[merged] = (uint32_t)s->nr;
		nr = merged;
		s->e = s->tmp;
		s->tmp = e;
	}
	s->in_order = true;
}

/* Entries with a time up to the limit; e is in order. */
static size_t below(const struct sorter *s, uint64_t limit)
{
	size_t lo = 0, hi = s->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s->e[mid].time <= limit)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void sorter_limit(struct sorter *s, uint64_t limit)
{
	if (limit <= s->limit)
		return;
	s->limit = limit;
	s->limit_new = true;
}

int sorter_work(struct sorter *s, bool end)
{
	bool full = s->cur.len >= WINDOW_MAX || s->nr >= ENTRIES_MAX;
	size_t go;

	if (s->ready && s->head == s->ready && reclaim(s) < 0)
		return -DA_ENOMEM;
	if (!s->nr || s->ready)
		return 0;
	if (!end && !full && (!s->limit_new || s->fresh < BATCH_BYTES))
		return 0;
	sort(s);
	go = end ? s->nr : below(s, s->limit);
	if (full && go < s->nr / 2)
		go = s->nr / 2;
	s->limit_new = false;
	s->fresh = 0;
	s->sorted = s->nr;
	if (!go)
		return 0;
	s->head = 0;
	s->ready = go;
	if (s->e[go - 1].time > s->given)
		s->given = s->e[go - 1].time;
	return 0;
}

bool sorter_get(struct sorter *s, struct held *out)
{
	const struct entry *e;
	struct slot_payload sp;
	struct slot sl;
	const uint8_t *p;

	if (s->head == s->ready)
		return false;
	e = &s->e[s->head++];
	p = s->cur.p + e->at;
	memcpy(&sl, p, sizeof(sl));
	out->raw.offset = sl.offset;
	out->raw.size = sl.size;
	out->raw.bytes = p + sizeof(sl);
	out->time = e->time;
	out->event = sl.event;
	out->layout = sl.layout;
	out->has_payload = sl.has_payload;
	if (sl.has_payload) {
		memcpy(&sp, p + sizeof(sl) + aligned(sl.size), sizeof(sp));
		out->raw.payload_at = sp.at;
		out->raw.payload_total = sp.total;
		out->raw.payload_avail = sp.avail;
		out->input = sp.input;
	}
	return true;
}

uint64_t sorter_late(const struct sorter *s)
{
	return s->late;
}

uint64_t sorter_max_time(const struct sorter *s)
{
	return s->max;
}
