/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How well do regions tell where the accesses went? Streams of samples whose truth is known exactly go through
 * DAMON's algorithm, density and fixed regions; printed are the number of regions, the error against the truth
 * (total variation over pages: the share of accesses that are put at a wrong place) and the CPU time.
 *
 * Everything is deterministic but the CPU times. regions.sh says how it is built.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "da_adapt.h"
#include "da_match.h"
#include "da_task.h"

#define PAGES   16384 /* 64 MiB */
#define PAGE    4096ull
#define BASE    0x7f0000000000ull
#define SECONDS 20
#define PERIOD  250000ull /* ns between two samples */
#define SAMPLES (SECONDS * 1000000000ull / PERIOD)
#define WINDOWS 10
#define FIXED   (2048ull * 1024) /* 32 regions */
#define SETTLED 5                /* DAMON's first snapshots are not held against it */

/* A hot range in a uniform background; or a table of pages. */
struct where {
	double hot_share;
	size_t hot_start, hot_pages;
	const double *table; /* cumulated */
};

struct workload {
	const char *name;
	struct where (*at)(double t); /* t: 0 to 1 */
};

static double zipf_sum[PAGES], shuffled_sum[PAGES];

static struct where hotcold(double t)
{
	(void)t;
	return (struct where){.hot_share = 0.9, .hot_start = 5000, .hot_pages = PAGES / 16};
}

static struct where stairs(double t)
{
	size_t step = (size_t)(t * 10);

	return (struct where){.hot_share = 0.95,
			      .hot_start = (step < 10 ? step : 9) * (PAGES / 10),
			      .hot_pages = PAGES / 10};
}

/* A narrow front that goes up and down three times. */
static struct where zigzag(double t)
{
	double phase = fmod(t * 6, 2), up = phase < 1 ? phase : 2 - phase;
	size_t width = PAGES / 32;

	return (struct where){.hot_share = 0.98,
			      .hot_start = (size_t)(up * (double)(PAGES - width)),
			      .hot_pages = width};
}

static struct where drift(double t)
{
	size_t width = PAGES / 16;

	return (struct where){.hot_share = 0.9,
			      .hot_start = (size_t)(t * (double)(PAGES / 2)),
			      .hot_pages = width};
}

static struct where zipf(double t)
{
	(void)t;
	return (struct where){.table = zipf_sum};
}

static struct where shuffled(double t)
{
	(void)t;
	return (struct where){.table = shuffled_sum};
}

static const struct workload workloads[] = {
	{"hotcold", hotcold}, {"stairs", stairs}, {"zigzag", zigzag},
	{"drift", drift},     {"zipf", zipf},     {"zipf-mixed", shuffled},
};
#define NR_WORKLOADS (sizeof(workloads) / sizeof(*workloads))

/* ---- streams ---- */

static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static double unit(void)
{
	return (double)(next() >> 11) / 9007199254740992.0;
}

/* Ranks in order of addresses; and the same in blocks of 16 pages that lie anywhere. */
static void make_tables(void)
{
	static size_t block[PAGES / 16];
	static double p[PAGES];
	double sum = 0, run = 0;
	size_t i;

	for (i = 0; i < PAGES; i++)
		sum += 1.0 / (double)(i + 1);
	for (i = 0; i < PAGES; i++) {
		run += 1.0 / (double)(i + 1) / sum;
		zipf_sum[i] = run;
	}
	for (i = 0; i < PAGES / 16; i++)
		block[i] = i;
	for (i = PAGES / 16 - 1; i; i--) {
		size_t k = next() % (i + 1), b = block[i];

		block[i] = block[k];
		block[k] = b;
	}
	for (i = 0; i < PAGES; i++)
		p[block[i / 16] * 16 + i % 16] = 1.0 / (double)(i / 16 + 1);
	for (i = 0, sum = 0; i < PAGES; i++)
		sum += p[i];
	for (i = 0, run = 0; i < PAGES; i++) {
		run += p[i] / sum;
		shuffled_sum[i] = run;
	}
}

