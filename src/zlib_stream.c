/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zlib, of which this file is the only user (zlib_stream.h).
 */
#include "zlib_stream.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "da_error.h"

struct inflater {
	z_stream z;
	int done, damaged;
};

struct inflater *inflater_new(void)
{
	struct inflater *i = calloc(1, sizeof(*i));

	if (i && inflateInit(&i->z) != Z_OK) {
		free(i);
		i = NULL;
	}
	return i;
}

void inflater_free(struct inflater *i)
{
	if (i)
		inflateEnd(&i->z);
	free(i);
}

static uInt bounded(size_t n)
{
	return n < UINT_MAX ? (uInt)n : UINT_MAX;
}

long inflater_step(struct inflater *i, const uint8_t **in, size_t *len, uint8_t *out, size_t room)
{
	uInt before = bounded(*len), space = bounded(room);
	long n;
	int rc;

	if (i->done || i->damaged)
		return i->done ? 0 : -DA_EDAMAGED;
	i->z.next_in = (Bytef *)*in;
	i->z.avail_in = before;
	i->z.next_out = out;
	i->z.avail_out = space;
	rc = inflate(&i->z, Z_NO_FLUSH);
	*in += before - i->z.avail_in;
	*len -= before - i->z.avail_in;
	i->done = rc == Z_STREAM_END;
	if (rc == Z_MEM_ERROR)
		return -DA_ENOMEM;
	/* what came out before the damage is given first */
	n = (long)(space - i->z.avail_out);
	i->damaged = rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR;
	return i->damaged && !n ? -DA_EDAMAGED : n;
}

int inflater_done(const struct inflater *i)
{
	return i->done;
}

struct deflater {
	z_stream z;
	int done;
};

struct deflater *deflater_new(void)
{
	struct deflater *d = calloc(1, sizeof(*d));

	if (d && deflateInit(&d->z, Z_DEFAULT_COMPRESSION) != Z_OK) {
		free(d);
		d = NULL;
	}
	return d;
}

void deflater_free(struct deflater *d)
{
	if (d)
		deflateEnd(&d->z);
	free(d);
}

long deflater_step(struct deflater *d, const uint8_t **in, size_t *len, int last, uint8_t *out,
		   size_t room)
{
	uInt before = bounded(*len), space = bounded(room);

	if (d->done)
		return 0;
	d->z.next_in = (Bytef *)*in;
	d->z.avail_in = before;
	d->z.next_out = out;
	d->z.avail_out = space;
	d->done = deflate(&d->z, last && before == *len ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_END;
	*in += before - d->z.avail_in;
	*len -= before - d->z.avail_in;
	return (long)(space - d->z.avail_out);
}
