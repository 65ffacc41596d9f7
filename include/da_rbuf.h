/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Report buffers: fixed-size records from any number of writers to any number of readers.
 *
 * A library of its own: it needs libc only and knows nothing of what the records are. A buffer has one
 * ring (scope global) or several (scope cpu: one a CPU); each ring has a fixed number of slots. Writing
 * takes no lock, allocates nothing, makes no system call, and may happen in a signal handler that
 * interrupted a write. Readers never consume: each has its own position and its own counts.
 *
 * Conservation, exactly and for every reader that was attached before the first write, once it has read
 * to the end:
 *     offered == read + missed + dropped         dropped == overflow + nested
 * and with what the reader has not come to yet, at any moment: ... + resident.
 */
#ifndef DA_RBUF_H
#define DA_RBUF_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum da_keep {
	DA_KEEP_OLDEST, /* a full ring refuses the new record: full is what the slowest reader has not read */
	DA_KEEP_LATEST /* the new record takes the place of the oldest, whoever has read it or not */
};

struct da_rbuf_opts {
	size_t slots;      /* of each ring; rounded up to a power of two, 2..2^24 */
	size_t slot_bytes; /* of a record, 1..65536; rounded up to a multiple of 8 */
	size_t rings;      /* 1..65536; 0: 1 */
	enum da_keep keep;
	size_t bounds; /* keep=oldest: readers that hold writers back, at most; 0: 4 */
};

struct da_rbuf;

struct da_rbuf *da_rbuf_new(const struct da_rbuf_opts *o); /* NULL: out of memory */
void da_rbuf_free(struct da_rbuf *b);                      /* NULL allowed; after its readers */
size_t da_rbuf_slots(const struct da_rbuf *b);
size_t da_rbuf_slot_bytes(const struct da_rbuf *b); /* as rounded */
size_t da_rbuf_rings(const struct da_rbuf *b);

/* ---- writing ---- */

/* One thread (with the signal handlers that interrupt it), writing into one ring. Caller's storage; any
 * number of writers may share a ring. The counters may be read from any thread. */
struct da_rbuf_writer {
	struct da_rbuf *b;
	size_t ring;
	atomic_bool busy; /* a write is under way: one that interrupts it is nested */
	_Atomic uint64_t stored;
	_Atomic uint64_t overflow; /* keep=oldest: the ring was full */
	_Atomic uint64_t nested;   /* came while this writer's own write was under way */
	_Atomic uint64_t
		lost; /* of those stored: its slot was held by a write a lap behind, not finished;
				* every reader misses it */
};

enum da_put { DA_PUT_STORED, DA_PUT_OVERFLOW, DA_PUT_NESTED };

void da_rbuf_writer_init(struct da_rbuf_writer *w, struct da_rbuf *b, size_t ring);
/* Stores da_rbuf_slot_bytes() bytes from rec, which must be aligned for uint64_t. Wait-free with
 * keep=latest, lock-free with keep=oldest. */
enum da_put da_rbuf_put(struct da_rbuf_writer *w, const void *rec);

/* ---- reading ---- */

struct da_rbuf_reader;

struct da_rbuf_counts {
	uint64_t read;
	uint64_t missed;   /* overwritten before it was read */
	uint64_t resident; /* not come to yet: an estimate while writers are at work */
};

/* A reader of all rings, for one thread; it begins with what the rings still hold. NULL: out of memory, or
 * with keep=oldest more readers than opts.bounds. */
struct da_rbuf_reader *da_rbuf_reader_new(struct da_rbuf *b);
void da_rbuf_reader_free(struct da_rbuf_reader *r); /* NULL allowed */
/* The next record of a ring, oldest first; false: none yet. Never half-written. rec: da_rbuf_slot_bytes()
 * bytes, aligned for uint64_t. */
bool da_rbuf_read(struct da_rbuf_reader *r, size_t ring, void *rec);
/* What this reader has not come to yet in a ring, at most its slots; any thread. */
size_t da_rbuf_occupancy(const struct da_rbuf_reader *r, size_t ring);
/* Sums over the rings, or of one; any thread. */
struct da_rbuf_counts da_rbuf_counts(const struct da_rbuf_reader *r);
struct da_rbuf_counts da_rbuf_ring_counts(const struct da_rbuf_reader *r, size_t ring);

#endif