static size_t pick(const struct where *w)
{
	double u = unit();
	size_t lo = 0, n = PAGES;

	if (!w->table)
		return u < w->hot_share ? w->hot_start + next() % w->hot_pages : next() % PAGES;
	while (n > 1) { /* the first page whose sum reaches u */
		size_t half = n / 2;

		if (w->table[lo + half - 1] < u)
			lo += half;
		n -= half;
	}
	return lo;
}

/* The probability of each page, averaged over a time. */
static void add_truth(double *truth, const struct where *w, double weight)
{
	size_t i;

	if (w->table) {
		for (i = 0; i < PAGES; i++)
			truth[i] += weight * (w->table[i] - (i ? w->table[i - 1] : 0));
		return;
	}
	for (i = 0; i < PAGES; i++)
		truth[i] += weight * (1 - w->hot_share) / PAGES;
	for (i = 0; i < w->hot_pages; i++)
		truth[w->hot_start + i] += weight * w->hot_share / (double)w->hot_pages;
}

struct stream {
	uint32_t page[SAMPLES];
	double truth[WINDOWS][PAGES], all[PAGES];
};

static void make_stream(struct stream *s, const struct workload *w)
{
	const size_t steps = 2000;
	size_t i, k;

	memset(s, 0, sizeof(*s));
	seed = 88172645463325252;
	for (i = 0; i < SAMPLES; i++) {
		struct where at = w->at(((double)i + 0.5) / SAMPLES);

		s->page[i] = (uint32_t)pick(&at);
	}
	for (i = 0; i < steps; i++) {
		struct where at = w->at(((double)i + 0.5) / (double)steps);

		add_truth(s->truth[i * WINDOWS / steps], &at, (double)WINDOWS / (double)steps);
	}
	for (i = 0; i < WINDOWS; i++)
		for (k = 0; k < PAGES; k++)
			s->all[k] += s->truth[i][k] / WINDOWS;
}

/* ---- results ---- */

/* Estimated mass of pages, and how many regions told it. */
struct estimate {
	double mass[PAGES];
	double regions;
};

static double error_of(const struct estimate *e, const double *truth)
{
	double sum = 0, tv = 0;
	size_t i;

	for (i = 0; i < PAGES; i++)
		sum += e->mass[i];
	for (i = 0; i < PAGES; i++)
		tv += fabs((sum > 0 ? e->mass[i] / sum : 0) - truth[i]);
	return tv / 2;
}

static void spread(struct estimate *e, uint64_t start, uint64_t end, double mass)
{
	size_t first = (size_t)((start - BASE) / PAGE), last = (size_t)((end - BASE) / PAGE), i;

	for (i = first; i < last; i++)
		e->mass[i] += mass / (double)(last - first);
}

/* ---- density and fixed: the match layer, as report uses it ---- */

static void by_match(const struct stream *s, size_t first, size_t end, enum da_regions how,
		     size_t max, struct estimate *e)
{
	struct da_rec_mmap map = {.pid = 1,
				  .tid = 1,
				  .addr = BASE,
				  .len = PAGES * PAGE,
				  .prot = PROT_READ | PROT_WRITE,
				  .flags = MAP_PRIVATE,
				  .has_prot = true,
				  .filename = "//anon"};
	struct da_match_opts o = {.virt = true,
				  .nr_events = 1,
				  .accumulate = true,
				  .regions = how,
				  .fixed_bytes = FIXED,
				  .max_regions = max};
	struct da_tasks *tasks = da_tasks_new();
	struct da_match *m;
	const struct da_space *space;
	size_t i;

	memset(e, 0, sizeof(*e));
	if (!tasks || da_tasks_mmap(tasks, &map, 0))
		exit(1);
	m = da_match_new(&o, tasks);
	if (!m)
		exit(1);
	for (i = first; i < end; i++) {
		struct da_report r = {.has = DA_HAS_TIME | DA_HAS_TASK | DA_HAS_VADDR,
				      .pid = 1,
				      .tid = 1,
				      .vaddr = BASE + s->page[i] * PAGE,
				      .time_ns = i * PERIOD};

		da_match_report(m, &r);
	}
	if (da_match_finish(m))
		exit(1);
	space = da_match_space(m, 0);
	e->regions = (double)space->nr_regions;
	for (i = 0; i < space->nr_regions; i++)
		if (space->regions[i].nr_by_event)
			spread(e, space->regions[i].start, space->regions[i].end,
			       (double)space->regions[i].by_event[0].samples);
	da_match_free(m);
	da_tasks_free(tasks);
}

