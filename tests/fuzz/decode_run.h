/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of decoders: feeds bytes to a decoder in windows, as a caller would, each from a heap block of
 * exactly its size, and keeps what came out. Header-only.
 */
#ifndef DECODE_RUN_H
#define DECODE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_decoder.h"

struct decode_result {
	struct da_report *reports; /* owned */
	size_t nr, room;
	uint64_t drops[DA_DROP_NR];
	uint64_t calls;   /* of record(), or what batch() and dropped() stand for */
	unsigned pending; /* report() calls since the last record() */
	bool broken;      /* the sink's rules were not kept */
	struct da_decode_stats stats;
};

static inline void *decode_must(void *p)
{
	if (!p) {
		fprintf(stderr, "out of memory\n");
		abort();
	}
	return p;
}

static inline void decode_on_report(void *ctx, const struct da_report *r)
{
	struct decode_result *res = ctx;

	if (res->nr == res->room) {
		res->room = res->room ? 2 * res->room : 64;
		res->reports = decode_must(realloc(res->reports, res->room * sizeof(*r)));
	}
	res->reports[res->nr++] = *r;
	res->pending++;
}

static inline void decode_on_record(void *ctx, unsigned nr, enum da_drop why)
{
	struct decode_result *res = ctx;

	res->calls++;
	if (nr != res->pending ||
	    (!nr && (why >= DA_DROP_NR || da_drop_stage(why) != DA_STAGE_SAMPLE)))
		res->broken = true;
	else if (!nr)
		res->drops[why]++;
	res->pending = 0;
}

static inline void decode_on_batch(void *ctx, struct da_report *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		decode_on_report(ctx, &r[i]);
		decode_on_record(ctx, 1, DA_DROP_NR);
	}
}

static inline void decode_on_dropped(void *ctx, enum da_drop why, uint64_t n)
{
	struct decode_result *res = ctx;

	if (why >= DA_DROP_NR || !n || res->pending)
		res->broken = true;
	else
		res->drops[why] += n;
	res->calls += n;
}

static inline struct da_sink decode_sink(struct decode_result *res, bool batch)
{
	struct da_sink s = {.report = decode_on_report, .record = decode_on_record, .ctx = res};

	if (batch) {
		s.batch = decode_on_batch;
		s.dropped = decode_on_dropped;
	}
	return s;
}

static inline void decode_release(struct decode_result *res)
{
	free(res->reports);
	memset(res, 0, sizeof(*res));
}

/* The rules that hold for every decoder and every input. */
static inline bool decode_balanced(const struct decode_result *r)
{
	uint64_t drops = 0;

	for (int i = 0; i < DA_DROP_NR; i++)
		drops += r->drops[i];
	return !r->broken && !r->pending &&
	       r->calls ==
		       r->stats.records + r->stats.damaged_records + r->stats.truncated_records &&
	       r->drops[DA_DROP_BAD_PACKET] == r->stats.damaged_records &&
	       r->drops[DA_DROP_TRUNCATED] == r->stats.truncated_records &&
	       r->calls - drops <= r->nr;
}

static inline bool decode_equal(const struct decode_result *a, const struct decode_result *b)
{
	return a->nr == b->nr && !memcmp(a->drops, b->drops, sizeof(a->drops)) &&
	       a->calls == b->calls && !memcmp(&a->stats, &b->stats, sizeof(a->stats)) &&
	       (!a->nr || !memcmp(a->reports, b->reports, a->nr * sizeof(*a->reports)));
}

/* The length of the next window: of `left` bytes that were not presented yet. 0: all of them. */
typedef size_t (*decode_cut_fn)(void *ctx, size_t left);

/*
 * Feeds proto->bytes[0..len) to the decoder. Each call gets what the last one left and cut() more bytes; the
 * last one has .last. state: zeroed, of the decoder's size. Returns false if it took more than it was given,
 * or left something at the end.
 */
static inline bool decode_windows(const struct da_decoder *d, void *state,
				  const struct da_input *proto, decode_cut_fn cut, void *cut_ctx,
				  bool batch, struct decode_result *res)
{
	struct da_sink sink = decode_sink(res, batch);
	size_t taken = 0, shown = 0;

	do {
		struct da_input in = *proto;
		size_t left = proto->len - shown, more = cut ? cut(cut_ctx, left) : 0, used;
		uint8_t *copy;

		shown += more && more < left ? more : left;
		in.len = shown - taken;
		in.offset = proto->offset + taken;
		in.last = shown == proto->len;
		copy = decode_must(malloc(in.len ? in.len : 1));
		if (in.len)
			memcpy(copy, proto->bytes + taken, in.len);
		in.bytes = copy;
		used = d->decode(state, &in, &sink, &res->stats);
		free(copy);
		if (used > in.len)
			return false;
		taken += used;
	} while (shown < proto->len);
	return taken == proto->len;
}

#endif
