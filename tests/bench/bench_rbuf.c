/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The long storm on report buffers: reports of eight threads whose writes signal handlers interrupt, read
 * by three readers; every report is accounted for or the bench fails. Then what a report costs in each
 * kind of buffer, as ratios. N reports a storm (default 10^8).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "rbuf_storm.h"

#define WRITERS 8
#define PUTS    4000000u

static bool storm_of(const char *name, enum da_keep keep, size_t rings, size_t slots, uint64_t all)
{
	struct storm s = {.opts = {.slots = slots, .rings = rings, .keep = keep},
			  .writers = WRITERS,
			  .each = all / WRITERS};
	struct storm_result r;
	bool ok = true;

	if (storm_run(&s, &r))
		return false;
	printf("%s: %zu ring%s of %zu slots, %.1f s\n  offered %" PRIu64 " (%" PRIu64
	       " by signal handlers) = stored %" PRIu64 " + overflow %" PRIu64 " + nested %" PRIu64
	       "\n",
	       name, rings, rings == 1 ? "" : "s", slots, r.seconds, r.offered, r.handler_calls,
	       r.stored, r.overflow, r.nested);
	ok &= r.offered == r.stored + r.overflow + r.nested;
	for (unsigned i = 0; i < STORM_READERS; i++) {
		const struct storm_reader *rd = &r.reader[i];
		uint64_t sum = rd->counts.read + rd->counts.missed + r.overflow + r.nested;

		printf("  reader %u: read %" PRIu64 " + missed %" PRIu64 " + dropped %" PRIu64
		       " = %" PRIu64 "; torn %" PRIu64 ", out of order %" PRIu64 "\n",
		       i, rd->counts.read, rd->counts.missed, r.overflow + r.nested, sum, rd->torn,
		       rd->disorder);
		ok &= sum == r.offered && !rd->torn && !rd->disorder && !rd->counts.resident;
	}
	if (!ok)
		puts("  FAILED: not every report is accounted for");
	return ok;
}

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* One thread writes and reads in turns: what a report costs without any contention. */
static double cost(enum da_keep keep, size_t bytes)
{
	struct da_rbuf_opts o = {.slots = 65536, .slot_bytes = bytes, .keep = keep};
	struct da_rbuf *b = da_rbuf_new(&o);
	struct da_rbuf_reader *r = b ? da_rbuf_reader_new(b) : NULL;
	uint64_t *rec = calloc(1, bytes);
	struct da_rbuf_writer w;
	double began;

	if (!r || !rec)
		exit(1);
	da_rbuf_writer_init(&w, b, 0);
	began = cpu_ns();
	for (unsigned i = 0; i < PUTS; i += 4096) {
		for (unsigned k = 0; k < 4096; k++)
			da_rbuf_put(&w, rec);
		while (da_rbuf_read(r, 0, rec))
			;
	}
	began = (cpu_ns() - began) / PUTS;
	da_rbuf_reader_free(r);
	da_rbuf_free(b);
	free(rec);
	return began;
}

int main(int argc, char **argv)
{
	uint64_t all = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000000;
	bool ok = storm_of("keep=latest,scope=global", DA_KEEP_LATEST, 1, 65536, all);
	double base;

	ok &= storm_of("keep=oldest,scope=global", DA_KEEP_OLDEST, 1, 65536, all / 10);
	ok &= storm_of("keep=latest,scope=cpu", DA_KEEP_LATEST, WRITERS, 8192, all / 10);
	ok &= storm_of("keep=latest, lapping writers", DA_KEEP_LATEST, 1, 2, all / 10);
	fflush(stdout);
	if (all < 10 * PUTS / 4) /* a test, not a bench */
		return ok ? 0 : 1;
	base = cost(DA_KEEP_OLDEST, 96);
	printf("written and read once, one thread: keep=oldest 1, keep=latest %.2f; with registers in "
	       "the report (384 bytes) %.2f\n",
	       cost(DA_KEEP_LATEST, 96) / base, cost(DA_KEEP_OLDEST, 384) / base);
	return ok ? 0 : 1;
}
