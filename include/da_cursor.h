/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bounds-checked reader over borrowed bytes; header-only.
 *
 * A failed read returns zeros and makes the cursor bad for good, so a parser reads a whole layout and
 * checks da_cur_ok() once. `swap` is set when the bytes have the other endianness than this machine.
 */
#ifndef DA_CURSOR_H
#define DA_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct da_cur {
	const uint8_t *p; /* borrowed; must outlive the cursor */
	size_t len;       /* bytes at p */
	size_t off;       /* bytes consumed, <= len */
	bool bad;         /* sticky: a read did not fit */
	bool swap;        /* integers are stored in the other byte order */
};

static inline struct da_cur da_cur_from(const void *p, size_t len, bool swap)
{
	return (struct da_cur){.p = p, .len = len, .swap = swap};
}

static inline bool da_cur_ok(const struct da_cur *c)
{
	return !c->bad;
}

static inline size_t da_cur_left(const struct da_cur *c)
{
	return c->bad ? 0 : c->len - c->off;
}

/* n bytes and advance, or NULL and bad. n is 64-bit so that a length from a file never wraps. */
static inline const uint8_t *da_cur_bytes(struct da_cur *c, uint64_t n)
{
	const uint8_t *r;

	if (c->bad || n > c->len - c->off) {
		c->bad = true;
		return NULL;
	}
	r = c->p + c->off;
	c->off += (size_t)n;
	return r;
}

static inline void da_cur_skip(struct da_cur *c, uint64_t n)
{
	(void)da_cur_bytes(c, n);
}

static inline uint8_t da_cur_u8(struct da_cur *c)
{
	const uint8_t *b = da_cur_bytes(c, 1);

	return b ? *b : 0;
}

static inline uint16_t da_cur_u16(struct da_cur *c)
{
	const uint8_t *b = da_cur_bytes(c, 2);
	uint16_t v = 0;

	if (b)
		memcpy(&v, b, 2);
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t da_cur_u32(struct da_cur *c)
{
	const uint8_t *b = da_cur_bytes(c, 4);
	uint32_t v = 0;

	if (b)
		memcpy(&v, b, 4);
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t da_cur_u64(struct da_cur *c)
{
	const uint8_t *b = da_cur_bytes(c, 8);
	uint64_t v = 0;

	if (b)
		memcpy(&v, b, 8);
	return c->swap ? __builtin_bswap64(v) : v;
}

/* An array of nr elements of `size` bytes; the product is checked. NULL and bad if it does not fit. */
static inline const uint8_t *da_cur_array(struct da_cur *c, uint64_t nr, size_t size)
{
	if (size && nr > (c->len - c->off) / size) {
		c->bad = true;
		return NULL;
	}
	return da_cur_bytes(c, nr * size);
}

/* A cursor over the next n bytes, which are consumed here; bad if they do not fit. */
static inline struct da_cur da_cur_sub(struct da_cur *c, uint64_t n)
{
	const uint8_t *b = da_cur_bytes(c, n);
	struct da_cur s = da_cur_from(b, b ? (size_t)n : 0, c->swap);

	s.bad = !b;
	return s;
}

/* A NUL-terminated string inside the remaining bytes (the terminator is required); advances past the
 * NUL. NULL and bad if there is none. */
static inline const char *da_cur_str(struct da_cur *c)
{
	const uint8_t *s, *nul;

	if (c->bad || c->off == c->len) {
		c->bad = true;
		return NULL;
	}
	s = c->p + c->off;
	nul = memchr(s, 0, c->len - c->off);
	if (!nul) {
		c->bad = true;
		return NULL;
	}
	c->off += (size_t)(nul - s) + 1;
	return (const char *)s;
}

#endif
