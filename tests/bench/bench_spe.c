/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Speed of the SPE decoder alone, without a file around the bytes: the packet walk against the layouts, on
 * generated streams of several mixes.
 *
 *	bench_spe [MIB [MIX]]		measure (default 256 MiB, all mixes)
 *	bench_spe write FILE MIB MIX SEED	write such a stream
 *
 * Build by tests/bench/spe-decode.sh. Numbers, no judgement.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "da_decoder.h"
#include "da_spe.h"
#include "gen_spe.h"

#define WINDOW ((size_t)1 << 20) /* what a reader presents at a time */
#define ROUNDS 5

static const char *const mix_names[] = {"one layout", "neoverse", "compact", "many layouts"};

struct sum {
	uint64_t reports, drops, addresses;
};

static void on_report(void *ctx, const struct da_report *r)
{
	struct sum *s = ctx;

	s->reports++;
	s->addresses += r->vaddr;
}

static void on_record(void *ctx, unsigned nr, enum da_drop why)
{
	struct sum *s = ctx;

	(void)why;
	s->drops += !nr;
}

static void on_batch(void *ctx, struct da_report *r, size_t n)
{
	struct sum *s = ctx;

	s->reports += n;
	for (size_t i = 0; i < n; i++)
		s->addresses += r[i].vaddr;
}

static void on_dropped(void *ctx, enum da_drop why, uint64_t n)
{
	struct sum *s = ctx;

	(void)why;
	s->drops += n;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Best of ROUNDS, in MiB/s. */
static double measure(const uint8_t *bytes, size_t len, bool walk, bool batch, struct sum *sum)
{
	struct da_sink sink = {.report = on_report, .record = on_record, .ctx = sum};
	struct da_spe_state *st = calloc(1, sizeof(*st));
	double best = 0;

	if (!st)
		exit(1);
	if (batch) {
		sink.batch = on_batch;
		sink.dropped = on_dropped;
	}
	for (int round = 0; round < ROUNDS; round++) {
		struct da_decode_stats stats = {0};
		double t = seconds();

		memset(sum, 0, sizeof(*sum));
		memset(st, 0, sizeof(*st));
		st->walk_only = walk;
		for (size_t at = 0; at < len;) {
			size_t n = len - at < WINDOW ? len - at : WINDOW;
			struct da_input in = {.bytes = bytes + at,
					      .len = n,
					      .offset = at,
					      .midr = 0x410fd0c0,
					      .last = at + n == len};

			at += da_spe_decode(st, &in, &sink, &stats);
		}
		t = seconds() - t;
		if ((double)len / t > best)
			best = (double)len / t;
	}
	free(st);
	return best / (1 << 20);
}

static int write_stream(char **argv)
{
	size_t len = strtoull(argv[3], NULL, 0) << 20;
	struct gen_spe g =
		gen_spe_new(strtoull(argv[5], NULL, 0), (enum gen_spe_mix)(atoi(argv[4]) & 3));
	uint8_t *b = malloc(len + 1);
	FILE *f = fopen(argv[2], "w");

	if (!b || !f)
		return 1;
	gen_spe_fill(&g, b, len);
	if (fwrite(b, 1, len, f) != len || fclose(f))
		return 1;
	free(b);
	return 0;
}

int main(int argc, char **argv)
{
	size_t len = (argc >= 2 ? strtoull(argv[1], NULL, 0) : 256) << 20;
	int only = argc == 3 ? atoi(argv[2]) : -1;
	uint8_t *b;

	if (argc == 6)
		return write_stream(argv);
	b = malloc(len + 1);
	if (!b)
		return 1;
	printf("%-14s %10s %10s %10s %8s %12s %12s\n", "MiB/s of", "walk", "layouts", "no batch",
	       "ratio", "records", "ns/record");
	for (int mix = 0; mix < GEN_SPE_MIX_NR; mix++) {
		if (only >= 0 && mix != only)
			continue;
		struct gen_spe g = gen_spe_new(1, (enum gen_spe_mix)mix);
		size_t nr = gen_spe_fill(&g, b, len);
		struct sum a, c, d;
		double walk = measure(b, len, true, true, &a);
		double fast = measure(b, len, false, true, &c);
		double slow = measure(b, len, false, false, &d);

		printf("%-14s %10.0f %10.0f %10.0f %8.1f %12zu %12.1f\n", mix_names[mix], walk,
		       fast, slow, fast / walk, nr,
		       (double)len / (1 << 20) / fast / (double)nr * 1e9);
		if (a.reports != c.reports || a.addresses != c.addresses || a.drops != c.drops ||
		    a.reports != d.reports || a.addresses != d.addresses || a.drops != d.drops ||
		    a.reports + a.drops != nr) {
			fprintf(stderr, "results differ\n");
			return 1;
		}
	}
	free(b);
	return 0;
}
