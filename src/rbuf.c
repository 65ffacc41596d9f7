/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Report buffers (da_rbuf.h): rings of slots, each with a sequence number of its own.
 *
 * A writer takes a position of the ring's head, claims the slot of that position by compare-and-swap of
 * its sequence, copies, and publishes. A reader copies the slot of its position and takes the copy only if
 * the sequence stood still. Everything that two threads may touch is atomic, payload included: there is
 * no race to reason away. Nothing here knows what a record is.
 */
#include "da_rbuf.h"

#include <stdlib.h>
#include <string.h>

#define LINE       64 /* what different threads write is kept on lines of their own */
#define MAX_SLOTS  ((size_t)1 << 24)
#define MAX_BYTES  65536u
#define MAX_RINGS  65536u
#define NO_BOUND   UINT64_MAX
#define BOUNDS     4
#define HEAD_WORDS 2

/* A slot: sequence, gave up, payload. The sequence of the slot of position p is 2p + 1 while p is written
 * and 2p + 2 when it holds p; it only grows. `gave up` is p + 1 of the newest position that found the slot
 * held by a write a lap or more behind: nothing will come for it. */
struct slot {
	_Atomic uint64_t seq, gave_up;
	_Atomic uint64_t word[];
};

struct ring {
	_Alignas(LINE) _Atomic uint64_t head;  /* next position to write */
	_Alignas(LINE) _Atomic uint64_t limit; /* keep=oldest: no reader is behind it; may lag */
	unsigned char *slots;
	_Atomic uint64_t *bound; /* keep=oldest: by reader, its position or NO_BOUND */
};

struct da_rbuf {
	size_t mask, words, stride;
	size_t nr_rings, nr_bounds;
	enum da_keep keep;
	atomic_bool *bound_used;
	struct ring *ring;
};

struct position {
	_Alignas(LINE) _Atomic uint64_t pos, read, missed;
	bool lapped; /* since the last record that was read */
};

struct da_rbuf_reader {
	struct da_rbuf *b;
	size_t bound; /* keep=oldest: which one is ours */
	struct position *at;
};

static void *lines(size_t nr, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(nr, size, &bytes) || bytes > SIZE_MAX - LINE)
		return NULL;
	bytes = (bytes + LINE - 1) / LINE * LINE;
	p = aligned_alloc(LINE, bytes);
	if (p)
		memset(p, 0, bytes);
	return p;
}

static struct slot *slot_of(const struct da_rbuf *b, const struct ring *r, uint64_t pos)
{
	return (struct slot *)(void *)(r->slots + ((size_t)pos & b->mask) * b->stride);
}

static bool new_rings(struct da_rbuf *b)
{
	b->ring = lines(b->nr_rings, sizeof(*b->ring));
	b->bound_used = calloc(b->nr_bounds + 1, sizeof(*b->bound_used));
	for (size_t i = 0; b->ring && i < b->nr_rings; i++) {
		struct ring *r = &b->ring[i];

		r->slots = calloc(b->mask + 1, b->stride); /* not touched before it is used */
		r->bound = lines(b->nr_bounds + 1, sizeof(*r->bound));
		if (!r->slots || !r->bound)
			return false;
		for (size_t k = 0; k < b->nr_bounds; k++)
			atomic_init(&r->bound[k], NO_BOUND);
	}
	return b->ring && b->bound_used;
}

struct da_rbuf *da_rbuf_new(const struct da_rbuf_opts *o)
{
	struct da_rbuf *b;
	size_t n = 2;

	if (!o->slot_bytes || o->slot_bytes > MAX_BYTES || o->rings > MAX_RINGS)
		return NULL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	while (n < o->slots && n < MAX_SLOTS)
		n <<= 1;
	b->mask = n - 1;
	b->words = (o->slot_bytes + 7) / 8;
	b->stride = (HEAD_WORDS + b->words) * 8;
	b->nr_rings = o->rings ? o->rings : 1;
	b->keep = o->keep;
	if (o->keep == DA_KEEP_OLDEST)
		b->nr_bounds = o->bounds ? o->bounds : BOUNDS;
	if (new_rings(b))
		return b;
	da_rbuf_free(b);
	return NULL;
}

void da_rbuf_free(struct da_rbuf *b)
{
	if (!b)
		return;
	for (size_t i = 0; b->ring && i < b->nr_rings; i++) {
		free(b->ring[i].slots);
		free(b->ring[i].bound);
	}
	free(b->ring);
	free(b->bound_used);
	free(b);
}

size_t da_rbuf_slots(const struct da_rbuf *b)
{
	return b->mask + 1;
}

size_t da_rbuf_slot_bytes(const struct da_rbuf *b)
{
	return b->words * 8;
}

size_t da_rbuf_rings(const struct da_rbuf *b)
{
	return b->nr_rings;
}

