/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs a workload of known truth: maps the ranges, starts the threads, hands the loops their turns and adds
 * up what they did. It does not parse, print or fork.
 *
 * A thread takes turns of TURN_OPS accesses to one range and notes after each turn what it did, in memory
 * of its own. It looks at the clock every CLOCK_OPS accesses, the first thread also for a signal that
 * waits (stop.h): no system call in a turn.
 *
 * Every pattern but WL_TOUCH first stores once to each page (a chase: to each line), so that its loop
 * causes no fault and the number of faults is known exactly.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "stop.h"
#include "workload.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA           0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

#define TURN_OPS       1024u
#define CLOCK_OPS      65536u
#define HOT_PCT        90
#define STAIRS         8  /* steps of WL_STAIRS */
#define ZIGZAG_WINDOWS 16 /* the window of WL_ZIGZAG is this part of the range */
#define ZIGZAG_TEETH   2  /* times up and down */

/* What one thread did to one range. */
struct tally {
	volatile uint64_t *at; /* WL_CHASE: where the chase has come to */
	uint64_t pos;          /* WL_SEQ: next word */
	uint64_t loads, stores, pages, faults;
};

struct crew;

struct worker {
	struct crew *crew;
	uint32_t index;
	pthread_t thread;
	struct wl_stream stream;
	struct tally *tallies; /* one per range */
	uint64_t ops_max;      /* its part of config.ops; UINT64_MAX: no limit */
	uint64_t start_ns, end_ns;
	int sys; /* errno of what stopped it, 0 none */
};

enum gate { GATE_SHUT, GATE_OPEN, GATE_GIVE_UP };

struct crew {
	struct wl_run *run;
	uint64_t *zipf_upto; /* WL_ZIPF: range i is meant by random numbers up to zipf_upto[i] */
	struct worker *workers;
	pthread_barrier_t touched; /* all have made their first touches */
	pthread_mutex_t lock;      /* guards gate */
	pthread_cond_t moved;
	enum gate gate;
	atomic_bool stop;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static volatile uint64_t *range_words(const struct wl_range *r)
{
	return (volatile uint64_t *)(uintptr_t)r->start;
}

/* The weights that a pattern aims at. */
static void set_weights(struct wl_run *run)
{
	const uint32_t n = run->config.nr_ranges;
	double sum = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		double w = 1.0;

		if (run->config.pattern == WL_ZIPF)
			w = 1.0 / (i + 1);
		else if (run->config.pattern == WL_HOTCOLD)
			w = i == 0 ? HOT_PCT : (100.0 - HOT_PCT) / (n - 1);
		run->ranges[i].weight = w;
		sum += w;
	}
	for (i = 0; i < n; i++)
		run->ranges[i].weight /= sum;
}

