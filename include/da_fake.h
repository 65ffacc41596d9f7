/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generator behind `-e fake`: deterministic synthetic accesses that need neither PMU nor
 * kernel, and the failures that diagnose must tell apart. No I/O, no clock, no randomness but
 * its seed: the n-th sample of a CPU depends on terms, pid, CPU and n alone.
 *
 * Terms of fake/.../, comma-separated; sizes and counts take K, M, G (1024s for size, 1000s
 * otherwise):
 *
 *   rate=10000       samples a second on each CPU, 1..1G; their times are evenly spaced
 *   pattern=hotcold  hotcold: 90 % of the accesses in the first tenth of the range, the rest
 *                             in all of it
 *                    seq:     64-byte steps through the range, again and again; with cpus=N the
 *                             CPUs share the steps, else each CPU walks all of them
 *                    random:  uniform
 *                    stairs:  uniform in one eighth of the range; the next eighth after 2048
 *                             samples of a CPU
 *                    zipf:    a page of rank r has probability ~ 1/r; rank 1 is the first page
 *   seed=1           another seed, another sequence
 *   size=16m         bytes of the range, 4k..1t, a multiple of 4096
 *   base=ADDR        its first address, a multiple of 4096; default 0x300000000000
 *   writes=30        percent of the accesses that are stores
 *   cpus=0           CPUs 0..cpus-1 deliver; 0: every CPU asked for
 *   tasks=1          tids pid..pid+tasks-1 take turns, sample by sample; 1..4096
 *   count=0          samples on each CPU until its stream ends; 0: without end
 *   phys=0           1: a physical address too (4 GiB + offset in the range)
 *   fail=MODE        one of the modes below
 *   after=1000       fail=stall: samples on each CPU before it stops
 *
 * Addresses are multiples of 8 and accesses 8 bytes long, so that none leaves the range.
 */
#ifndef DA_FAKE_H
#define DA_FAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "da_error.h"

struct da_samp;

enum da_fake_fail {
	DA_FAKE_FAIL_NONE,   /* none */
	DA_FAKE_FAIL_CREATE, /* create: the open is refused (the session's part) */
	DA_FAKE_FAIL_BIND,   /* bind: the ring cannot be mapped (the session's part) */
	DA_FAKE_FAIL_ENABLE, /* enable: enabling is refused (the session's part) */
	DA_FAKE_FAIL_SILENT, /* silent: enabled, and never delivers a sample */
	DA_FAKE_FAIL_NOADDR, /* noaddr: samples whose address is 0, that is absent */
	DA_FAKE_FAIL_MISS,   /* miss: addresses outside the range */
	DA_FAKE_FAIL_CPU1,   /* cpu1: samples on CPU 0 only */
	DA_FAKE_FAIL_STALL,  /* stall: delivers `after` samples on each CPU, then stops */
	DA_FAKE_FAIL_NR
};

/* One generator; a plain value inside, so threads may share it if each asks for CPUs of its own. */
struct da_fake;

/* CPUs that a generator tells apart; higher ones deliver nothing. */
#define DA_FAKE_MAX_CPUS 4096

/* Parses terms ("" for all defaults) for a target process. 0, -DA_EUSAGE (message names the
 * term) or -DA_ENOMEM; err may be NULL. The caller frees *out. */
int da_fake_new(struct da_fake **out, const char *terms, uint32_t pid, struct da_error *err);
void da_fake_free(struct da_fake *f); /* NULL allowed */

/* Was this failure asked for? */
bool da_fake_fails(const struct da_fake *f, enum da_fake_fail how);
/* The range that a target must have mapped for its accesses to match: [*start, *end). */
void da_fake_range(const struct da_fake *f, uint64_t *start, uint64_t *end);

/* Time of a CPU's next sample, ns since enabling; UINT64_MAX: none will follow. */
uint64_t da_fake_time(const struct da_fake *f, uint32_t cpu);
/* The next sample of a CPU: IP, TID, TIME (ns since enabling), ADDR, CPU, PERIOD (1), DATA_SRC
 * (load or store) and, with phys=1, PHYS_ADDR. False: none will follow. One thread at a time for
 * each CPU. */
bool da_fake_next(struct da_fake *f, uint32_t cpu, struct da_samp *out);

#endif
