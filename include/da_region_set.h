/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A set of disjoint address ranges: built once, frozen, then searched by bisection.
 *
 * Order of calls: init -> add* -> freeze -> find* -> release. A set describes one space and one owner
 * (one address space, or the physical one); nothing here knows which. What is found is a position in the
 * frozen order; tag is the caller's and travels with its range.
 */
#ifndef DA_REGION_SET_H
#define DA_REGION_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DA_REGION_NONE SIZE_MAX

struct da_range {
	uint64_t start, end; /* [start, end), start < end */
	uint64_t tag;
};

struct da_region_set {
	struct da_range *ranges; /* sorted by start after freeze */
	uint64_t *starts;        /* the starts alone: what the bisection touches */
	size_t nr, room;
	bool frozen;
};

static inline void da_region_set_init(struct da_region_set *s)
{
	*s = (struct da_region_set){0};
}

/* Frees all; the set is as after init. */
void da_region_set_release(struct da_region_set *s);
/* 0, -DA_ENOMEM, or -DA_EFORMAT for an empty range. Not after freeze. */
int da_region_set_add(struct da_region_set *s, uint64_t start, uint64_t end, uint64_t tag);
/* Sorts. 0, -DA_ENOMEM, or -DA_EFORMAT when two ranges overlap: such a set stays unfrozen. */
int da_region_set_freeze(struct da_region_set *s);

/* The range that contains addr, or DA_REGION_NONE. The set must be frozen. */
static inline size_t da_region_set_find(const struct da_region_set *s, uint64_t addr)
{
	const uint64_t *base = s->starts;
	size_t n = s->nr, i;

	if (!n || addr < base[0])
		return DA_REGION_NONE;
	/* Invariant: base[0] <= addr, and the answer is among the n from base. No unpredictable branch. */
	while (n > 1) {
		size_t half = n / 2;

		base = base[half] <= addr ? base + half : base;
		n -= half;
	}
	i = (size_t)(base - s->starts);
	return addr < s->ranges[i].end ? i : DA_REGION_NONE;
}

#endif
