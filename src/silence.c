/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samplers that stopped (da_silence.h): counts in a fixed number of time buckets, whose width doubles when the
 * run outgrows them. It decides by numbers alone; which reference fits is verdict and session business.
 */
#include "da_silence.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS  256
#define WIDTH_NS 1000000 /* at first */

struct own {
	uint64_t count, samples; /* when they were read last */
	uint64_t base_count;     /* at the first reading after the last sample */
	uint64_t base_ns;
	bool read;
};

struct row {
	uint64_t n[BUCKETS];
	uint64_t total, last_ns;
	struct own own;
};

struct da_silence {
	size_t rows;
	uint64_t start, width;
	bool begun;
	struct row row[];
};

struct da_silence *da_silence_new(size_t rows)
{
	struct da_silence *s;

	if (rows > SIZE_MAX / sizeof(s->row[0]) - 1)
		return NULL;
	s = calloc(1, sizeof(*s) + rows * sizeof(s->row[0]));
	if (s) {
		s->rows = rows;
		s->width = WIDTH_NS;
	}
	return s;
}

void da_silence_free(struct da_silence *s)
{
	free(s);
}

static void widen(struct da_silence *s)
{
	for (size_t i = 0; i < s->rows; i++) {
		uint64_t *n = s->row[i].n;

		for (size_t k = 0; k < BUCKETS / 2; k++)
			n[k] = n[2 * k] + n[2 * k + 1];
		memset(&n[BUCKETS / 2], 0, BUCKETS / 2 * sizeof(*n));
	}
	s->width *= 2;
}

/* What came before the first of all counts as of then. */
static size_t bucket_of(struct da_silence *s, uint64_t time_ns)
{
	if (!s->begun) {
		s->start = time_ns;
		s->begun = true;
	}
	if (time_ns < s->start)
		return 0;
	while ((time_ns - s->start) / s->width >= BUCKETS)
		widen(s);
	return (size_t)((time_ns - s->start) / s->width);
}

void da_silence_add(struct da_silence *s, size_t row, uint64_t time_ns, uint64_t n)
{
	struct row *r = &s->row[row];

	if (!n)
		return;
	r->n[bucket_of(s, time_ns)] += n;
	r->total += n;
	if (time_ns > r->last_ns)
		r->last_ns = time_ns;
}

void da_silence_count(struct da_silence *s, size_t row, uint64_t time_ns, uint64_t count,
		      uint64_t samples)
{
	struct own *o = &s->row[row].own;

	if (!o->read || samples != o->samples) {
		o->base_count = count;
		o->base_ns = time_ns;
	}
	o->read = true;
	o->samples = samples;
	o->count = count;
}

struct da_silence_finding da_silence_by_counter(const struct da_silence *s, size_t row)
{
	const struct own *o = &s->row[row].own;
	struct da_silence_finding f = {.since_ns = o->base_ns, .samples = o->samples};

	if (!o->read || !o->samples || !o->base_count || o->count < o->base_count)
		return f;
	f.due = (double)(o->count - o->base_count) * (double)o->samples / (double)o->base_count;
	f.silent = f.due >= DA_SILENCE_MIN;
	return f;
}

struct da_silence_finding da_silence_by_rows(const struct da_silence *s, size_t row,
					     const size_t *ref, size_t nr)
{
	const struct row *r = &s->row[row];
	struct da_silence_finding f = {.since_ns = r->last_ns, .samples = r->total};
	uint64_t before = 0, after = 0;
	size_t last;

	if (!r->total)
		return f;
	last = r->last_ns < s->start ? 0 : (size_t)((r->last_ns - s->start) / s->width);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < BUCKETS; k++) {
			if (k <= last)
				before += s->row[ref[i]].n[k];
			else
				after += s->row[ref[i]].n[k];
		}
	}
	/* a ratio from a handful of samples says nothing */
	if (r->total < DA_SILENCE_MIN || before < DA_SILENCE_MIN)
		return f;
	f.due = (double)after * (double)r->total / (double)before;
	f.silent = f.due >= DA_SILENCE_MIN;
	return f;
}