/* ---- damon ---- */

/* nr_accesses read in two ways: as the frequency of each byte (as DAMON means it, who looks at one page of the
 * region) and as that of the region. The better one counts. */
struct damon {
	struct estimate byte[WINDOWS], region[WINDOWS], byte_all, region_all;
	size_t snapshots[WINDOWS], all;
};

static void take(void *ctx, uint64_t start_ns, uint64_t end_ns, const struct da_adapt_region *r,
		 size_t nr)
{
	struct damon *d = ctx;
	size_t w = (size_t)((start_ns + end_ns) / 2 * WINDOWS / (SECONDS * 1000000000ull)), i;

	if (w >= WINDOWS)
		return;
	for (i = 0; i < nr; i++) {
		double n = r[i].nr_accesses, pages = (double)(r[i].end - r[i].start) / PAGE;

		spread(&d->byte[w], r[i].start, r[i].end, n * pages);
		spread(&d->region[w], r[i].start, r[i].end, n);
		if (d->all < SETTLED)
			continue;
		spread(&d->byte_all, r[i].start, r[i].end, n * pages);
		spread(&d->region_all, r[i].start, r[i].end, n);
	}
	d->byte[w].regions += (double)nr;
	d->byte_all.regions += (double)nr;
	d->snapshots[w]++;
	d->all++;
}

struct result {
	double regions, all, window, cpu_ms;
};

static double cpu(void)
{
	return (double)clock() * 1000 / CLOCKS_PER_SEC;
}

static double lower(double a, double b)
{
	return a < b ? a : b;
}

/* counted: as report shows them, our samples counted in the last snapshot's regions. */
static void run_damon(const struct stream *s, struct result *plain, struct result *counted)
{
	static struct damon d;
	struct estimate *e = calloc(1, sizeof(*e));
	struct da_adapt_range range = {BASE, BASE + PAGES * PAGE};
	struct da_adapt *a = da_adapt_new(&da_adapt_defaults, 0, take, &d);
	const struct da_adapt_region *last;
	double before = cpu(), byte = 0, region = 0;
	size_t i, k, nr;

	memset(&d, 0, sizeof(d));
	if (!a || !e)
		exit(1);
	for (i = 0; i < SAMPLES; i++) {
		if (da_adapt_wants_ranges(a, i * PERIOD) && da_adapt_ranges(a, &range, 1))
			exit(1);
		if (da_adapt_access(a, i * PERIOD, BASE + s->page[i] * PAGE))
			exit(1);
	}
	if (da_adapt_finish(a, SAMPLES * PERIOD))
		exit(1);
	plain->cpu_ms = counted->cpu_ms = cpu() - before; /* with the sums of this bench */
	plain->regions = d.byte_all.regions / (double)d.all;
	plain->all = lower(error_of(&d.byte_all, s->all), error_of(&d.region_all, s->all));
	for (i = 0; i < WINDOWS; i++) {
		byte += error_of(&d.byte[i], s->truth[i]) / WINDOWS;
		region += error_of(&d.region[i], s->truth[i]) / WINDOWS;
	}
	plain->window = lower(byte, region);
	last = da_adapt_regions(a, &nr);
	counted->regions = (double)nr;
	for (i = 0; i < SAMPLES; i++)
		e->mass[s->page[i]]++;
	for (k = 0; k < nr; k++) {
		size_t first = (size_t)((last[k].start - BASE) / PAGE),
		       end = (size_t)((last[k].end - BASE) / PAGE);
		double sum = 0;

		for (i = first; i < end; i++)
			sum += e->mass[i];
		for (i = first; i < end; i++)
			e->mass[i] = sum / (double)(end - first);
	}
	counted->all = error_of(e, s->all);
	counted->window = NAN;
	da_adapt_free(a);
	free(e);
}

