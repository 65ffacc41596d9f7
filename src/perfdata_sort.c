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
 * given at once and counted. Records stay in the blocks into which the file was read; those that are in none
 * (unfolded, or of one of many files) are copied into blocks of their own, and so are those that would keep
 * too many blocks from being used again. Per record there is an entry of 16 bytes and no allocation; entries
 * are merged run by run, and nothing is done for those that are in order already.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata_priv.h"

#define ENTRIES_MAX (256u << 10) /* records */
#define BATCH_BYTES (512u << 10) /* a sort of less is not worth its cost */
#define RUN_MIN     16           /* shorter runs are made that long by insertion */
#define CAP_FIRST   1024u
#define KEPT_MIN    (BLOCKS_FULL / 2) /* blocks in use; with fewer the window is far from full */
#define IN_PAYLOADS WHO_MAX           /* who: an index of payloads, not of the caller */
#define NO_PAYLOAD  UINT32_MAX

/* Where a record is: its block in the upper 8 bits, its place in the block in the lower 24. */
#define PLACE_BITS 24

struct entry {
	uint64_t time;
	uint32_t place;
	uint32_t who;
};

struct payload {
	uint64_t at, total, avail;
	uint32_t input, who;
	uint32_t next; /* free one */
};

struct sorter {
	struct blocks *blocks;
	bool swap;
	int copy_block; /* copies go to it from copy_at on; NO_BLOCK: to a new one */
	uint32_t copy_at;
	struct entry *e, *tmp; /* nr entries in e; both have room for cap */
	uint32_t *runs;        /* first entry of each run, while merging */
	size_t nr, cap;
	struct payload *payloads;
	uint32_t nr_payloads, cap_payloads, free_payload;
	size_t sorted;      /* e[0, sorted) stayed behind the flush before */
	size_t head, ready; /* e[head, ready) can be taken */
	size_t fresh;       /* bytes put since the flush before */
	size_t waiting;     /* bytes of all records in e */
	bool in_order;      /* e[0, nr) is in order as it is */
	bool limit_new;     /* the limit has risen since the flush before */
	uint64_t limit;     /* records up to it may go */
	uint64_t given;     /* latest time that went */
	uint64_t max, late;
};

struct sorter *sorter_new(struct blocks *blocks, bool swap)
{
	struct sorter *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->blocks = blocks;
	s->swap = swap;
	s->copy_block = NO_BLOCK;
	s->free_payload = NO_PAYLOAD;
	s->in_order = true;
	return s;
}

void sorter_free(struct sorter *s)
{
	if (!s)
		return;
	free(s->e);
	free(s->tmp);
	free(s->runs);
	free(s->payloads);
	free(s);
}

/* ---- room ---- */

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

/* ---- places ---- */

static uint32_t place_at(int block, size_t at)
{
	return (uint32_t)block << PLACE_BITS | (uint32_t)at;
}

static unsigned block_of(uint32_t place)
{
	return place >> PLACE_BITS;
}

static uint32_t at_of(uint32_t place)
{
	return place & ((1u << PLACE_BITS) - 1);
}

static const uint8_t *bytes_of(const struct sorter *s, uint32_t place)
{
	return s->blocks->b[block_of(place)].p + at_of(place);
}

static uint64_t offset_of(const struct sorter *s, uint32_t place)
{
	const struct block *b = &s->blocks->b[block_of(place)];
	uint64_t offset;

	if (!b->copies)
		return b->off + at_of(place);
	memcpy(&offset, b->p + at_of(place) - sizeof(offset), sizeof(offset));
	return offset;
}

/* Copies a record behind its file offset; false: out of memory. */
static bool copy(struct sorter *s, const uint8_t *bytes, uint32_t size, uint64_t offset,
		 uint32_t *place)
{
	uint32_t need = (uint32_t)sizeof(offset) + ((size + 7) & ~7u);
	uint8_t *p;

	if (s->copy_block != NO_BLOCK && need > BLOCK_BYTES - s->copy_at) {
		blocks_unpin(s->blocks, s->copy_block);
		s->copy_block = NO_BLOCK;
	}
	if (s->copy_block == NO_BLOCK) {
		s->copy_block = blocks_take(s->blocks);
		if (s->copy_block == NO_BLOCK)
			return false;
		s->blocks->b[s->copy_block].copies = true;
		s->copy_at = 0;
	}
	p = s->blocks->b[s->copy_block].p + s->copy_at;
	memcpy(p, &offset, sizeof(offset));
	memcpy(p + sizeof(offset), bytes, size);
	*place = place_at(s->copy_block, s->copy_at + sizeof(offset));
	s->copy_at += need;
	return true;
}
static uint32_t size_of(const struct sorter *s, uint32_t place)
{
	uint16_t size;

	memcpy(&size, bytes_of(s, place) + 6, sizeof(size));
	return s->swap ? __builtin_bswap16(size) : size;
}

/* ---- payloads ---- */

