/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hits of probes while nobody knows yet where the regions will be: in which sampling intervals a probe let a
 * report pass, by place. Memory is bounded; places become coarser instead of many. Private to src/match*.c.
 */
#ifndef MATCH_HITS_H
#define MATCH_HITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HITS_INTERVALS 512 /* of one record: 2.5 s */

struct hits;

/* One place, for HITS_INTERVALS intervals. */
struct hits_record {
	uint64_t place; /* address in units of the place size */
	uint64_t chunk; /* interval / HITS_INTERVALS */
	uint64_t addr;  /* first address that was hit there */
	uint64_t reports;
	uint32_t entry, probe;
	uint64_t bits[HITS_INTERVALS / 64];
};

/* max: records, 104 bytes each; 0: 96 Ki. NULL: out of memory. */
struct hits *hits_new(size_t max, uint64_t seed);
void hits_free(struct hits *h); /* NULL allowed */
/* 0 or -DA_ENOMEM. */
int hits_add(struct hits *h, uint32_t entry, uint32_t probe, uint64_t addr, uint64_t interval);
/* Adds another's, whose entry e is entry[e] here. 0 or -DA_ENOMEM. */
int hits_merge(struct hits *h, const struct hits *from, const uint32_t *entry);
/* The records, in no order; the caller may sort them, and then only free. */
struct hits_record *hits_records(struct hits *h, size_t *nr);

#endif
