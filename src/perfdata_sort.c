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
 *
 * What goes leaves as a batch (perfdata_batch.c). Which records it has depends on what was put alone, not on
 * when earlier batches were given back: a reader's results must not depend on who is faster. Where the order
 * of samples does not matter the runs leave as they are, and nothing is merged.
 */
#include <stdlib.h>
#include <string.h>

#include "perfdata_priv.h"

#define RUN_MIN   16 /* shorter runs are made that long by insertion */
#define CAP_FIRST 1024u
#define KEPT_MIN  (BLOCKS_FULL / 2) /* blocks in use; with fewer the window is far from full */
/* With so many records of other kinds among samples, keeping runs apart costs more than merging them. */
#define OTHER_SHARE 16

struct sorter *sorter_new(struct blocks *blocks, bool swap)
{
	struct sorter *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->blocks = blocks;
	s->swap = swap;
	s->copy_block = NO_BLOCK;
	return s;
}

void sorter_free(struct sorter *s)
{
	if (!s)
		return;
	free(s->first.e);
	free(s->e.e);
	free(s->tmp.e);
	free(s->merge_runs);
	free(s->payloads);
	free(s);
}

/* ---- room ---- */

static int entries_reserve(struct entries *v, size_t nr)
{
	size_t cap = v->cap ? v->cap : CAP_FIRST;
	struct entry *e;

	if (nr <= v->cap)
		return 0;
	while (cap < nr)
		cap *= 2;
	e = reallocarray(v->e, cap, sizeof(*e));
	if (!e)
		return -DA_ENOMEM;
	v->e = e;
	v->cap = cap;
	return 0;
}

int entries_room(struct entries *v)
{
	return v->nr < v->cap ? 0 : entries_reserve(v, v->nr + 1);
}

static int merge_room(struct sorter *s)
{
	size_t cap = s->e.cap / RUN_MIN + 3;
	uint32_t *runs;

	if (entries_reserve(&s->tmp, s->e.cap) < 0)
		return -DA_ENOMEM;
	if (cap <= s->cap_merge_runs)
		return 0;
	runs = reallocarray(s->merge_runs, cap, sizeof(*runs));
	if (!runs)
		return -DA_ENOMEM;
	s->merge_runs = runs;
	s->cap_merge_runs = cap;
	return 0;
}

/* ---- places ---- */

static unsigned block_of(uint32_t place)
{
	return place >> PLACE_BITS;
}

uint64_t place_offset(const struct blocks *bs, uint32_t place)
{
	const struct block *b = &bs->b[block_of(place)];
	uint64_t offset;

	if (!b->copies)
		return b->off + (place & ((1u << PLACE_BITS) - 1));
	memcpy(&offset, place_bytes(bs, place) - sizeof(offset), sizeof(offset));
	return offset;
}

uint32_t place_size(const struct blocks *bs, uint32_t place, bool swap)
{
	uint16_t size;

	memcpy(&size, place_bytes(bs, place) + 6, sizeof(size));
	return swap ? __builtin_bswap16(size) : size;
}

/* The next copy goes to another block. */
static void end_copies(struct sorter *s)
{
	if (s->copy_block != NO_BLOCK)
		blocks_unpin(s->blocks, s->copy_block);
	s->copy_block = NO_BLOCK;
}

