/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Payloads of COMPRESSED records to plain record bytes, through libzstd.
 *
 * The payloads of one file are one continuous zstd stream that is flushed at the end of each, so one
 * decoder serves them all, and a plain record may lie across two payloads. Output goes through a buffer
 * of fixed size: how much a payload unfolds to costs time, never memory; and the time is bounded. Finding records in the plain bytes is perfdata_stream.c's work.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "perfdata_priv.h"

/* Room for the longest record behind an incomplete one, and for zstd to work in. */
#define PLAIN_CAP (512u << 10)
/* Bytes that the payloads of a stream may unfold to: so many at first, and so many times their own. Records
 * shrink by some ten times; a file that was made to take forever, by thirty thousand. */
#define ALLOWANCE_FIRST (1u << 20)
#define ALLOWANCE_RATIO 1024u
/* perf's highest level uses a window of 2^27; more is not what perf writes. */
#define WINDOW_LOG_MAX 27

struct unzip *unzip_new(void)
{
	struct unzip *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->cap = PLAIN_CAP;
	u->allowance = ALLOWANCE_FIRST;
	u->buf = malloc(u->cap);
	u->dctx = ZSTD_createDCtx();
	if (!u->buf || !u->dctx ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(u->dctx, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		unzip_free(u);
		return NULL;
	}
	return u;
}

void unzip_free(struct unzip *u)
{
	if (!u)
		return;
	ZSTD_freeDCtx(u->dctx);
	free(u->buf);
	free(u);
}

void unzip_reset(struct unzip *u)
{
	ZSTD_DCtx_reset(u->dctx, ZSTD_reset_session_only);
	u->pos = u->len = 0;
	u->pending = false;
}

void unzip_payload(struct unzip *u, uint64_t bytes, uint64_t budget)
{
	u->budget = budget;
	u->allowance += ALLOWANCE_RATIO * bytes;
}

int unzip_feed(struct unzip *u, const uint8_t *in, size_t n, size_t *used, const char **why)
{
	ZSTD_inBuffer src = {.src = in, .size = n};
	ZSTD_outBuffer dst;
	size_t room, ret;

	if (u->pos) {
		memmove(u->buf, u->buf + u->pos, u->len - u->pos);
		u->len -= u->pos;
		u->pos = 0;
	}
	room = u->cap - u->len;
	*used = 0;
	if (!u->budget || !u->allowance) {
		*why = u->budget ? "no recorder's data unfold so far"
				 : "it unfolds to more than the recorder's buffer held";
		return -DA_EDAMAGED;
	}
	if (room > u->budget)
		room = (size_t)u->budget;
	if (room > u->allowance)
		room = (size_t)u->allowance;
	dst = (ZSTD_outBuffer){.dst = u->buf + u->len, .size = room};
	ret = ZSTD_decompressStream(u->dctx, &dst, &src);
	*used = src.pos;
	u->len += dst.pos;
	u->budget -= dst.pos;
	u->allowance -= dst.pos;
	/* A full output may mean that there is more; a frame's end does not. */
	u->pending = dst.pos == dst.size && ret != 0;
	if (ZSTD_isError(ret)) {
		*why = ZSTD_getErrorName(ret);
		return -DA_EDAMAGED;
	}
	return 0;
}
