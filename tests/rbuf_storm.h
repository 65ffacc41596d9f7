/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A storm on a report buffer: writer threads whose writes are interrupted by signal handlers that write
 * too, and readers that check every record. For tests/test_rbuf.c and tests/bench/bench_rbuf.c; it judges
 * nothing itself.
 */
#ifndef DA_RBUF_STORM_H
#define DA_RBUF_STORM_H

#include "da_rbuf.h"

#define STORM_WORDS   18 /* of a record: as large as an access report */
#define STORM_READERS 3  /* the last one is slow */
#define STORM_WRITERS 64 /* at most */

struct storm {
	struct da_rbuf_opts opts; /* slot_bytes is set by storm_run() */
	unsigned writers;
	uint64_t each; /* records that a writer offers outside of handlers */
};

struct storm_reader {
	struct da_rbuf_counts counts;
	uint64_t torn;     /* records that are not what one writer wrote */
	uint64_t disorder; /* not in their writer's order within a ring */
	uint64_t handlers; /* written by a handler */
};

struct storm_result {
	uint64_t offered; /* all calls of da_rbuf_put() */
	uint64_t stored, overflow, nested, lost;
	uint64_t handler_calls; /* of the offered ones: by handlers */
	struct storm_reader reader[STORM_READERS];
	double seconds;
};

/* 0, or -1 when threads or memory could not be had. */
int storm_run(const struct storm *s, struct storm_result *out);

#endif