static void run_match(const struct stream *s, enum da_regions how, size_t max, struct result *r)
{
	struct estimate *e = calloc(1, sizeof(*e));
	double before = cpu();
	size_t w;

	if (!e)
		exit(1);
	by_match(s, 0, SAMPLES, how, max, e);
	r->cpu_ms = cpu() - before;
	r->regions = e->regions;
	r->all = error_of(e, s->all);
	r->window = 0;
	for (w = 0; w < WINDOWS; w++) {
		by_match(s, w * SAMPLES / WINDOWS, (w + 1) * SAMPLES / WINDOWS, how, max, e);
		r->window += error_of(e, s->truth[w]) / WINDOWS;
	}
	free(e);
}

/* The least that any regions could have: the truth itself, sampled so often, told page by page. */
static void run_pages(const struct stream *s, struct result *r)
{
	struct estimate *e = calloc(1, sizeof(*e));

	if (!e)
		exit(1);
	for (size_t i = 0; i < SAMPLES; i++)
		e->mass[s->page[i]]++;
	r->regions = PAGES;
	r->all = error_of(e, s->all);
	r->window = NAN;
	r->cpu_ms = NAN;
	free(e);
}

static void put(const char *workload, const char *name, const struct result *r)
{
	printf("%-11s %-14s %8.0f %9.1f", workload, name, r->regions, 100 * r->all);
	if (isnan(r->window))
		printf(" %9s", "-");
	else
		printf(" %9.1f", 100 * r->window);
	if (isnan(r->cpu_ms))
		printf(" %8s\n", "-");
	else
		printf(" %8.1f\n", r->cpu_ms);
}

int main(void)
{
	struct stream *s = calloc(1, sizeof(*s));
	size_t i, better = 0;

	if (!s)
		return 1;
	seed = 12345;
	make_tables();
	printf("%llu samples in %d s over %d pages; error: total variation against the truth, %%, of the whole\n"
	       "run and of windows of %d s; regions: of the whole run, of damon the mean of its snapshots\n\n",
	       (unsigned long long)SAMPLES, SECONDS, PAGES, SECONDS / WINDOWS);
	printf("%-11s %-14s %8s %9s %9s %8s\n", "WORKLOAD", "REGIONS BY", "REGIONS", "ERROR%",
	       "WINDOWS%", "CPU ms");
	for (i = 0; i < NR_WORKLOADS; i++) {
		struct result damon, counted, density, bounded, fixed, pages;
		const char *name = workloads[i].name;
		bool wins;

		make_stream(s, &workloads[i]);
		run_damon(s, &damon, &counted);
		run_match(s, DA_REGIONS_DENSITY, 0, &density);
		bounded = density;
		if (density.regions > damon.regions)
			run_match(s, DA_REGIONS_DENSITY, (size_t)damon.regions, &bounded);
		run_match(s, DA_REGIONS_FIXED, 0, &fixed);
		run_pages(s, &pages);
		put(name, "damon", &damon);
		put("", "damon, counted", &counted);
		put("", "density", &density);
		if (density.regions > damon.regions)
			put("", "density:max=", &bounded);
		put("", "fixed", &fixed);
		put("", "(each page)", &pages);
		wins = bounded.all < damon.all && bounded.all < counted.all &&
		       bounded.window < damon.window && bounded.regions <= damon.regions;
		better += wins;
	}
	printf("\ndensity has lower errors than damon at equal or fewer regions on %zu of %zu workloads\n",
	       better, NR_WORKLOADS);
	free(s);
	return 0;
}
