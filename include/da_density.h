/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segmentation of a sampled density: where along an axis does the rate of samples change? The axis is
 * addresses (regions of equal density) or time (how long a region is as it is).
 *
 * The answer is the piecewise constant rate of greatest Poisson likelihood less a penalty for every piece:
 * Bayesian blocks, with the prior of Scargle et al. 2013 for a false alarm of 5 % and a term for pieces
 * shorter than the mean distance of two samples (doc/regions.md). Pure functions; results are deterministic.
 */
#ifndef DA_DENSITY_H
#define DA_DENSITY_H

#include <stddef.h>
#include <stdint.h>

/* An axis cut into elements; a cut can only be where two of them meet. */
struct da_density_in {
	const uint64_t *edge;  /* nr + 1, ascending: element i is [edge[i], edge[i + 1]) */
	const uint64_t *count; /* nr * nr_events, by element: samples of each event there */
	size_t nr, nr_events;
	double scale; /* of the penalty, to have fewer pieces; 0: 1 */
};

/* Writes the inner cuts, ascending, as numbers of the element that begins there; room for nr - 1. Returns
 * how many, or -DA_ENOMEM. Exact up to 1,024 elements; of more, those cuts are candidates that a piece of 128
 * elements by itself makes, every 32nd, and what a coarser pass finds among them. */
long da_density_cuts(const struct da_density_in *in, size_t *cuts);

/* The penalty of one more piece, for n samples of an event. */
double da_density_penalty(uint64_t n);

#endif
