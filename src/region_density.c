/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Segmentation by dynamic programming (da_density.h): the best cuts of the first j elements are those of the
 * first i and one piece [i, j), for the best i.
 *
 * That costs the square of the number of elements, so a long axis is first brought down to fewer: pieces of
 * it are cut each by itself, and what they cut is all that the next pass may cut. Not here: where the elements
 * come from (match_refine.c).
 */
#include "da_density.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "da_error.h"

#define EXACT 1024 /* so many elements are cut in one pass */
#define PIECE 128
#define ANCHOR                                                                                     \
	32 /* in a piece every so many elements are a candidate too: a slow slope is seen later */
#define LOGS    4096 /* small counts and lengths, which are most, have their logarithm in a table */
#define MANY    64   /* so many elements are worth one */
#define ROUNDED 0.001 /* sums of logarithms may be off by this */

/* P(a uniform density is cut at all) = 5 %, by the fit in Scargle et al. 2013, eq. 21. */
double da_density_penalty(uint64_t n)
{
	return 4 - log(73.53 * 0.05 * pow(n ? (double)n : 1, -0.478));
}

struct axis {
	const struct da_density_in *in;
	uint64_t *sum;   /* (nr + 1) * nr_events: samples before an element */
	double *log_all; /* by event: log of its samples */
	double *logs;    /* NULL: not worth it */
	unsigned unit;   /* lengths are multiples of 1 << unit ... */
	double log_unit; /* ... whose log this is */
	double log_length;
	double penalty;
	double slack; /* by how much one piece may fit better than its two halves */
	uint64_t length;
	/* of the pass under way */
	double *best, *value;
	size_t *from, *begin;
};

static double log_of(const struct axis *a, uint64_t n)
{
	return a->logs && n < LOGS ? a->logs[n] : log((double)n);
}

static double log_of_length(const struct axis *a, uint64_t bytes)
{
	uint64_t n = bytes >> a->unit;

	return a->logs && n < LOGS ? a->logs[n] + a->log_unit : log((double)bytes);
}

/*
 * The log likelihood of one rate over [i, j), against the rate of the whole axis. A piece shorter than the
 * mean distance of samples gets log(distance / length) of it for nothing: any sample is such a piece, wherever
 * it lies. That is taken off, or every lonely sample would be a region.
 */
static double fit(const struct axis *a, size_t i, size_t j)
{
	size_t nr = a->in->nr_events, e;
	const uint64_t *lo = a->sum + i * nr, *hi = a->sum + j * nr;
	double shorter = a->log_length - log_of_length(a, a->in->edge[j] - a->in->edge[i]);
	double sum = 0;

	for (e = 0; e < nr; e++) {
		uint64_t n = hi[e] - lo[e];
		double room = shorter - a->log_all[e]; /* log(mean distance / length) */

		if (!n)
			continue;
		sum += (double)n * (log_of(a, n) + room);
		if (room > 0)
			sum -= room;
	}
	return sum;
}

/*
 * Cuts at[0 .. nr], positions of elements; the inner cuts that are best replace it. Returns the number of
 * pieces left: at[0] and at[pieces] are the ends as before.
 *
 * Two rates never fit worse than one, but for what fit() takes off each: fit(i, k) <= fit(i, j) + fit(j, k) + slack.
 * So an i that is behind best[j] by more than that can begin no best piece beyond j, and is looked at no more
 * (Killick et al. 2012, theorem 3.1).
 */
static size_t cut(struct axis *a, size_t *at, size_t nr)
{
	size_t i, j, k, kept, n = 0, begins = 1;

	a->best[0] = 0;
	a->begin[0] = 0;
	for (j = 1; j <= nr; j++) {
		a->best[j] = -INFINITY;
		for (k = 0; k < begins; k++) {
			i = a->begin[k];
			a->value[k] = a->best[i] + fit(a, at[i], at[j]);
			if (a->value[k] - a->penalty > a->best[j]) {
				a->best[j] = a->value[k] - a->penalty;
				a->from[j] = i;
			}
		}
		for (k = kept = 0; k < begins; k++)
			if (a->value[k] + a->slack >= a->best[j])
				a->begin[kept++] = a->begin[k];
		a->begin[kept] = j;
		begins = kept + 1;
	}
	for (j = nr; j; j = a->from[j])
		n++;
	/* from the back: from[] is read before at[] is overwritten, as k <= j */
	for (i = n, j = nr; j; j = a->from[j])
		a->from[nr + 1 + i--] = at[j];
	for (i = 1; i <= n; i++)
		at[i] = a->from[nr + 1 + i];
	return n;
}