/* ---- writing ---- */

void da_rbuf_writer_init(struct da_rbuf_writer *w, struct da_rbuf *b, size_t ring)
{
	memset(w, 0, sizeof(*w));
	w->b = b;
	w->ring = ring;
}

/* Counters have one writer: no read-modify-write is needed. */
static void add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

static uint64_t slowest(const struct da_rbuf *b, const struct ring *r, uint64_t limit)
{
	uint64_t min = NO_BOUND;

	for (size_t i = 0; i < b->nr_bounds; i++) {
		/* acquire: the reader has copied all before its position */
		uint64_t pos = atomic_load_explicit(&r->bound[i], memory_order_acquire);

		min = pos < min ? pos : min;
	}
	return min == NO_BOUND ? limit : min;
}

/* keep=oldest: a position, if a slot is free for it. */
static bool take_free(const struct da_rbuf *b, struct ring *r, uint64_t *pos)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	for (;;) {
		uint64_t limit = atomic_load_explicit(&r->limit, memory_order_acquire);

		if (head - limit > b->mask) {
			limit = slowest(b, r, limit);
			/* may go back by what another writer knew: that only costs a look */
			atomic_store_explicit(&r->limit, limit, memory_order_release);
			if (head - limit > b->mask) {
				uint64_t now = atomic_load_explicit(&r->head, memory_order_relaxed);

				if (now == head)
					return false;
				head = now;
				continue;
			}
		}
		if (atomic_compare_exchange_weak_explicit(&r->head, &head, head + 1,
							  memory_order_relaxed,
							  memory_order_relaxed)) {
			*pos = head;
			return true;
		}
	}
}

/* Claims the slot of a position that is ours. False: a write of a lap before is not finished (its thread
 * was stopped in the midst of it), or one of a lap behind us was faster. */
static bool claim(struct slot *s, uint64_t pos)
{
	uint64_t seq = atomic_load_explicit(&s->seq, memory_order_relaxed);

	while (!(seq & 1) && seq <= 2 * pos)
		if (atomic_compare_exchange_weak_explicit(
			    &s->seq, &seq, 2 * pos + 1, memory_order_acquire, memory_order_relaxed))
			return true;
	return false;
}

static void give_up(struct slot *s, uint64_t pos)
{
	uint64_t last = atomic_load_explicit(&s->gave_up, memory_order_relaxed);

	while (last < pos + 1 &&
	       !atomic_compare_exchange_weak_explicit(&s->gave_up, &last, pos + 1,
						      memory_order_release, memory_order_relaxed))
		;
}

static enum da_put put(struct da_rbuf_writer *w, const void *rec)
{
	const struct da_rbuf *b = w->b;
	struct ring *r = &b->ring[w->ring];
	const uint64_t *from = rec;
	struct slot *s;
	uint64_t pos;

	if (b->keep == DA_KEEP_LATEST) {
		pos = atomic_fetch_add_explicit(&r->head, 1, memory_order_relaxed);
	} else if (!take_free(b, r, &pos)) {
		add(&w->overflow, 1);
		return DA_PUT_OVERFLOW;
	}
	add(&w->stored, 1);
	s = slot_of(b, r, pos);
	if (!claim(s, pos)) {
		give_up(s, pos);
		add(&w->lost, 1);
		return DA_PUT_STORED;
	}
	/* release, each: a reader that sees one of them sees the claim before it too */
	for (size_t i = 0; i < b->words; i++)
		atomic_store_explicit(&s->word[i], from[i], memory_order_release);
	atomic_store_explicit(&s->seq, 2 * pos + 2, memory_order_release);
	return DA_PUT_STORED;
}

enum da_put da_rbuf_put(struct da_rbuf_writer *w, const void *rec)
{
	enum da_put done;

	/* only this thread and the handlers on its stack come here: the compiler's order is enough */
	if (atomic_load_explicit(&w->busy, memory_order_relaxed)) {
		atomic_fetch_add_explicit(&w->nested, 1, memory_order_relaxed);
		return DA_PUT_NESTED;
	}
	atomic_store_explicit(&w->busy, true, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	done = put(w, rec);
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&w->busy, false, memory_order_relaxed);
	return done;
}

/* ---- reading ---- */

/* A ring's oldest position that may still be there. */
static uint64_t oldest(const struct da_rbuf *b, const struct ring *r)
{
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

	return head > b->mask ? head - b->mask - 1 : 0;
}

static void set_pos(struct da_rbuf_reader *r, size_t ring, uint64_t pos)
{
	atomic_store_explicit(&r->at[ring].pos, pos, memory_order_relaxed);
	if (r->b->keep == DA_KEEP_OLDEST)
		atomic_store_explicit(&r->b->ring[ring].bound[r->bound], pos, memory_order_release);
}

