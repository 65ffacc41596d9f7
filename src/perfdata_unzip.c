/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Payloads of COMPRESSED records to plain record bytes, through libzstd.
 *
 * The payloads of one file are one continuous zstd stream that is flushed at the end of each, so one
 * decoder serves them all, and a plain record may lie across two payloads. Output goes through a buffer
 * of fixed size: how much a payload unfolds to costs time, never memory, and the time is bounded by
 * the budget. Finding records in the plain bytes is perfdata_stream.c's work.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "perfdata_priv.h"

/* Room for the longest record behind an incomplete one, and for zstd to work in. */
#define PLAIN_CAP (512u << 10)
/* perf's highest level uses a window of 2^27; more is not what perf writes. */
#define WINDOW_LOG_MAX 27

struct unzip *unzip_new(void)
{
	struct unzip *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->cap = PLAIN_CAP;
	u->buf = malloc(u->cap);
	u->dctx = ZSTD_createDCtx();
	if (!u->buf || !u->dctx || ZSTD_isError(ZSTD_DCtx_setParameter(u->dctx, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
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
	if (!u->budget) {
		*why = "it unfolds to more than the recorder's buffer held";
		return -DA_EDAMAGED;
	}
	dst = (ZSTD_outBuffer){.dst = u->buf + u->len, .size = room < u->budget ? room : (size_t)u->budget};
	ret = ZSTD_decompressStream(u->dctx, &dst, &src);
	*used = src.pos;
	u->len += dst.pos;
	u->budget -= dst.pos;
	/* A full output may mean that there is more; a frame's end does not. */
	u->pending = dst.pos == dst.size && ret != 0;
	if (ZSTD_isError(ret)) {
		*why = ZSTD_getErrorName(ret);
		return -DA_EDAMAGED;
	}
	return 0;
}
