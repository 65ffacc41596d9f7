/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The working set of a target of DAMON's: the memory that had accesses, a snapshot, as percentiles over its
 * snapshots; and how hot its memory was in the last one, as percentiles over bytes. Both as damo has them.
 *
 * A percentile's interval is between two snapshots' sizes: of so many snapshots the true one lies there in 95 % of
 * cases, whatever the distribution, if the snapshots were independent (which neighbours are not quite).
 */
#include "render_wss.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "render_format.h"
#include "render_ink.h"

#define Z 1.959963984540054

static const unsigned wss_points[] = {0, 25, 50, 75, 100};
static const unsigned heat_points[] = {0, 1, 25, 50, 75, 99, 100};
#define NR(a) (sizeof(a) / sizeof(*(a)))

struct size {
	bool bounded; /* lo and hi are known */
	uint64_t at, lo, hi;
};

static struct size wss_at(const struct da_damon_target *t, unsigned percent)
{
	double n = (double)t->nr_wss, p = percent / 100.0, half = Z * sqrt(n * p * (1 - p));
	size_t last = t->nr_wss - 1, at = (size_t)(p * (double)last);
	struct size s = {.at = t->wss[at]};
	double lo = floor(n * p - half), hi = ceil(n * p + half);

	/* the first and the last have no other side, and of few snapshots nobody knows */
	s.bounded = percent > 0 && percent < 100 && lo >= 1 && hi <= n;
	if (s.bounded) {
		s.lo = t->wss[(size_t)lo - 1];
		s.hi = t->wss[(size_t)hi - 1];
	}
	return s;
}

static uint64_t average(const struct da_damon_target *t)
{
	return t->snapshots ? t->wss_sum / t->snapshots : 0;
}

/* ---- hot and cold ---- */

/* Cold to hot: not accessed, the longest first; then by accesses, and of equal ones the oldest is the hottest. */
static int by_heat(const void *a, const void *b)
{
	const struct da_damon_region *x = *(const struct da_damon_region *const *)a,
				     *y = *(const struct da_damon_region *const *)b;

	if (x->nr_accesses != y->nr_accesses)
		return x->nr_accesses < y->nr_accesses ? -1 : 1;
	if (x->age != y->age)
		return (x->age > y->age) == !x->nr_accesses ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

/* The region at each of heat_points; false: there is none, or no memory. */
static bool heat_at(const struct da_damon_target *t, const struct da_damon_region **at)
{
	const struct da_damon_region **order;
	uint64_t all = 0, sum = 0;
	size_t i, k = 0;

	order = t->nr_regions ? reallocarray(NULL, t->nr_regions, sizeof(*order)) : NULL;
	if (!order)
		return false;
	for (i = 0; i < t->nr_regions; i++) {
		order[i] = &t->regions[i];
		all += t->regions[i].end - t->regions[i].start;
	}
	qsort(order, t->nr_regions, sizeof(*order), by_heat);
	for (i = 0; i < t->nr_regions; i++) {
		sum += order[i]->end - order[i]->start;
		while (k < NR(heat_points) && (i + 1 == t->nr_regions ||
					       (double)sum > (double)all * heat_points[k] / 100.0))
			at[k++] = order[i];
	}
	free(order);
	return true;
}

/* ---- output ---- */

void render_wss_json(struct da_json_out *w, const struct da_damon_target *t)
{
	const struct da_damon_region *at[NR(heat_points)];
	size_t i;

	da_json_object(w, "wss");
	da_json_u64(w, "snapshots", t->snapshots);
	da_json_u64(w, "avr", average(t));
	da_json_array(w, "percentiles");
	for (i = 0; i < NR(wss_points) && t->nr_wss; i++) {
		struct size s = wss_at(t, wss_points[i]);

		da_json_flat_object(w, NULL);
		da_json_u64(w, "percentile", wss_points[i]);
		da_json_u64(w, "bytes", s.at);
		da_json_measured(w, "from", s.bounded ? (int64_t)s.lo : -1);
		da_json_measured(w, "to", s.bounded ? (int64_t)s.hi : -1);
		da_json_close(w);
	}
	da_json_close(w);
	da_json_close(w);
	da_json_array(w, "hot_cold");
	for (i = 0; heat_at(t, at) && i < NR(heat_points); i++) {
		da_json_flat_object(w, NULL);
		da_json_u64(w, "percentile", heat_points[i]);
		da_json_u64(w, "nr_accesses", at[i]->nr_accesses);
		if (t->has_age)
			da_json_u64(w, "age", at[i]->age);
		else
			da_json_null(w, "age");
		da_json_close(w);
	}
	da_json_close(w);
}

static void head(FILE *f, const struct da_render_opts *o, const char *what, const unsigned *points,
		 size_t nr, int columns)
{
	ink(f, o, INK_DIM);
	fprintf(f, "  %-22s", what);
	for (size_t i = 0; i < nr; i++)
		fprintf(f, " %*u", columns, points[i]);
	ink(f, o, INK_NONE);
	fputc('\n', f);
}

void render_wss_text(FILE *f, const struct da_damon_target *t, const struct da_render_opts *o)
{
	const struct da_damon_region *at[NR(heat_points)];
	struct size s[NR(wss_points)];
	char a[WORD];
	bool any = false;
	size_t i;

	if (!t->nr_wss)
		return;
	for (i = 0; i < NR(wss_points); i++) {
		s[i] = wss_at(t, wss_points[i]);
		any |= s[i].bounded;
	}
	head(f, o, "wss, percentile", wss_points, NR(wss_points), 9);
	fprintf(f, "  avr %-18s", format_bytes(a, average(t)));
	for (i = 0; i < NR(wss_points); i++)
		fprintf(f, " %9s", format_bytes(a, s[i].at));
	fputc('\n', f);
	for (int side = 0; any && side < 2; side++) {
		fprintf(f, "  %-22s", side ? "                to" : "95 % interval from");
		for (i = 0; i < NR(wss_points); i++)
			fprintf(f, " %9s",
				s[i].bounded ? format_bytes(a, side ? s[i].hi : s[i].lo) : "-");
		fputc('\n', f);
	}
	if (!heat_at(t, at))
		return;
	head(f, o, "memory, cold to hot", heat_points, NR(heat_points), 7);
	fprintf(f, "  %-22s", "nr_accesses");
	for (i = 0; i < NR(heat_points); i++)
		fprintf(f, " %7" PRIu32, at[i]->nr_accesses);
	fputc('\n', f);
	if (!t->has_age)
		return;
	fprintf(f, "  %-22s", "age");
	for (i = 0; i < NR(heat_points); i++)
		fprintf(f, " %7" PRIu32, at[i]->age);
	fputc('\n', f);
}
