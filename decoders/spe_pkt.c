/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arm SPE packets: which packet begins at a byte, how long it is, and its payload.
 *
 * Knows nothing of records. "Does not fit the window" and "is no packet" are different answers, since the
 * first one mends itself when more bytes come. Padding positions are stream positions, never addresses of
 * our buffer.
 */
#include "da_spe.h"

/* What a first header byte begins. payload: bytes after the header. */
struct head {
	uint8_t kind; /* 0 is DA_SPE_BAD */
	uint8_t payload;
	uint8_t index;
};

#define EXTENDED DA_SPE_KIND_NR /* the second byte decides */

/* clang-format off */
static const struct head heads[256] = {
	[0x00] = {DA_SPE_PAD, 0, 0},
	[0x01] = {DA_SPE_END, 0, 0},
	[0x20] = {EXTENDED, 0, 0}, [0x21] = {EXTENDED, 0, 1}, [0x22] = {EXTENDED, 0, 2}, [0x23] = {EXTENDED, 0, 3},
	[0x42] = {DA_SPE_EVENTS, 1, 0}, [0x52] = {DA_SPE_EVENTS, 2, 0},
	[0x62] = {DA_SPE_EVENTS, 4, 0}, [0x72] = {DA_SPE_EVENTS, 8, 0},
	[0x43] = {DA_SPE_SOURCE, 1, 0}, [0x53] = {DA_SPE_SOURCE, 2, 0},
	[0x63] = {DA_SPE_SOURCE, 4, 0}, [0x73] = {DA_SPE_SOURCE, 8, 0},
	[0x48] = {DA_SPE_OP, 1, 0}, [0x49] = {DA_SPE_OP, 1, 1}, [0x4a] = {DA_SPE_OP, 1, 2}, [0x4b] = {DA_SPE_OP, 1, 3},
	[0x64] = {DA_SPE_CONTEXT, 4, 0}, [0x65] = {DA_SPE_CONTEXT, 4, 1},
	[0x66] = {DA_SPE_CONTEXT, 4, 2}, [0x67] = {DA_SPE_CONTEXT, 4, 3},
	[0x71] = {DA_SPE_TIMESTAMP, 8, 0},
	[0x98] = {DA_SPE_COUNTER, 2, 0}, [0x99] = {DA_SPE_COUNTER, 2, 1}, [0x9a] = {DA_SPE_COUNTER, 2, 2},
	[0x9b] = {DA_SPE_COUNTER, 2, 3}, [0x9c] = {DA_SPE_COUNTER, 2, 4}, [0x9d] = {DA_SPE_COUNTER, 2, 5},
	[0x9e] = {DA_SPE_COUNTER, 2, 6}, [0x9f] = {DA_SPE_COUNTER, 2, 7},
	[0xb0] = {DA_SPE_ADDRESS, 8, 0}, [0xb1] = {DA_SPE_ADDRESS, 8, 1}, [0xb2] = {DA_SPE_ADDRESS, 8, 2},
	[0xb3] = {DA_SPE_ADDRESS, 8, 3}, [0xb4] = {DA_SPE_ADDRESS, 8, 4}, [0xb5] = {DA_SPE_ADDRESS, 8, 5},
	[0xb6] = {DA_SPE_ADDRESS, 8, 6}, [0xb7] = {DA_SPE_ADDRESS, 8, 7},
};
/* clang-format on */

/* The payload of `bytes` bytes at p; n bytes are there, at least as many. */
static uint64_t payload_of(const uint8_t *p, size_t n, unsigned bytes)
{
	uint64_t v = 0;

	if (n >= sizeof(v))
		return bytes ? da_spe_le64(p) & UINT64_MAX >> (64 - 8 * bytes) : 0;
	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

/* Padding up to the next multiple of 2 .. 16 of the stream position. At such a position it skips a whole
 * one, and 1 where a byte before it: then the second header byte, 0, is the next packet, a PAD. */
static unsigned align_skip(uint8_t head, uint64_t pos)
{
	unsigned align = 1u << ((head & 0xf) + 1);

	return align - (unsigned)(pos & (align - 1));
}

void da_spe_packet(const uint8_t *p, size_t n, uint64_t pos, struct da_spe_packet *out)
{
	struct head h = heads[p[0]];
	size_t len;

	*out = (struct da_spe_packet){.kind = DA_SPE_BAD, .len = 1, .head = 1};
	if (h.kind == EXTENDED) {
		struct head second;

		if (n < 2) {
			out->kind = DA_SPE_NEED_MORE;
			out->len = 0;
			return;
		}
		out->head = 2;
		second = heads[p[1]];
		if (p[1] == 0) {
			h = (struct head){.kind = DA_SPE_ALIGN};
		} else if (second.kind == DA_SPE_ADDRESS || second.kind == DA_SPE_COUNTER) {
			second.index |= (uint8_t)(h.index << 3);
			h = second;
		} else {
			out->head = 1;
			return; /* only byte 0 is bad: the next may begin a packet */
		}
	}
	if (h.kind == DA_SPE_BAD)
		return;
	len = h.kind == DA_SPE_ALIGN ? align_skip(p[0], pos) : (size_t)out->head + h.payload;
	if (n < len) {
		out->kind = DA_SPE_NEED_MORE;
		out->len = 0;
		return;
	}
	out->kind = h.kind;
	out->index = h.index;
	out->len = (uint8_t)len;
	out->payload = payload_of(p + out->head, n - out->head, h.payload);
}
