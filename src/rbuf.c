/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Report buffer: bounded multi-producer, single-consumer queue with a sequence number per slot.
 *
 * A producer claims a position by compare-and-swap and publishes the slot with a release store of its
 * sequence, so a half-written slot is never read. It does not keep the latest: a full buffer refuses.
 */
#include "da_rbuf.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Producer and consumer positions are kept on lines of their own, so that the one's stores do not evict
 * the other's. */
#define LINE 64

struct slot {
	atomic_size_t
		seq; /* == position: free for that position; == position + 1: holds its report */
	struct da_report r;
};

struct da_rbuf {
	size_t mask;
	struct slot *slots;
	_Alignas(LINE) atomic_size_t head; /* next position to write */
	_Alignas(LINE) atomic_size_t tail; /* next position to read */
};

struct da_rbuf *da_rbuf_new(size_t slots)
{
	struct da_rbuf *b = aligned_alloc(LINE, sizeof(*b));
	size_t n = 2;

	if (!b)
		return NULL;
	while (n < slots && n < (size_t)1 << 24)
		n <<= 1;
	b->slots = malloc(n * sizeof(*b->slots));
	if (!b->slots) {
		free(b);
		return NULL;
	}
	b->mask = n - 1;
	for (size_t i = 0; i < n; i++)
		atomic_init(&b->slots[i].seq, i);
	atomic_init(&b->head, 0);
	atomic_init(&b->tail, 0);
	return b;
}

void da_rbuf_free(struct da_rbuf *b)
{
	if (!b)
		return;
	free(b->slots);
	free(b);
}

size_t da_rbuf_slots(const struct da_rbuf *b)
{
	return b->mask + 1;
}

size_t da_rbuf_occupancy(const struct da_rbuf *b)
{
	size_t tail = atomic_load_explicit(&b->tail, memory_order_relaxed);
	size_t head = atomic_load_explicit(&b->head, memory_order_relaxed);

	return head - tail <= b->mask + 1 ? head - tail : 0;
}

bool da_rbuf_put(struct da_rbuf *b, const struct da_report *r, size_t *occupancy)
{
	size_t pos = atomic_load_explicit(&b->head, memory_order_relaxed);

	for (;;) {
		struct slot *s = &b->slots[pos & b->mask];
		size_t seq = atomic_load_explicit(&s->seq, memory_order_acquire);

		if (seq == pos) {
			if (!atomic_compare_exchange_weak_explicit(&b->head, &pos, pos + 1,
								   memory_order_relaxed,
								   memory_order_relaxed))
				continue;
			s->r = *r;
			atomic_store_explicit(&s->seq, pos + 1, memory_order_release);
			if (occupancy)
				*occupancy = da_rbuf_occupancy(b);
			return true;
		}
		if ((ptrdiff_t)(seq - pos) < 0) { /* still holds the report of one lap ago: full */
			if (occupancy)
				*occupancy = b->mask + 1;
			return false;
		}
		pos = atomic_load_explicit(&b->head, memory_order_relaxed);
	}
}

bool da_rbuf_get(struct da_rbuf *b, struct da_report *r)
{
	size_t pos = atomic_load_explicit(&b->tail, memory_order_relaxed);
	struct slot *s = &b->slots[pos & b->mask];

	if (atomic_load_explicit(&s->seq, memory_order_acquire) != pos + 1)
		return false;
	*r = s->r;
	/* free for the position one lap ahead, only after the copy */
	atomic_store_explicit(&s->seq, pos + b->mask + 1, memory_order_release);
	atomic_store_explicit(&b->tail, pos + 1, memory_order_relaxed);
	return true;
}
