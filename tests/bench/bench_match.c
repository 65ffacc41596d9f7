/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of matching: looking an address up among a thousand to a million ranges, by bisection and by a
 * linear walk; and a whole report (look-up, credit, numbers, heat cell) among mappings and fixed chunks.
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
#define WALKS   2000u
#define REPORTS 4000000u
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

static size_t walk(const struct da_region_set *s, uint64_t addr)
{
	size_t i = 0;

	while (i < s->nr && !(s->ranges[i].start <= addr && addr < s->ranges[i].end))
		i++;
	return i;
}

static void lookups(size_t nr)
{
	struct da_region_set s;
	uint64_t sum = 0;
	double t0, t1, t2;
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
	t1 = now_ns();
	for (i = 0; i < WALKS; i++)
		sum += walk(&s, BASE + rnd() % (nr * 0x3000));
	t2 = now_ns();
	printf("  %8zu regions: %6.1f ns by bisection, a linear walk takes %8.0f times as long%s\n",
	       nr, (t1 - t0) / LOOKUPS, (t2 - t1) / WALKS / ((t1 - t0) / LOOKUPS), sum ? "" : " ");
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
		struct da_report r = {
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

		da_match_report(m, &r);
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

	puts("look-up of a random address");
	for (nr = 1000; nr <= 1000000; nr *= 10)
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
