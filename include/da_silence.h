/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Did a sampler stop while something else went on? Samples of each (event, CPU) are counted over time, and
 * compared with a reference: the event's own counter, another event on that CPU, the same event on other CPUs.
 *
 * A sampler is silent if, at the ratio of its samples to the reference before its last sample, at least
 * DA_SILENCE_MIN more were due: were they independent, none would come by chance in one case of 10^8.
 * Whether a reference fits (an idle CPU samples nothing, a program may stop to fault) is for the caller to know.
 */
#ifndef DA_SILENCE_H
#define DA_SILENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DA_SILENCE_MIN 20

struct da_silence;

/* For `rows` samplers. NULL: out of memory. */
struct da_silence *da_silence_new(size_t rows);
void da_silence_free(struct da_silence *s); /* NULL allowed */
/* n samples of a row at time_ns (any clock, the same for all); times may go back. */
void da_silence_add(struct da_silence *s, size_t row, uint64_t time_ns, uint64_t n);
/* The row's own counter as it was read at time_ns, and the samples that it had given by then. */
void da_silence_count(struct da_silence *s, size_t row, uint64_t time_ns, uint64_t count,
		      uint64_t samples);

struct da_silence_finding {
	bool silent;
	uint64_t since_ns; /* of its last sample */
	uint64_t samples;  /* it gave before */
	double due;        /* samples that were due since */
};

/* Against the own counter, as read last. */
struct da_silence_finding da_silence_by_counter(const struct da_silence *s, size_t row);
/* Against other rows, summed. */
struct da_silence_finding da_silence_by_rows(const struct da_silence *s, size_t row,
					     const size_t *ref, size_t nr);

#endif