int wl_run_init(struct wl_run *run, const struct wl_config *config, struct da_error *err)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t size = (size_t)config->size_bytes;
	uint32_t i;

	*run = (struct wl_run){.config = *config, .page_bytes = page};
	run->ranges = calloc(config->nr_ranges, sizeof(*run->ranges));
	if (!run->ranges)
		return da_fail(err, DA_ENOMEM, 0, "no memory for %u ranges", config->nr_ranges);

	for (i = 0; i < config->nr_ranges; i++) {
		struct wl_range *r = &run->ranges[i];
		char *all = mmap(NULL, size + 2 * page, PROT_NONE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		char *p;

		snprintf(r->name, sizeof(r->name), "da-workload-%u", i);
		if (all == MAP_FAILED)
			return da_fail(err, DA_EIO, errno, "cannot map range %u of %zu bytes", i,
				       size);
		/* A second mapping over the middle, not mprotect(): one record of exactly this range. */
		p = mmap(all + page, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		if (p == MAP_FAILED) {
			int sys = errno;

			munmap(all, size + 2 * page);
			return da_fail(err, DA_EIO, sys, "cannot map range %u of %zu bytes", i,
				       size);
		}
		r->start = (uint64_t)(uintptr_t)p;
		r->end = r->start + size;
		/* Without huge pages a first touch is a fault for each page. A kernel without THP refuses: fine. */
		(void)madvise(p, size, MADV_NOHUGEPAGE);
		(void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, p, size, r->name);
	}
	set_weights(run);
	return 0;
}

void wl_run_release(struct wl_run *run)
{
	uint32_t i;

	for (i = 0; run->ranges && i < run->config.nr_ranges && run->ranges[i].start; i++) {
		const struct wl_range *r = &run->ranges[i];

		munmap((void *)(uintptr_t)(r->start - run->page_bytes),
		       (size_t)(r->end - r->start + 2 * run->page_bytes));
	}
	free(run->ranges);
	*run = (struct wl_run){0};
}

/* True when the worker shall end: past its time, or a signal came, which the first worker looks for. */
static bool time_is_up(struct worker *w, uint64_t *elapsed_ns)
{
	struct wl_run *run = w->crew->run;

	*elapsed_ns = now_ns() - w->start_ns;
	if (w->index == 0 && stop_asked(run->config.stop)) {
		run->signalled = true;
		atomic_store(&w->crew->stop, true);
	}
	if (run->config.duration_ns && *elapsed_ns >= run->config.duration_ns)
		return true;
	return atomic_load(&w->crew->stop);
}

/* The part of a range that is worker w's to touch first, in pages from its start. */
static void slice_of(const struct worker *w, uint64_t *first, uint64_t *count)
{
	const struct wl_run *run = w->crew->run;
	const uint64_t pages = run->config.size_bytes / run->page_bytes;
	const uint64_t nr = run->config.nr_threads;

	*first = pages * w->index / nr;
	*count = pages * (w->index + 1) / nr - *first;
}

/* Does each thread have ranges of its own? */
static bool own_ranges(const struct wl_config *c)
{
	return c->pattern == WL_SPLIT && c->nr_ranges >= c->nr_threads;
}

/* Stores to each page of the worker's part of every range. */
static void touch_all(struct worker *w)
{
	const struct wl_run *run = w->crew->run;
	const uint64_t page_words = run->page_bytes / sizeof(uint64_t);
	struct wl_stream all_stores = {.writes_pct = 100};
	uint64_t first, count;
	uint32_t i;

	slice_of(w, &first, &count);
	if (own_ranges(&run->config)) {
		first = 0;
		count = run->config.size_bytes / run->page_bytes;
	}
	for (i = 0; i < run->config.nr_ranges; i++) {
		uint64_t pos = 0;

		if (own_ranges(&run->config) && i % run->config.nr_threads != w->index)
			continue;

		wl_loop_step(range_words(&run->ranges[i]) + first * page_words, count * page_words,
			     page_words, &pos, count, &all_stores);
		w->tallies[i].stores += count;
		w->tallies[i].pages += count;
		w->tallies[i].faults += count;
	}
}

/* WL_TOUCH: round after round over the worker's part of every range, giving the pages back in between. */
static void touch_rounds(struct worker *w)
{
	const struct wl_run *run = w->crew->run;
	const uint64_t page_words = run->page_bytes / sizeof(uint64_t);
	uint64_t first, count, round, left = w->ops_max, elapsed;
	uint32_t i;

	slice_of(w, &first, &count);
	if (!count)
		return;
	for (round = 0; !run->config.repeat || round < run->config.repeat; round++) {
		for (i = 0; i < run->config.nr_ranges; i++) {
			volatile uint64_t *base = range_words(&run->ranges[i]) + first * page_words;
			struct tally *t = &w->tallies[i];
			uint64_t pos = 0, done = 0;

			if (round && madvise((void *)(uintptr_t)base,
					     (size_t)(count * run->page_bytes), MADV_DONTNEED)) {
				w->sys = errno;
				return;
			}
			while (done < count) {
				uint64_t n = count - done < TURN_OPS ? count - done : TURN_OPS;
				uint64_t stores;

				if (left == 0 || time_is_up(w, &elapsed))
					return;
				if (n > left)
					n = left;
				stores = wl_loop_step(base, count * page_words, page_words, &pos, n,
						      &w->stream);
				done += n;
				left -= n;
				t->stores += stores;
				t->loads += n - stores;
				t->faults += n;
				if (done > t->pages)
					t->pages = done;
			}
		}
	}
}

/* The range of the next turn. */
static uint32_t choose_range(struct worker *w, uint64_t turn)
{
	const struct wl_config *c = &w->crew->run->config;
	uint64_t x;
	uint32_t i = 0;

	if (own_ranges(c)) {
		uint32_t own = (c->nr_ranges - w->index - 1) / c->nr_threads + 1;

		return w->index + (uint32_t)(turn % own) * c->nr_threads;
	}
	if (c->pattern != WL_HOTCOLD && c->pattern != WL_ZIPF)
		return (uint32_t)(turn % c->nr_ranges);
	x = w->stream.rng = wl_random_next(w->stream.rng);
	if (c->pattern == WL_HOTCOLD) {
		if (wl_below(x, 100) < HOT_PCT)
			return 0;
		w->stream.rng = wl_random_next(x);
		return 1 + (uint32_t)wl_below(w->stream.rng, c->nr_ranges - 1);
	}
	while (i < c->nr_ranges - 1 && x > w->crew->zipf_upto[i])
		i++;
	return i;
}

/* The window of a pattern that moves: `done` (0 to 1) of the run is over. */
static void window_of(enum wl_pattern pattern, double done, uint64_t words, uint64_t *first,
		      uint64_t *count)
{
	if (pattern == WL_STAIRS) {
		uint64_t step = (uint64_t)(done * STAIRS);

		if (step >= STAIRS)
			step = STAIRS - 1;
		*count = words / STAIRS;
		*first = step * *count;
	} else {
		double x = done * 2 * ZIGZAG_TEETH; /* even: at the bottom, odd: at the top */

		x -= 2.0 * (double)(uint64_t)(x / 2);
		if (x > 1)
			x = 2 - x;
		*count = words / ZIGZAG_WINDOWS;
		*first = (uint64_t)(x * (double)(words - *count));
	}
}

/* One turn: n accesses to range i. */
static uint64_t take_turn(struct worker *w, uint32_t i, uint64_t n, double done)
{
	const struct wl_run *run = w->crew->run;
	const uint64_t words = run->config.size_bytes / sizeof(uint64_t);
	volatile uint64_t *base = range_words(&run->ranges[i]);
	uint64_t first, count;

	switch (run->config.pattern) {
	case WL_SEQ:
		return wl_loop_step(base, words, 1, &w->tallies[i].pos, n, &w->stream);
	case WL_CHASE:
		return wl_loop_chase(&w->tallies[i].at, n, &w->stream);
	case WL_STAIRS:
	case WL_ZIGZAG:
		window_of(run->config.pattern, done, words, &first, &count);
		return wl_loop_random(base + first, count, n, &w->stream);
	case WL_SPLIT:
		if (own_ranges(&run->config))
			return wl_loop_random(base, words, n, &w->stream);
		slice_of(w, &first, &count);
		first *= run->page_bytes / sizeof(uint64_t);
		count *= run->page_bytes / sizeof(uint64_t);
		return wl_loop_random(base + first, count, n, &w->stream);
	default:
		return wl_loop_random(base, words, n, &w->stream);
	}
}

static double part_done(const struct worker *w, uint64_t ops, uint64_t elapsed_ns)
{
	const struct wl_config *c = &w->crew->run->config;
	double by_ops = w->ops_max == UINT64_MAX ? 0 : (double)ops / (double)w->ops_max;
	double by_time = c->duration_ns ? (double)elapsed_ns / (double)c->duration_ns : 0;

	return by_ops > by_time ? by_ops : by_time;
}

static void take_turns(struct worker *w)
{
	uint64_t ops = 0, turn = w->index, elapsed = 0;

	while (ops < w->ops_max) {
		uint64_t n = w->ops_max - ops < TURN_OPS ? w->ops_max - ops : TURN_OPS;
		uint64_t stores;
		uint32_t i;

		if (ops % CLOCK_OPS == 0 && time_is_up(w, &elapsed))
			return;
		i = choose_range(w, turn++);
		stores = take_turn(w, i, n, part_done(w, ops, elapsed));
		w->tallies[i].stores += stores;
		w->tallies[i].loads += n - stores;
		ops += n;
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct crew *crew = w->crew;
	const struct wl_config *c = &crew->run->config;
	enum gate gate;

	pthread_mutex_lock(&crew->lock);
	while (crew->gate == GATE_SHUT)
		pthread_cond_wait(&crew->moved, &crew->lock);
	gate = crew->gate;
	pthread_mutex_unlock(&crew->lock);
	if (gate == GATE_GIVE_UP)
		return NULL;

	if (c->pattern != WL_TOUCH && c->pattern != WL_CHASE)
		touch_all(w);
	pthread_barrier_wait(&crew->touched);
	w->start_ns = now_ns();
	if (c->pattern == WL_TOUCH)
		touch_rounds(w);
	else
		take_turns(w);
	w->end_ns = now_ns();
	return NULL;
}

/* Builds the pointer cycles of all ranges; counted as the first worker's stores. */
static int build_chase(struct crew *crew, struct da_error *err)
{
	const struct wl_run *run = crew->run;
	const uint64_t words = run->config.size_bytes / sizeof(uint64_t);
	const uint64_t lines = run->config.size_bytes / WL_CHASE_BYTES;
	uint32_t *order, i, t;

	if (run->config.pattern != WL_CHASE)
		return 0;
	order = malloc((size_t)lines * sizeof(*order));
	if (!order)
		return da_fail(err, DA_ENOMEM, 0, "no memory to shuffle %llu lines",
			       (unsigned long long)lines);
	for (i = 0; i < run->config.nr_ranges; i++) {
		volatile uint64_t *base = range_words(&run->ranges[i]);
		struct tally *first = &crew->workers[0].tallies[i];

		wl_chase_build(base, words, order, &crew->workers[0].stream);
		first->stores += lines;
		first->pages += run->config.size_bytes / run->page_bytes;
		first->faults += run->config.size_bytes / run->page_bytes;
		for (t = 0; t < run->config.nr_threads; t++)
			crew->workers[t].tallies[i].at =
				base + lines * t / run->config.nr_threads *
					       (WL_CHASE_BYTES / sizeof(*base));
	}
	free(order);
	return 0;
}

static int build_zipf(struct crew *crew, struct da_error *err)
{
	const struct wl_run *run = crew->run;
	double sum = 0;
	uint32_t i;

	if (run->config.pattern != WL_ZIPF)
		return 0;
	crew->zipf_upto = calloc(run->config.nr_ranges, sizeof(*crew->zipf_upto));
	if (!crew->zipf_upto)
		return da_fail(err, DA_ENOMEM, 0, "no memory for %u weights",
			       run->config.nr_ranges);
	/* The last range takes what is left, so its bound is never looked at; the others are below 1. */
	for (i = 0; i + 1 < run->config.nr_ranges; i++) {
		sum += run->ranges[i].weight;
		crew->zipf_upto[i] = (uint64_t)(sum * 18446744073709549568.0);
	}
	return 0;
}

static int build_workers(struct crew *crew, struct da_error *err)
{
	const struct wl_config *c = &crew->run->config;
	uint32_t t, i;

	crew->workers = calloc(c->nr_threads, sizeof(*crew->workers));
	if (!crew->workers)
		return da_fail(err, DA_ENOMEM, 0, "no memory for %u threads", c->nr_threads);
	for (t = 0; t < c->nr_threads; t++) {
		struct worker *w = &crew->workers[t];

		w->crew = crew;
		w->index = t;
		w->stream = (struct wl_stream){.rng = wl_seed(c->seed * 4096 + t),
					       .writes_pct = c->writes_pct};
		w->ops_max = UINT64_MAX;
		if (c->ops)
			w->ops_max = c->ops / c->nr_threads + (t < c->ops % c->nr_threads);
		w->tallies = calloc(c->nr_ranges, sizeof(*w->tallies));
		if (!w->tallies)
			return da_fail(err, DA_ENOMEM, 0, "no memory for the counts of %u ranges",
				       c->nr_ranges);
		for (i = 0; i < c->nr_ranges; i++)
			w->tallies[i].pos = c->size_bytes / sizeof(uint64_t) * t / c->nr_threads;
	}
	return 0;
}

static int pin(const struct wl_config *c, pthread_t thread, uint32_t t, struct da_error *err)
{
	cpu_set_t set;
	uint32_t cpu;
	int sys;

	if (!c->nr_cpus)
		return 0;
	cpu = c->cpus[(c->first_cpu + t) % c->nr_cpus];
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sys = pthread_setaffinity_np(thread, sizeof(set), &set);
	return sys ? da_fail(err, DA_EIO, sys, "cannot run on CPU %u", cpu) : 0;
}

/* Starts the other threads (the caller is the first worker), pinned; on failure as many as *started. */
static int start_threads(struct crew *crew, uint32_t *started, struct da_error *err)
{
	const struct wl_config *c = &crew->run->config;
	uint32_t t;
	int ret = pin(c, pthread_self(), 0, err);

	for (t = 1; t < c->nr_threads && ret == 0; t++) {
		int sys = pthread_create(&crew->workers[t].thread, NULL, worker_main,
					 &crew->workers[t]);

		if (sys)
			return da_fail(err, DA_EIO, sys, "cannot start thread %u", t);
		*started = t + 1;
		ret = pin(c, crew->workers[t].thread, t, err);
	}
	return ret;
}

/* Adds up what the workers did. */
static int collect(struct crew *crew, struct da_error *err)
{
	struct wl_run *run = crew->run;
	uint64_t start = UINT64_MAX, end = 0;
	uint32_t t, i;

	for (t = 0; t < run->config.nr_threads; t++) {
		const struct worker *w = &crew->workers[t];

		if (w->sys)
			return da_fail(err, DA_EIO, w->sys, "cannot give pages back");
		if (w->start_ns < start)
			start = w->start_ns;
		if (w->end_ns > end)
			end = w->end_ns;
		for (i = 0; i < run->config.nr_ranges; i++) {
			run->ranges[i].loads += w->tallies[i].loads;
			run->ranges[i].stores += w->tallies[i].stores;
			run->ranges[i].pages += w->tallies[i].pages;
			run->ranges[i].faults += w->tallies[i].faults;
		}
	}
	run->duration_ns = end - start;
	return 0;
}

int wl_run_go(struct wl_run *run, struct da_error *err)
{
	struct crew crew = {.run = run};
	uint32_t started = 1, t;
	int ret;

	pthread_barrier_init(&crew.touched, NULL, run->config.nr_threads);
	pthread_mutex_init(&crew.lock, NULL);
	pthread_cond_init(&crew.moved, NULL);

	ret = build_workers(&crew, err);
	if (ret == 0)
		ret = build_zipf(&crew, err);
	if (ret == 0)
		ret = build_chase(&crew, err);
	if (ret == 0)
		ret = start_threads(&crew, &started, err);

	pthread_mutex_lock(&crew.lock);
	crew.gate = ret == 0 ? GATE_OPEN : GATE_GIVE_UP;
	pthread_cond_broadcast(&crew.moved);
	pthread_mutex_unlock(&crew.lock);
	if (ret == 0)
		worker_main(&crew.workers[0]);
	for (t = 1; t < started; t++)
		pthread_join(crew.workers[t].thread, NULL);
	if (ret == 0)
		ret = collect(&crew, err);

	for (t = 0; crew.workers && t < run->config.nr_threads; t++)
		free(crew.workers[t].tallies);
	free(crew.workers);
	free(crew.zipf_upto);
	pthread_cond_destroy(&crew.moved);
	pthread_mutex_destroy(&crew.lock);
	pthread_barrier_destroy(&crew.touched);
	return ret;
}
