/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For spe-vs-perf.sh: writes a perf.data file that holds one piece of random Arm SPE packets, and prints the
 * packets that our decoder sees in it, a line each: offset, length, what it is.
 *
 *	spe_packets SEED FILE BYTES
 *
 * Where perf walks wrongly, as known, the listing does as perf: it takes a packet cut by the end of the piece
 * for bad bytes, wants the whole alignment to remain where an alignment packet skips less, takes positions
 * from its copy of the file instead of the AUX offset, and prints up to 16 bytes of padding as one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gen_spe.h"
#include "da_spe.h"
#include "spe_text.h"

enum {
	SPE_TYPE = 9,
	AUXTRACE_INFO = 70,
	AUXTRACE = 71,
	TIME_CONV = 79,
	FINISHED_ROUND = 68,
	AUX = 11
};

#define SAMPLE_TYPE 0x10087u /* IP, TID, TIME, CPU, IDENTIFIER */
#define SAMPLE_ID   1001u

struct out {
	uint8_t *b;
	size_t len;
};

static void put(struct out *o, const void *p, size_t n)
{
	memcpy(o->b + o->len, p, n);
	o->len += n;
}

static void put32(struct out *o, uint32_t v)
{
	put(o, &v, sizeof(v));
}

static void put64(struct out *o, uint64_t v)
{
	put(o, &v, sizeof(v));
}

static void put_header(struct out *o, uint32_t type, uint16_t size)
{
	uint16_t half[2] = {0, size};

	put32(o, type);
	put(o, half, sizeof(half));
}

static void put_attr(struct out *o, uint32_t type, uint64_t config)
{
	size_t start = o->len;

	put32(o, type);
	put32(o, 128);
	put64(o, config);
	put64(o, 1024); /* period */
	put64(o, SAMPLE_TYPE);
	put64(o, 0);
	put64(o, UINT64_C(1) << 18); /* sample_id_all */
	memset(o->b + o->len, 0, 128 - (o->len - start));
	o->len = start + 128;
}

/* sample_id of a record that is no sample */
static void put_sample_id(struct out *o)
{
	put64(o, UINT64_C(1) << 32 | 1);
	put64(o, 1000);
	put64(o, 0);
	put64(o, SAMPLE_ID);
}

/* Writes the file's bytes around the piece; returns where the piece begins. */
static size_t put_file(struct out *o, const uint8_t *piece, size_t len, bool shifted)
{
	size_t attrs = 104 + 8, data = attrs + 128 + 16, at;
	uint64_t zero[4] = {0};

	put(o, "PERFILE2", 8);
	put64(o, 104);
	put64(o, 128 + 16);
	put64(o, attrs);
	put64(o, 128 + 16);
	put64(o, data);
	put64(o, 0); /* size: filled in below */
	put64(o, 0);
	put64(o, 0);
	put(o, zero, sizeof(zero));
	put64(o, SAMPLE_ID);
	put_attr(o, SPE_TYPE, 1);
	put64(o, 104);
	put64(o, 8);
	if (shifted)
		put_header(o, FINISHED_ROUND, 8);
	put_header(o, TIME_CONV, 32);
	put64(o, 0);
	put64(o, 1);
	put64(o, 0);
	put_header(o, AUXTRACE_INFO, 32);
	put32(o, 4); /* Arm SPE */
	put32(o, 0);
	put64(o, SPE_TYPE);
	put64(o, 1);
	put_header(o, AUX, 64);
	put64(o, 0);
	put64(o, len);
	put64(o, 0);
	put_sample_id(o);
	put_header(o, AUXTRACE, 48);
	put64(o, len);
	put64(o, 0);
	put64(o, 0);
	put32(o, 0);
	put32(o, UINT32_MAX);
	put64(o, 0);
	at = o->len;
	put(o, piece, len);
	put_header(o, FINISHED_ROUND, 8);
	len = o->len - data;
	memcpy(o->b + 48, &len, sizeof(uint64_t));
	return at;
}

/* Packets that begin with every header there is, with payloads at random, and now and then any byte. */
static void random_packets(uint64_t seed, uint8_t *out, size_t n)
{
	struct gen_spe g = gen_spe_new(seed, GEN_SPE_ONE);
	size_t at = 0;

	while (at < n) {
		uint64_t r = gen_spe_random(&g), payload = gen_spe_random(&g);
		uint8_t head = (uint8_t)(r >> 8), second;
		struct da_spe_packet k;
		uint8_t probe[12] = {head, (uint8_t)(r >> 16)};

		da_spe_packet(probe, sizeof(probe), 0, &k);
		if (k.kind == DA_SPE_BAD && r & 7) /* most headers are bad: have fewer of them */
			continue;
		out[at++] = head;
		if (at < n && (head & 0xfc) == 0x20) {
			second = r >> 24 & 3
					 ? (uint8_t)((r >> 26 & 1 ? 0xb0 : 0x98) | (r >> 32 & 7))
					 : (uint8_t)(r >> 40 & 1);
			out[at++] = second;
			if (second <= 1)
				continue;
		}
		for (unsigned left = k.kind == DA_SPE_BAD ? 0 : k.len - k.head; left && at < n;
		     left--, payload >>= 8)
			out[at++] = (uint8_t)payload;
	}
}

static void list_packets(const uint8_t *p, size_t n, uint64_t position)
{
	char text[SPE_TEXT_MAX];

	for (size_t at = 0; at < n;) {
		struct da_spe_packet k;

		da_spe_packet(p + at, n - at, position + at, &k);
		if (k.kind == DA_SPE_NEED_MORE ||
		    (k.kind == DA_SPE_ALIGN && n - at < 2u << (p[at] & 0xf))) {
			k.kind = DA_SPE_BAD;
			k.len = 1;
		}
		if (k.kind == DA_SPE_PAD || k.kind == DA_SPE_ALIGN)
			while (k.len < 16 && at + k.len < n && p[at + k.len] == 0)
				k.len++;
		spe_text(&k, text);
		printf("%08zx %u %s\n", at, k.len, text);
		at += k.len;
	}
}

int main(int argc, char **argv)
{
	struct out o = {0};
	uint64_t seed;
	size_t len, at;
	uint8_t *piece;
	FILE *f;

	if (argc != 4)
		return 2;
	seed = strtoull(argv[1], NULL, 0);
	len = strtoull(argv[3], NULL, 0) & ~(size_t)7;
	piece = malloc(len + 1);
	o.b = malloc(len + 4096);
	f = fopen(argv[2], "wb");
	if (!piece || !o.b || !f)
		return 1;
	random_packets(seed, piece, len);
	at = put_file(&o, piece, len, seed & 1);
	if (fwrite(o.b, 1, o.len, f) != o.len || fclose(f))
		return 1;
	list_packets(piece, len, at);
	free(o.b);
	free(piece);
	return 0;
}
