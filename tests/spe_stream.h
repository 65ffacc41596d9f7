/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of SPE streams: packets as bytes, and decoding of a stream in each of the ways that must not
 * make a difference. Header-only.
 */
#ifndef SPE_STREAM_H
#define SPE_STREAM_H

#include <check.h>

#include "bench/gen_spe.h"
#include "da_spe.h"
#include "fuzz/decode_run.h"
#include "vector_text.h"

#define N1 0x410fd0c0u

struct run {
	bool walk_only, batch;
	decode_cut_fn cut;
	void *ctx;
};

static inline void decode(const uint8_t *bytes, size_t len, uint64_t offset, const struct run *how,
			  struct decode_result *res)
{
	struct da_input in = {.bytes = bytes, .len = len, .offset = offset, .midr = N1};
	struct da_spe_state *st = decode_must(calloc(1, sizeof(*st)));

	memset(res, 0, sizeof(*res));
	st->walk_only = how->walk_only;
	ck_assert(decode_windows(da_decoder_find("spe"), st, &in, how->cut, how->ctx, how->batch,
				 res));
	ck_assert(decode_balanced(res));
	ck_assert(!st->kept && !st->resync && !st->rec.open);
	free(st);
}

static inline size_t at_random(void *ctx, size_t left)
{
	size_t n = gen_spe_random(ctx) >> 40;

	(void)left;
	return n & 1 ? 1 + (n >> 1) % 16 : 1 + (n >> 1) % 700;
}

#define PC  0xb0, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00, 0x00, 0x80
#define VA  0xb2, 0x40, 0x20, 0x00, 0x00, 0xaa, 0xaa, 0x00, 0x00
#define TS  0x71, 0x10, 0x27, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00
#define END 0x01
#define ST  0x49, 0x01
#define LD  0x49, 0x00

static inline void feed(struct da_spe_state *st, const uint8_t *b, size_t n, uint64_t offset,
			bool gap, bool last, struct decode_result *res)
{
	struct da_input in = {
		.bytes = b, .len = n, .offset = offset, .midr = N1, .gap = gap, .last = last};
	struct da_sink sink = decode_sink(res, true);

	da_spe_decode(st, &in, &sink, &res->stats);
}

#endif
