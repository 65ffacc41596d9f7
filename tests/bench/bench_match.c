/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of matching: looking an address up among ten to a million ranges, by bisection and by a linear
 * walk, and from how many reports a sampling interval on it pays to freeze the regions for bisection; and a
 * whole report (look-up, credit, numbers, heat cell) among mappings and fixed chunks.
 * CPU time of one thread; peak memory of the last.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "da_match.h"
#include "da_region_set.h"

#define LOOKUPS 2000000u
#define WALKED  20000000u /* regions looked at by the walks */
#define REPORTS 4000000u
#define LOT     64 /* divides REPORTS */
#define BASE    0x7f0000000000ull

static uint64_t state = 88172645463325252ull;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* others may be running */
	return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "bench_match: %s\n", what);
	exit(1);
}

/* Regions as DAMON has them: a list in order of address, elsewhere in memory each. */
struct node {
	struct node *next;
	uint64_t start, end, tag;
};

static struct node *list_of(const struct da_region_set *s)
{
	struct node *all = calloc(s->nr, sizeof(*all)), *head = NULL;
	size_t i, *at = calloc(s->nr, sizeof(*at));

	if (!all || !at)
		die("out of memory");
	for (i = 0; i < s->nr; i++)
		at[i] = i;
	for (i = s->nr; i > 1; i--) { /* shuffled: splits and merges leave no order in memory */
		size_t k = rnd() % i, other = at[k];

		at[k] = at[i - 1];
		at[i - 1] = other;
	}
	for (i = s->nr; i > 0; i--) {
		struct node *n = &all[at[i - 1]];

		*n = (struct node){head, s->ranges[i - 1].start, s->ranges[i - 1].end, i - 1};
		head = n;
	}
	free(at);
	return head;
}

/* What it costs to freeze the list for an interval, and one walk of it. */
static double freeze_cost(const struct node *head, size_t nr)
{
	unsigned rounds = 1 + (unsigned)(WALKED / 4 / nr), k;
	double t0 = now_ns();

	for (k = 0; k < rounds; k++) {
		struct da_region_set s;
		const struct node *n;

		da_region_set_init(&s);
		for (n = head; n; n = n->next)
			if (da_region_set_add(&s, n->start, n->end, n->tag))
				die("out of memory");
		if (da_region_set_freeze(&s))
			die("cannot freeze");
		da_region_set_release(&s);
	}
	return (now_ns() - t0) / rounds;
}

static double walk_cost(const struct node *head, size_t nr, uint64_t *sum)
{
	unsigned rounds = 10 + (unsigned)(WALKED / nr), k;
	double t0 = now_ns();

	for (k = 0; k < rounds; k++) {
		uint64_t addr = BASE + rnd() % (nr * 0x3000);
		const struct node *n = head;

		while (n && n->end <= addr)
			n = n->next;
		*sum += n && n->start <= addr ? n->tag : 0;
	}
	return (now_ns() - t0) / rounds;
}

static void lookups(size_t nr)
{
	struct da_region_set s;
	struct node *list, *first;
	uint64_t sum = 0;
	double t0, search, walk, freeze;
	unsigned i;

	da_region_set_init(&s);
	for (i = 0; i < nr; i++)
		if (da_region_set_add(&s, BASE + i * 0x3000ull, BASE + i * 0x3000ull + 0x2000, i))
			die("out of memory");
	if (da_region_set_freeze(&s))
		die("cannot freeze");
	t0 = now_ns();
	for (i = 0; i < LOOKUPS; i++)
		sum += da_region_set_find(&s, BASE + rnd() % (nr * 0x3000));
	search = (now_ns() - t0) / LOOKUPS;
	list = list_of(&s);
	walk = walk_cost(list, nr, &sum);
	freeze = freeze_cost(list, nr);
	printf("  %8zu %9.1f ns %11.1f %13.1f", nr, search, walk / search, freeze / walk);
	if (walk > search)
		printf(" %14.1f%s\n", freeze / (walk - search), sum ? "" : " ");
	else
		printf(" %14s%s\n", "never", sum ? "" : " ");
	for (first = list; list; list = list->next) /* they are one block */
		first = list < first ? list : first;
	free(first);
	da_region_set_release(&s);
}

static void reports(const char *what, size_t maps, uint64_t bytes, uint64_t fixed)
{
	struct da_match_opts o = {.virt = true,
				  .nr_events = 1,
				  .accumulate = true,
				  .fixed_bytes = fixed,
				  .regions = fixed ? DA_REGIONS_FIXED : DA_REGIONS_VMA};
	struct da_tasks *tasks = da_tasks_new();
	struct da_match *m = tasks ? da_match_new(&o, tasks) : NULL;
	struct da_report lot[LOT];
	double t0, t1, t2;
	uint64_t i;

	if (!m)
		die("out of memory");
	for (i = 0; i < maps; i++) {
		struct da_rec_mmap r = {.pid = 1,
					.tid = 1,
					.addr = BASE + i * bytes * 2,
					.len = bytes,
					.has_prot = true,
					.prot = PROT_READ,
					.flags = MAP_PRIVATE,
					.filename = "//anon"};

		if (da_tasks_mmap(tasks, &r, 0))
			die("out of memory");
	}
	t0 = now_ns();
	for (i = 0; i < REPORTS; i++) {
		uint64_t x = rnd();

		lot[i % LOT] = (struct da_report){
			.has = DA_HAS_TIME | DA_HAS_CPU | DA_HAS_TASK | DA_HAS_VADDR |
			       DA_HAS_PERIOD | DA_HAS_SIZE | DA_HAS_OP,
			.pid = 1,
			.tid = 1,
			.time_ns = i * 200,
			.period = 1,
			.size = 8,
			.op = DA_OP_READ,
			.vaddr = BASE + (x >> 20) % maps * bytes * 2 + (x >> 3) % (bytes / 8) * 8,
		};
		if (i % LOT == LOT - 1)
			da_match_reports(m, lot, LOT);
	}
	t1 = now_ns();
	if (da_match_finish(m))
		die("out of memory");
	t2 = now_ns();
	printf("  %-28s %6.2f M reports/s; table of %zu regions made in %.0f ms\n", what,
	       REPORTS / (t1 - t0) * 1e3, da_match_space(m, 0)->nr_regions, (t2 - t1) / 1e6);
	da_match_free(m);
	da_tasks_free(tasks);
}

int main(void)
{
	struct rusage u;
	size_t nr;

	puts("look-up of a random address: bisection of a frozen set, a walk of a linked list, freezing the list;\n"
	     "and from how many reports an interval on freezing it for that interval pays (seed 003 guesses 2 at\n"
	     "1,000 regions)");
	printf("  %8s %12s %11s %13s %14s\n", "regions", "bisection", "walk", "freezing",
	       "pays from");
	printf("  %8s %12s %11s %13s %14s\n", "", "", "bisections", "walks", "reports");
	for (nr = 10; nr <= 1000000; nr *= 10)
		lookups(nr);
	puts("whole reports at random addresses");
	reports("one mapping of 64 MiB", 1, 64 << 20, 0);
	reports("1,000 mappings of 1 MiB", 1000, 1 << 20, 0);
	reports("30,000 mappings of 64 KiB", 30000, 64 << 10, 0);
	reports("1,000 chunks of 64 KiB", 1, 64000 << 10, 64 << 10);
	reports("1,000,000 chunks of 4 KiB", 1, 4096000000ull, 4096);
	getrusage(RUSAGE_SELF, &u);
	printf("  peak memory %ld MiB\n", u.ru_maxrss / 1024);
	return 0;
}
