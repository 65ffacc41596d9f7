/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DAMON's own regions over time, from damon:damon_aggregated records: one record a region, each with the
 * number of regions of its target, all in address order at the end of each aggregation interval.
 *
 * A snapshot is complete when as many records have come as they say; a lost or missing record leaves it
 * incomplete, and nothing of it is shown. Two kdamonds number their targets alike: a target is one of a kdamond.
 */
#ifndef DA_DAMON_H
#define DA_DAMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "da_tracepoint.h"

#define DA_DAMON_MAX_TARGETS 4096
#define DA_DAMON_MAX_REGIONS (1u << 20) /* held at a time, of all targets */

struct da_damon;

struct da_damon_region {
	uint64_t start, end;
	uint32_t nr_accesses, age;
};

struct da_damon_target {
	uint32_t kdamond; /* thread id; of a damo record its kdamond_idx */
	uint64_t target_id;
	bool has_age;
	uint64_t records;
	uint64_t snapshots, incomplete; /* complete ones; begun ones that did not become complete */
	uint64_t first_ns,
		last_ns; /* of the ends of complete snapshots; 0: none, or no time known */
	/* Of its complete snapshots: bytes that were accessed at all, what DAMON calls the working set. In order
	 * of size after finish; every `wss_every`-th snapshot, so that they stay bounded. */
	const uint64_t *wss;
	size_t nr_wss;
	uint64_t wss_every;
	uint64_t wss_sum;                      /* of all of them */
	const struct da_damon_region *regions; /* of the last complete snapshot, in address order */
	size_t nr_regions;
};

struct da_damon *da_damon_new(void);    /* NULL: out of memory */
void da_damon_free(struct da_damon *d); /* NULL allowed */
/* The next record in time order. time_ns: 0 if not known. -DA_EDAMAGED: no region, and counted as such (end <=
 * start, no regions at all); -DA_ENOMEM. */
int da_damon_add(struct da_damon *d, uint32_t kdamond, const struct da_tp_damon *r,
		 uint64_t time_ns);
/* Records were lost here: what is begun stays incomplete. */
void da_damon_lost(struct da_damon *d);
/* A target's name becomes another one. False, and nothing changes: that name is taken, or there is no such target
 * (then too, but it is no matter). */
bool da_damon_rename(struct da_damon *d, uint32_t kdamond, uint64_t target_id, uint32_t new_kdamond,
		     uint64_t new_target_id);
/* After the last record; targets are sorted by kdamond and number from now on. */
void da_damon_finish(struct da_damon *d);

size_t da_damon_nr_targets(const struct da_damon *d);
const struct da_damon_target *da_damon_target(const struct da_damon *d,
					      size_t i); /* NULL behind the last */
uint64_t da_damon_damaged(const struct da_damon *d);     /* records that were no region */
uint64_t
da_damon_left_out(const struct da_damon *d); /* targets and snapshots beyond the limits above */

#endif