/* Copies a record behind its file offset; false: out of memory. */
static bool copy(struct sorter *s, const uint8_t *bytes, uint32_t size, uint64_t offset,
		 uint32_t *place)
{
	uint32_t need = (uint32_t)sizeof(offset) + ((size + 7) & ~7u);
	uint8_t *p;

	if (s->copy_block != NO_BLOCK && need > BLOCK_BYTES - s->copy_at)
		end_copies(s);
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

/* ---- in ---- */

static int keep_payload(struct sorter *s, const struct held *h, uint32_t *who)
{
	if (s->nr_payloads == s->cap_payloads) {
		size_t cap = s->cap_payloads ? 2 * s->cap_payloads : 16;
		struct payload *p = reallocarray(s->payloads, cap, sizeof(*p));

		if (!p)
			return -DA_ENOMEM;
		s->payloads = p;
		s->cap_payloads = cap;
	}
	*who = IN_PAYLOADS | (uint32_t)s->nr_payloads;
	s->payloads[s->nr_payloads++] = (struct payload){.at = h->raw.payload_at,
							 .total = h->raw.payload_total,
							 .avail = h->raw.payload_avail,
							 .input = h->input,
							 .who = h->who};
	return 0;
}

static int take_in(struct sorter *s, struct entries *v, const struct held *h, struct entry *e)
{
	*e = (struct entry){.time = h->time, .who = h->who};
	if (entries_room(v) < 0)
		return -DA_ENOMEM;
	if (h->raw.block != NO_BLOCK)
		e->place = place_at(h->raw.block,
				    (size_t)(h->raw.bytes - s->blocks->b[h->raw.block].p));
	else if (!copy(s, h->raw.bytes, h->raw.size, h->raw.offset, &e->place))
		return -DA_ENOMEM;
	return h->has_payload ? keep_payload(s, h, &e->who) : 0;
}

int sorter_put(struct sorter *s, const struct held *h)
{
	struct entry e;

	if (take_in(s, &s->e, h, &e) < 0)
		return -DA_ENOMEM;
	sorter_add(s, e.time, e.place, e.who, h->raw.size);
	return 0;
}

int sorter_put_first(struct sorter *s, const struct held *h)
{
	struct entry e;

	if (take_in(s, &s->first, h, &e) < 0)
		return -DA_ENOMEM;
	s->first.e[s->first.nr++] = e;
	s->blocks->b[block_of(e.place)].waiting++;
	s->fresh_first += h->raw.size;
	return 0;
}

void sorter_limit(struct sorter *s, uint64_t limit)
{
	if (limit <= s->limit)
		return;
	s->limit = limit;
	s->limit_new = true;
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

/* Cuts e[0, nr) into runs that are in order; returns their number, merge_runs[number] is nr. */
static size_t find_runs(struct sorter *s)
{
	struct entry *e = s->e.e;
	size_t at = 0, nr = 0, all = s->e.nr;

	while (at < all) {
		size_t end = at + 1;

		while (end < all && e[end].time >= e[end - 1].time)
			end++;
		if (end - at < RUN_MIN && end < all) {
			size_t to = all - at < RUN_MIN ? all : at + RUN_MIN;

			insert(e, at, end - at, to);
			end = to;
		}
		s->merge_runs[nr++] = (uint32_t)at;
		at = end;
	}
	s->merge_runs[nr] = (uint32_t)all;
	return nr;
}

/* Stable: of equal times the left run's go first. Which run gives the next entry cannot be foreseen, so
 * there is no branch on it. */
static void merge(const struct entry *a, const struct entry *a_end, const struct entry *b,
		  const struct entry *b_end, struct entry *to)
{
	while (a < a_end && b < b_end) {
		size_t right = b->time < a->time;
		const struct entry *from = right ? b : a;

		*to++ = *from;
		b += right;
		a += 1 - right;
	}
	while (a < a_end)
		*to++ = *a++;
	while (b < b_end)
		*to++ = *b++;
}

/* Makes one run of all. */
static int sort(struct sorter *s)
{
	size_t nr;

	if (s->nr_runs <= 1)
		return 0;
	if (merge_room(s) < 0)
		return -DA_ENOMEM;
	nr = find_runs(s);
	while (nr > 1) {
		struct entry *e = s->e.e;
		size_t merged = 0, cap = s->e.cap;

		for (size_t i = 0; i < nr; i += 2) {
			size_t a = s->merge_runs[i], b = s->merge_runs[i + 1],
			       end = i + 2 <= nr ? s->merge_runs[i + 2] : b;

			merge(e + a, e + b, e + b, e + end, s->tmp.e + a);
			s->merge_runs[merged++] = (uint32_t)a;
		}
		s->merge_runs[merged] = (uint32_t)s->e.nr;
		nr = merged;
		s->e.e = s->tmp.e;
		s->e.cap = s->tmp.cap;
		s->tmp.e = e;
		s->tmp.cap = cap;
	}
	s->run[0] = 0;
	s->nr_runs = 1;
	return 0;
}

/* Entries of e[from, to), which is in order, with a time up to the limit. */
static size_t below(const struct entry *e, size_t from, size_t to, uint64_t limit)
{
	size_t lo = from, hi = to;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (e[mid].time <= limit)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo - from;
}

/* ---- out ---- */

/* Records left over that keep many blocks, a quarter of which is not theirs, are copied together: without
 * that the window would be full of what has been given. */
static int compact(struct sorter *s)
{
	size_t bytes = 0;

	if (s->blocks->in_use < KEPT_MIN)
		return 0;
	for (size_t i = 0; i < s->e.nr; i++)
		bytes += place_size(s->blocks, s->e.e[i].place, s->swap);
	if (s->blocks->in_use * (size_t)BLOCK_BYTES / 4 * 3 < bytes)
		return 0;
	/* Not into a block that is emptied itself. */
	end_copies(s);
	for (size_t i = 0; i < s->e.nr; i++) {
		uint32_t from = s->e.e[i].place, to;

		if (!copy(s, place_bytes(s->blocks, from), place_size(s->blocks, from, s->swap),
			  place_offset(s->blocks, from), &to))
			return -DA_ENOMEM;
		s->blocks->b[block_of(to)].waiting++;
		blocks_done(s->blocks, block_of(from));
		s->e.e[i].place = to;
	}
	return 0;
}

/* The payload of an entry goes where the entry goes. */
static int move_payload(const struct sorter *s, struct entry *e, struct da_batch *b)
{
	if (!(e->who & IN_PAYLOADS))
		return 0;
	if (b->nr_payloads == b->cap_payloads) {
		size_t cap = b->cap_payloads ? 2 * b->cap_payloads : 16;
		struct payload *p = reallocarray(b->payloads, cap, sizeof(*p));

		if (!p)
			return -DA_ENOMEM;
		b->payloads = p;
		b->cap_payloads = cap;
	}
	b->payloads[b->nr_payloads] = s->payloads[e->who & ~IN_PAYLOADS];
	e->who = IN_PAYLOADS | (uint32_t)b->nr_payloads++;
	return 0;
}

/* Those of the entries that stay come to the front of the table. */
static int move_payloads(struct sorter *s, struct da_batch *b)
{
	struct payload *left = NULL;
	size_t nr = 0;

	if (!s->nr_payloads)
		return 0;
	for (size_t i = 0; i < b->first.nr; i++)
		if (move_payload(s, &b->first.e[i], b) < 0)
			return -DA_ENOMEM;
	for (size_t i = 0; i < b->e.nr; i++)
		if (move_payload(s, &b->e.e[i], b) < 0)
			return -DA_ENOMEM;
	for (size_t i = 0; i < s->e.nr; i++) {
		struct entry *e = &s->e.e[i];

		if (!(e->who & IN_PAYLOADS))
			continue;
		if (!left)
			left = reallocarray(NULL, s->nr_payloads, sizeof(*left));
		if (!left)
			return -DA_ENOMEM;
		left[nr] = s->payloads[e->who & ~IN_PAYLOADS];
		e->who = IN_PAYLOADS | (uint32_t)nr++;
	}
	if (nr)
		memcpy(s->payloads, left, nr * sizeof(*left));
	free(left);
	s->nr_payloads = nr;
	return 0;
}

/* Entries that leave the sorter. */
static void lend(struct sorter *s, const struct entries *v)
{
	for (size_t i = 0; i < v->nr; i++) {
		unsigned at = block_of(v->e[i].place);

		s->blocks->b[at].lent++;
		blocks_done(s->blocks, at);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct other *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->at < y->at ? -1 : 1;
}

/* Which of the batch's entries are no samples, as far as anybody will ask. */
static int find_others(struct sorter *s, struct da_batch *b)
{
	size_t nr = 0;

	b->nr_other = 0;
	for (size_t i = 0; i < b->e.nr && s->nr_other; i++)
		nr += !(b->e.e[i].who & WHO_SAMPLE);
	s->nr_other -= nr;
	b->nr_samples = b->e.nr - nr;
	if (!nr || b->nr_runs <= 1)
		return 0;
	if (nr > b->cap_other) {
		struct other *o = reallocarray(b->other, nr, sizeof(*o));

		if (!o)
			return -DA_ENOMEM;
		b->other = o;
		b->cap_other = nr;
	}
	for (size_t i = 0; i < b->e.nr; i++)
		if (!(b->e.e[i].who & WHO_SAMPLE))
			b->other[b->nr_other++] = (struct other){b->e.e[i].time, (uint32_t)i};
	qsort(b->other, nr, sizeof(*b->other), by_time);
	return 0;
}

/* The first `go` of all, which are one run. */
static int cut_sorted(struct sorter *s, struct da_batch *b, size_t go)
{
	size_t stay = s->e.nr - go;
	struct entries swap = s->e;

	if (!go)
		return 0;
	if (entries_reserve(&b->e, stay + 1) < 0)
		return -DA_ENOMEM;
	memcpy(b->e.e, s->e.e + go, stay * sizeof(*s->e.e));
	s->e = b->e;
	s->e.nr = stay;
	b->e = swap;
	b->e.nr = go;
	b->run[0] = 0;
	b->run[1] = (uint32_t)go;
	b->nr_runs = 1;
	s->run[0] = 0;
	s->nr_runs = stay != 0;
	return 0;
}

/* Of each run what is below the limit. */
static int cut_runs(struct sorter *s, struct da_batch *b, uint64_t limit)
{
	struct entry *e = s->e.e;
	size_t kept = 0;
	unsigned left = 0;

	if (entries_reserve(&b->e, s->e.nr) < 0)
		return -DA_ENOMEM;
	b->e.nr = 0;
	b->nr_runs = 0;
	for (unsigned i = 0; i < s->nr_runs; i++) {
		size_t from = s->run[i], to = i + 1 < s->nr_runs ? s->run[i + 1] : s->e.nr;
		size_t go = below(e, from, to, limit), stay = to - from - go;

		if (go) {
			b->run[b->nr_runs++] = (uint32_t)b->e.nr;
			memcpy(b->e.e + b->e.nr, e + from, go * sizeof(*e));
			b->e.nr += go;
		}
		if (stay) {
			memmove(e + kept, e + from + go, stay * sizeof(*e));
			s->run[left++] = (uint32_t)kept;
			kept += stay;
		}
	}
	b->run[b->nr_runs] = (uint32_t)b->e.nr;
	s->e.nr = kept;
	s->nr_runs = left;
	return 0;
}

/* May the runs be given as they are? */
static bool keep_runs(const struct sorter *s)
{
	return s->loose && s->nr_runs > 1 && s->nr_runs <= RUNS_MAX &&
	       s->nr_other * OTHER_SHARE * s->nr_runs <= s->e.nr;
}

static uint64_t latest(const struct da_batch *b)
{
	uint64_t max = 0;

	for (unsigned i = 0; i < b->nr_runs; i++) {
		uint64_t time = b->e.e[b->run[i + 1] - 1].time;

		max = time > max ? time : max;
	}
	return max;
}

/* Chooses what goes. */
static int cut(struct sorter *s, struct da_batch *b, bool end)
{
	bool full = s->blocks->in_use >= BLOCKS_FULL || s->e.nr >= ENTRIES_MAX;
	uint64_t limit = end ? UINT64_MAX : s->limit;
	size_t go;

	if (s->loose && !full && !end && s->align)
		limit = limit / s->align * s->align - (limit >= s->align);
	if (!full && keep_runs(s))
		return cut_runs(s, b, limit);
	if (sort(s) < 0)
		return -DA_ENOMEM;
	go = below(s->e.e, 0, s->e.nr, limit);
	if (full && go < (s->e.nr + 1) / 2)
		go = (s->e.nr + 1) / 2;
	return cut_sorted(s, b, go);
}

int sorter_cut(struct sorter *s, struct da_batch *b, bool end)
{
	struct entries first = b->first;
	uint64_t max;

	b->first = s->first;
	s->first = first;
	s->first.nr = 0;
	s->fresh_first = 0;
	b->e.nr = 0;
	b->nr_runs = 0;
	b->nr_payloads = 0;
	if (s->e.nr && cut(s, b, end) < 0)
		return -DA_ENOMEM;
	s->limit_new = false;
	s->fresh = 0;
	s->last = s->e.nr ? s->e.e[s->e.nr - 1].time : 0;
	max = latest(b);
	s->given = max > s->given ? max : s->given;
	if (find_others(s, b) < 0 || move_payloads(s, b) < 0)
		return -DA_ENOMEM;
	lend(s, &b->first);
	lend(s, &b->e);
	/* However soon the batch comes back: what is free must not depend on it. */
	if (s->copy_block != NO_BLOCK && !s->blocks->b[s->copy_block].waiting)
		end_copies(s);
	batch_begin(b);
	return compact(s);
}

void sorter_return(struct sorter *s, struct da_batch *b)
{
	for (size_t i = 0; i < b->first.nr; i++)
		s->blocks->b[block_of(b->first.e[i].place)].lent--;
	for (size_t i = 0; i < b->e.nr; i++)
		s->blocks->b[block_of(b->e.e[i].place)].lent--;
	b->first.nr = b->e.nr = 0;
	b->nr_runs = 0;
	batch_begin(b);
}
