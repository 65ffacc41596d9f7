/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of `damon-attrs workload`: its options and output are in workload.c, ranges and threads in
 * workload_run.c, the memory loops in workload_loops.c.
 */
#ifndef DA_WORKLOAD_H
#define DA_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_error.h"

enum wl_pattern {
	WL_SEQ,     /* one word after the other, again and again */
	WL_RANDOM,  /* random words, independent of each other */
	WL_HOTCOLD, /* random words; the first range gets 90 % */
	WL_STAIRS,  /* random words of a window that climbs through the range in steps */
	WL_CHASE,   /* each load gives the address of the next */
	WL_TOUCH,   /* first touches of pages: page faults */
	WL_ZIGZAG,  /* random words of a window that slides up and down */
	WL_ZIPF,    /* random words; the range of rank i has weight 1 / i */
	WL_SPLIT,   /* random words; each thread in ranges of its own, or in its part of each */
	WL_PATTERN_NR
};

struct stop; /* stop.h */

struct wl_config {
	enum wl_pattern pattern;
	uint64_t size_bytes; /* of a range: a multiple of the page size */
	uint32_t nr_ranges;
	unsigned writes_pct;
	uint32_t nr_threads;
	const uint32_t *cpus; /* thread t only on cpus[(first_cpu + t) % nr_cpus]; NULL: anywhere */
	size_t nr_cpus, first_cpu;
	uint64_t duration_ns; /* 0: no limit of time */
	uint64_t ops;         /* accesses of all threads together, 0: no limit */
	uint64_t repeat;      /* WL_TOUCH: rounds over all pages, 0: no limit */
	uint64_t seed;
	struct stop *stop; /* a signal that it reports ends the work */
};

/* A range and the truth about it. */
struct wl_range {
	char name[32];
	uint64_t start, end;
	double weight; /* share of the accesses that the pattern aims at; the exact one is counted */
	uint64_t loads, stores; /* made to it, the first touches included */
	uint64_t pages;         /* distinct pages touched */
	uint64_t faults;        /* touches of a page that was not there */
};

struct wl_run {
	struct wl_config config; /* a copy; cpus and stop are borrowed */
	struct wl_range *ranges;
	uint64_t page_bytes;
	uint64_t duration_ns; /* of the loops, first touches of WL_TOUCH included */
	bool signalled;       /* a signal ended it */
};

/* Maps the ranges, each between two pages without access, untouched. 0 or -DA_E...; release also after a
 * failure. */
int wl_run_init(struct wl_run *run, const struct wl_config *config, struct da_error *err);
/* Works until a limit is reached or a signal comes; fills the truth. 0 or -DA_E... */
int wl_run_go(struct wl_run *run, struct da_error *err);
void wl_run_release(struct wl_run *run);

/*
 * The loops. Each makes exactly n accesses of 8 bytes, a load or a store each, and returns how many were
 * stores. Stores are spread evenly, not chosen by chance: after k accesses of a stream k * writes_pct /
 * 100 of them, rounded down, were stores (random words: where k is a multiple of 4).
 */

/* What one thread carries from call to call. */
struct wl_stream {
	uint64_t rng;        /* xorshift state, never 0 */
	uint64_t due;        /* hundredths of a store that are due, < 100 */
	unsigned writes_pct; /* 0..100 */
};

#define WL_CHASE_BYTES 64 /* distance of the pointers of a chase: one in each cache line */

/* Spreads a seed, so that neighbouring seeds give unrelated streams; never 0. */
uint64_t wl_seed(uint64_t seed);
uint64_t wl_random_next(uint64_t x);
/* A number below `bound` from all bits of x. */
uint64_t wl_below(uint64_t x, uint64_t bound);

/* Random words of base[0..words). */
uint64_t wl_loop_random(volatile uint64_t *base, uint64_t words, uint64_t n, struct wl_stream *s);
/* Every `step`-th word from *pos on, back to the start after the last; *pos is where to go on. */
uint64_t wl_loop_step(volatile uint64_t *base, uint64_t words, uint64_t step, uint64_t *pos,
		      uint64_t n, struct wl_stream *s);
/* Loads follow the pointers from *at on; a store goes beside the pointer that it has come to. */
uint64_t wl_loop_chase(volatile uint64_t **at, uint64_t n, struct wl_stream *s);

/* Links the lines of base[0..words) into one random cycle: one store to each line, in order, no load.
 * `order` is scratch for words * 8 / WL_CHASE_BYTES numbers. */
void wl_chase_build(volatile uint64_t *base, uint64_t words, uint32_t *order, struct wl_stream *s);

#endif
