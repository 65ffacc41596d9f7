/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DAMON's region adaptation in user space: what its kdamond would have made of the accesses that were recorded,
 * over the recording's time. Regions are split at random, merged where they are accessed alike, and have an age.
 *
 * One set per address space. Order of calls: new -> ranges -> (access | ranges)* in order of time -> finish. All
 * is integer arithmetic but for the splits, whose generator is seeded: equal input gives equal regions.
 *
 * Where it differs from the kernel: a region counts as accessed in a sampling interval if any report of it
 * falls inside, not one page that was chosen before; and when nothing is reported for more than 1,000
 * aggregations, the rest of them only age the regions.
 */
#ifndef DA_ADAPT_H
#define DA_ADAPT_H

#include <stddef.h>
#include <stdint.h>

struct da_adapt_opts {
	uint32_t min, max;  /* regions; 10, 1000 */
	uint64_t sample_ns; /* sampling interval; 5 ms */
	uint64_t aggr_ns;   /* aggregation interval; 100 ms */
	uint64_t update_ns; /* how often the owner gives the ranges anew; 1 s */
	uint64_t seed;      /* of the splits */
};

extern const struct da_adapt_opts da_adapt_defaults;

#define DA_ADAPT_MAX_REGIONS 100000
/* Are these usable? min >= 3, max > min and within the limit above, sample <= aggr <= update, none 0. */
int da_adapt_check(const struct da_adapt_opts *o);

struct da_adapt_range {
	uint64_t start, end;
};

struct da_adapt_region {
	uint64_t start, end;
	uint32_t
		nr_accesses; /* sampling intervals of the last aggregation in which it was accessed */
	uint32_t age;        /* aggregations */
	/* private */
	uint32_t now, before; /* of the aggregation under way; of the last one */
	uint64_t sampled;     /* the last sampling interval in which it was accessed, + 1 */
};

struct da_adapt;

/* At the end of each aggregation: all regions in address order, as DAMON publishes them. */
typedef void (*da_adapt_fn)(void *ctx, uint64_t start_ns, uint64_t end_ns,
			    const struct da_adapt_region *r, size_t nr);

/* Time begins at start_ns. snapshot may be NULL. NULL: out of memory. */
struct da_adapt *da_adapt_new(const struct da_adapt_opts *o, uint64_t start_ns,
			      da_adapt_fn snapshot, void *ctx);
void da_adapt_free(struct da_adapt *a);
/* Three ranges around all mappings (sorted, disjoint), without their two biggest gaps: what DAMON watches of
 * an address space. Returns their number: 3, or 0 where there are no two gaps. */
size_t da_adapt_three(const struct da_adapt_range *maps, size_t nr, struct da_adapt_range out[3]);
/* What is watched from now on, sorted and disjoint: at first, and when mappings changed. 0 or -DA_ENOMEM. */
int da_adapt_ranges(struct da_adapt *a, const struct da_adapt_range *r, size_t nr);
/* True when the owner should give the ranges anew before an access at this time. */
int da_adapt_wants_ranges(const struct da_adapt *a, uint64_t time_ns);
/* An access; one in the past counts now. 0 or -DA_ENOMEM. */
int da_adapt_access(struct da_adapt *a, uint64_t time_ns, uint64_t addr);
/* Lets time pass up to end_ns: the last regions are those of the last whole aggregation. 0 or -DA_ENOMEM. */
int da_adapt_finish(struct da_adapt *a, uint64_t end_ns);
/* The last whole aggregation's regions, in address order; valid until the next call. */
const struct da_adapt_region *da_adapt_regions(const struct da_adapt *a, size_t *nr);
uint64_t da_adapt_aggregations(const struct da_adapt *a);

#endif