/* One coarser pass over many elements; returns how many are left. */
static size_t thin(struct axis *a, size_t *at, size_t nr)
{
	size_t out = 0, first, piece[PIECE + 1];

	for (first = 0; first < nr; first += PIECE) {
		size_t n = nr - first < PIECE ? nr - first : PIECE, cuts, i, k = 1;

		memcpy(piece, at + first, (n + 1) * sizeof(*piece));
		cuts = cut(a, piece, n);
		/* its own cuts and the anchors, merged; at[out] never passes what is still to be read */
		for (i = 1; i <= n; i++) {
			bool keep = i == n || i % ANCHOR == 0;

			if (k <= cuts && at[first + i] == piece[k]) {
				keep = true;
				k++;
			}
			if (keep)
				at[++out] = at[first + i];
		}
	}
	return out;
}

/* Where cuts are so many that thinning does not help, neighbours are joined two and two, those that lose
 * least by it first: half of them. */
static size_t join(struct axis *a, size_t *at, size_t nr)
{
	size_t i, out = 0;

	for (i = 0; i < nr;) {
		size_t last = i + 3 <= nr ? i + 3 : nr;
		bool second;

		if (last - i < 3) {
			at[++out] = at[last];
			break;
		}
		/* of three elements the two that are more alike */
		second = fit(a, at[i], at[i + 2]) - fit(a, at[i], at[i + 1]) -
				 fit(a, at[i + 1], at[i + 2]) <
			 fit(a, at[i + 1], at[i + 3]) - fit(a, at[i + 1], at[i + 2]) -
				 fit(a, at[i + 2], at[i + 3]);
		at[out + 1] = at[i + (second ? 1 : 2)];
		at[out + 2] = at[i + 3];
		out += 2;
		i += 3;
	}
	return out;
}

static int prepare(struct axis *a)
{
	size_t nr = a->in->nr, events = a->in->nr_events, i, e;
	uint64_t bits = 0, shortest = a->in->edge[1] - a->in->edge[0];

	a->sum = calloc((nr + 1) * events + 1, sizeof(*a->sum));
	a->log_all = calloc(events + 1, sizeof(*a->log_all));
	a->best = calloc(EXACT + 1, sizeof(*a->best));
	a->value = calloc(EXACT + 1, sizeof(*a->value));
	a->from = calloc(2 * (EXACT + 1) + 1, sizeof(*a->from));
	a->begin = calloc(EXACT + 1, sizeof(*a->begin));
	if (!a->sum || !a->log_all || !a->best || !a->value || !a->from || !a->begin)
		return -DA_ENOMEM;
	for (i = 0; i < nr; i++)
		for (e = 0; e < events; e++)
			a->sum[(i + 1) * events + e] =
				a->sum[i * events + e] + a->in->count[i * events + e];
	for (e = 0; e < events; e++) {
		uint64_t n = a->sum[nr * events + e];

		a->log_all[e] = n ? log((double)n) : 0;
		a->penalty += n ? da_density_penalty(n) : 0;
	}
	a->penalty *= a->in->scale > 0 ? a->in->scale : 1;
	for (i = 1; i < nr; i++)
		if (a->in->edge[i + 1] - a->in->edge[i] < shortest)
			shortest = a->in->edge[i + 1] - a->in->edge[i];
	for (i = 1; i < nr; i++)
		bits |= a->in->edge[i] - a->in->edge[0];
	a->length = a->in->edge[nr] - a->in->edge[0];
	a->log_length = log((double)a->length);
	a->slack = ROUNDED;
	for (e = 0; e < events; e++)
		a->slack += 2 * fmax(a->log_length - log((double)shortest) - a->log_all[e], 0);
	bits |= a->length;
	while (a->unit < 63 && !(bits >> a->unit & 1))
		a->unit++;
	a->log_unit = log(ldexp(1, (int)a->unit));
	if (nr < MANY)
		return 0;
	a->logs = calloc(LOGS, sizeof(*a->logs));
	for (i = 1; a->logs && i < LOGS; i++)
		a->logs[i] = log((double)i);
	if (!a->logs)
		return -DA_ENOMEM;
	return 0;
}

static void release(struct axis *a)
{
	free(a->sum);
	free(a->log_all);
	free(a->logs);
	free(a->best);
	free(a->value);
	free(a->from);
	free(a->begin);
}

long da_density_cuts(const struct da_density_in *in, size_t *cuts)
{
	struct axis a = {.in = in};
	size_t *at = NULL, nr = in->nr, i;
	int err;

	if (nr < 2)
		return 0;
	err = prepare(&a);
	if (!err) {
		at = reallocarray(NULL, nr + 1, sizeof(*at));
		err = at ? 0 : -DA_ENOMEM;
	}
	if (err) {
		release(&a);
		return err;
	}
	for (i = 0; i <= nr; i++)
		at[i] = i;
	while (nr > EXACT) {
		size_t before = nr;

		nr = thin(&a, at, nr);
		if (nr > before - before / 4)
			nr = join(&a, at, nr);
	}
	nr = cut(&a, at, nr);
	for (i = 1; i < nr; i++)
		cuts[i - 1] = at[i];
	free(at);
	release(&a);
	return (long)(nr - 1);
}
