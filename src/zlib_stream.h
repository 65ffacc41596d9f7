/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * zlib streams (RFC 1950) in bounded memory, both ways.
 */
#ifndef ZLIB_STREAM_H
#define ZLIB_STREAM_H

#include <stddef.h>
#include <stdint.h>

struct inflater;

struct inflater *inflater_new(void); /* NULL: out of memory */
void inflater_free(struct inflater *z);
/* Takes bytes from *in (and moves it on) and writes up to room; returns how many were written, 0: it needs more
 * input or is at the end. -DA_EDAMAGED: no stream goes on here; -DA_ENOMEM. */
long inflater_step(struct inflater *z, const uint8_t **in, size_t *len, uint8_t *out, size_t room);
int inflater_done(const struct inflater *z); /* the stream's end and its checksum were seen */

struct deflater;

struct deflater *deflater_new(void);
void deflater_free(struct deflater *z);
/* The same for packing; last: no more input will come, call until 0 is returned. */
long deflater_step(struct deflater *z, const uint8_t **in, size_t *len, int last, uint8_t *out,
		   size_t room);

#endif