static int keep_payload(struct sorter *s, const struct held *h, uint32_t *who)
{
	uint32_t i = s->free_payload;
	struct payload *p;

	if (i != NO_PAYLOAD) {
		s->free_payload = s->payloads[i].next;
	} else {
		if (s->nr_payloads == s->cap_payloads) {
			uint32_t cap = s->cap_payloads ? 2 * s->cap_payloads : 16;

			p = reallocarray(s->payloads, cap, sizeof(*p));
			if (!p)
				return -DA_ENOMEM;
			s->payloads = p;
			s->cap_payloads = cap;
		}
		i = s->nr_payloads++;
	}
	s->payloads[i] = (struct payload){.at = h->raw.payload_at,
					  .total = h->raw.payload_total,
					  .avail = h->raw.payload_avail,
					  .input = h->input,
					  .who = h->who};
	*who = IN_PAYLOADS | i;
	return 0;
}

static void drop_payload(struct sorter *s, uint32_t who)
{
	uint32_t i = who & ~IN_PAYLOADS;

	s->payloads[i].next = s->free_payload;
	s->free_payload = i;
}

/* ---- in and out ---- */

/* Records left over that keep many blocks, a quarter of which is not theirs, are copied together: without
 * that the window would be full of what has been given. */
static int compact(struct sorter *s)
{
	if (s->blocks->in_use < KEPT_MIN ||
	    s->blocks->in_use * (size_t)BLOCK_BYTES / 4 * 3 < s->waiting)
		return 0;
	/* Not into a block that is emptied itself. */
	if (s->copy_block != NO_BLOCK)
		blocks_unpin(s->blocks, s->copy_block);
	s->copy_block = NO_BLOCK;
	for (size_t i = 0; i < s->nr; i++) {
		uint32_t from = s->e[i].place, to;

		if (!copy(s, bytes_of(s, from), size_of(s, from), offset_of(s, from), &to))
			return -DA_ENOMEM;
		s->blocks->b[block_of(to)].waiting++;
		blocks_done(s->blocks, block_of(from));
		s->e[i].place = to;
	}
	return 0;
}

/* What was given is dropped; what stays behind moves to the front. */
static int reclaim(struct sorter *s)
{
	for (size_t i = 0; i < s->ready; i++) {
		const struct entry *e = &s->e[i];

		blocks_done(s->blocks, block_of(e->place));
		if (e->who & IN_PAYLOADS)
			drop_payload(s, e->who);
	}
	s->nr -= s->ready;
	memmove(s->e, s->e + s->ready, s->nr * sizeof(*s->e));
	s->sorted = s->nr;
	s->head = s->ready = 0;
	s->fresh = 0;
	if (s->copy_block != NO_BLOCK && !s->blocks->b[s->copy_block].waiting)
		s->copy_at = 0;
	return compact(s);
}

int sorter_put(struct sorter *s, const struct held *h)
{
	struct entry e = {.time = h->time, .who = h->who};

	if (s->ready && reclaim(s) < 0)
		return -DA_ENOMEM;
	if (entry_room(s) < 0)
		return -DA_ENOMEM;
	if (h->raw.block != NO_BLOCK)
		e.place = place_at(h->raw.block,
				   (size_t)(h->raw.bytes - s->blocks->b[h->raw.block].p));
	else if (!copy(s, h->raw.bytes, h->raw.size, h->raw.offset, &e.place))
		return -DA_ENOMEM;
	if (h->has_payload && keep_payload(s, h, &e.who) < 0)
		return -DA_ENOMEM;
	s->blocks->b[block_of(e.place)].waiting++;
	if (s->nr && h->time < s->e[s->nr - 1].time)
		s->in_order = false;
	if (h->time < s->given)
		s->late++;
	if (h->time > s->max)
		s->max = h->time;
	s->e[s->nr++] = e;
	s->fresh += h->raw.size;
	s->waiting += h->raw.size;
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
	bool full = s->blocks->in_use >= BLOCKS_FULL || s->nr >= ENTRIES_MAX;
	size_t go;

	if (s->ready && s->head == s->ready && reclaim(s) < 0)
		return -DA_ENOMEM;
	if (!s->nr || s->ready)
		return 0;
	if (!end && !full && (!s->limit_new || s->fresh < BATCH_BYTES))
		return 0;
	sort(s);
	go = end ? s->nr : below(s, s->limit);
	if (full && go < (s->nr + 1) / 2)
		go = (s->nr + 1) / 2;
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

	if (s->head == s->ready)
		return false;
	e = &s->e[s->head++];
	out->raw.bytes = bytes_of(s, e->place);
	out->raw.offset = offset_of(s, e->place);
	out->raw.size = size_of(s, e->place);
	s->waiting -= out->raw.size;
	out->time = e->time;
	out->who = e->who;
	out->has_payload = e->who & IN_PAYLOADS;
	if (out->has_payload) {
		const struct payload *p = &s->payloads[e->who & ~IN_PAYLOADS];

		out->who = p->who;
		out->input = p->input;
		out->raw.payload_at = p->at;
		out->raw.payload_total = p->total;
		out->raw.payload_avail = p->avail;
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