static bool take_bound(struct da_rbuf_reader *r)
{
	for (r->bound = 0; r->bound < r->b->nr_bounds; r->bound++)
		if (!atomic_exchange(&r->b->bound_used[r->bound], true))
			return true;
	return false;
}

struct da_rbuf_reader *da_rbuf_reader_new(struct da_rbuf *b)
{
	struct da_rbuf_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->b = b;
	r->at = lines(b->nr_rings, sizeof(*r->at));
	if (!r->at || (b->keep == DA_KEEP_OLDEST && !take_bound(r))) {
		free(r->at);
		free(r);
		return NULL;
	}
	/* a writer may run ahead of a bound it has not seen yet: then the first records are missed */
	for (size_t i = 0; i < b->nr_rings; i++)
		set_pos(r, i, oldest(b, &b->ring[i]));
	return r;
}

void da_rbuf_reader_free(struct da_rbuf_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; r->b->keep == DA_KEEP_OLDEST && i < r->b->nr_rings; i++)
		atomic_store_explicit(&r->b->ring[i].bound[r->bound], NO_BOUND,
				      memory_order_release);
	if (r->b->keep == DA_KEEP_OLDEST)
		atomic_store(&r->b->bound_used[r->bound], false);
	free(r->at);
	free(r);
}

/* Goes on behind a position that is gone. A reader that was lapped twice without a record between would be
 * lapped again at once: it leaves writers a quarter of the ring. */
static uint64_t skip(struct da_rbuf_reader *r, size_t ring, uint64_t pos)
{
	struct position *at = &r->at[ring];
	uint64_t to = oldest(r->b, &r->b->ring[ring]);

	if (at->lapped)
		to += (r->b->mask + 1) / 4;
	at->lapped = true;
	to = to > pos ? to : pos + 1;
	add(&at->missed, to - pos);
	set_pos(r, ring, to);
	return to;
}

static bool copy(const struct da_rbuf *b, struct slot *s, uint64_t seq, uint64_t *to)
{
	/* acquire, each: then the second look at the sequence cannot be older than the words */
	for (size_t i = 0; i < b->words; i++)
		to[i] = atomic_load_explicit(&s->word[i], memory_order_acquire);
	return atomic_load_explicit(&s->seq, memory_order_relaxed) == seq;
}

bool da_rbuf_read(struct da_rbuf_reader *r, size_t ring, void *rec)
{
	const struct da_rbuf *b = r->b;
	const struct ring *in = &b->ring[ring];
	uint64_t pos = atomic_load_explicit(&r->at[ring].pos, memory_order_relaxed);

	for (;;) {
		struct slot *s = slot_of(b, in, pos);
		uint64_t gave_up = atomic_load_explicit(&s->gave_up, memory_order_acquire);
		uint64_t seq = atomic_load_explicit(&s->seq, memory_order_acquire);

		if (seq == 2 * pos + 2 && copy(b, s, seq, rec)) {
			add(&r->at[ring].read, 1);
			r->at[ring].lapped = false;
			set_pos(r, ring, pos + 1);
			return true;
		}
		/* behind the slot's, given up, or a lap behind the head: nothing will come */
		if (seq < 2 * pos + 2 && gave_up <= pos && pos >= oldest(b, in))
			return false;
		pos = skip(r, ring, pos);
	}
}

size_t da_rbuf_occupancy(const struct da_rbuf_reader *r, size_t ring)
{
	uint64_t pos = atomic_load_explicit(&r->at[ring].pos, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&r->b->ring[ring].head, memory_order_relaxed);

	if (head <= pos)
		return 0;
	return head - pos <= r->b->mask ? (size_t)(head - pos) : r->b->mask + 1;
}

struct da_rbuf_counts da_rbuf_ring_counts(const struct da_rbuf_reader *r, size_t ring)
{
	const struct position *at = &r->at[ring];
	uint64_t pos = atomic_load_explicit(&at->pos, memory_order_relaxed);
	uint64_t head = atomic_load_explicit(&r->b->ring[ring].head, memory_order_relaxed);

	return (struct da_rbuf_counts){
		.read = atomic_load_explicit(&at->read, memory_order_relaxed),
		.missed = atomic_load_explicit(&at->missed, memory_order_relaxed),
		.resident = head > pos ? head - pos : 0};
}

struct da_rbuf_counts da_rbuf_counts(const struct da_rbuf_reader *r)
{
	struct da_rbuf_counts sum = {0};

	for (size_t i = 0; i < r->b->nr_rings; i++) {
		struct da_rbuf_counts c = da_rbuf_ring_counts(r, i);

		sum.read += c.read;
		sum.missed += c.missed;
		sum.resident += c.resident;
	}
	return sum;
}
