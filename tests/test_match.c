/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Match and update: every way a report can end, conservation after each, regions through the life of a
 * mapping, spaces that never mix, credits of reports that arrive late.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "da_error.h"
#include "da_heat.h"
#include "da_match.h"
#include "da_task.h"

#define MS 1000000ull

static struct da_tasks *tasks;

static void set_up(void)
{
	tasks = da_tasks_new();
	ck_assert_ptr_nonnull(tasks);
}

static void tear_down(void)
{
	da_tasks_free(tasks);
}

static void map(uint32_t pid, uint64_t start, uint64_t end, const char *name, uint32_t prot,
		uint64_t time_ns)
{
	struct da_rec_mmap r = {.pid = pid,
				.tid = pid,
				.addr = start,
				.len = end - start,
				.prot = prot,
				.flags = MAP_PRIVATE,
				.has_prot = true,
				.filename = name};

	ck_assert_int_eq(da_tasks_mmap(tasks, &r, time_ns), 0);
}

static void comm(uint32_t pid, const char *name, bool exec, uint64_t time_ns)
{
	struct da_rec_comm r = {.pid = pid, .tid = pid, .comm = name, .exec = exec};

	ck_assert_int_eq(da_tasks_comm(tasks, &r, time_ns), 0);
}

static void fork_task(uint32_t pid, uint32_t parent, uint64_t time_ns)
{
	struct da_rec_task r = {
		.pid = pid, .tid = pid, .ppid = parent, .ptid = parent, .time_ns = time_ns};

	ck_assert_int_eq(da_tasks_fork(tasks, &r, time_ns), 0);
}

static const struct da_match_opts virt = {.virt = true, .nr_events = 4, .accumulate = true};

static struct da_match *new_match(const struct da_match_opts *o)
{
	struct da_match *m = da_match_new(o, tasks);

	ck_assert_ptr_nonnull(m);
	return m;
}

static struct da_report at(uint32_t pid, uint64_t vaddr, uint64_t time_ns)
{
	return (struct da_report){
		.has = DA_HAS_TIME | DA_HAS_CPU | DA_HAS_TASK | DA_HAS_VADDR | DA_HAS_PERIOD |
		       DA_HAS_SIZE,
		.pid = pid,
		.tid = pid,
		.vaddr = vaddr,
		.time_ns = time_ns,
		.period = 10,
		.size = 8,
	};
}

static void put(struct da_match *m, struct da_report r)
{
	da_match_report(m, &r);
}

static struct da_ledger sum(const struct da_match *m)
{
	struct da_ledger all = {0};

	for (uint32_t e = 0; e < 4; e++) {
		for (uint32_t c = 0; c < da_match_nr_cpus(m); c++) {
			const struct da_ledger *l = da_match_ledger(m, e, c);

			if (!l)
				continue;
			ck_assert(da_ledger_conserves(l, NULL));
			da_ledger_add(&all, l);
		}
	}
	return all;
}

static const struct da_region *region_at(const struct da_space *s, uint64_t addr)
{
	for (size_t i = 0; i < s->nr_regions; i++)
		if (s->regions[i].start <= addr && addr < s->regions[i].end)
			return &s->regions[i];
	return NULL;
}

/* Sorted and disjoint, and the numbers add up to the space's ledger. */
static void check_space(const struct da_space *s)
{
	uint64_t samples = 0;

	ck_assert(da_ledger_conserves(&s->ledger, NULL));
	for (size_t i = 0; i < s->nr_regions; i++) {
		const struct da_region *r = &s->regions[i];

		ck_assert_uint_lt(r->start, r->end);
		if (i)
			ck_assert_uint_le(s->regions[i - 1].end, r->start);
		ck_assert_ptr_nonnull(r->label);
		for (uint32_t k = 0; k < r->nr_by_event; k++) {
			samples += r->by_event[k].samples;
			ck_assert_uint_ge(r->by_event[k].hit_start, r->start);
			ck_assert_uint_lt(r->by_event[k].hit_start, r->by_event[k].hit_end);
			ck_assert_uint_le(r->by_event[k].hit_end, r->end);
			if (k)
				ck_assert_uint_lt(r->by_event[k - 1].event, r->by_event[k].event);
		}
	}
	ck_assert_uint_eq(samples, s->ledger.out[DA_STAGE_MATCH]);
}

/* ---- every ending of a report ---- */

START_TEST(each_ending)
{
	static const uint32_t targets[] = {9, 7};
	struct da_match_opts o = virt;
	struct da_match *m;
	struct da_report r;
	struct da_ledger l;

	comm(7, "seven", true, 0);
	comm(8, "eight", true, 0);
	map(7, 0x10000, 0x20000, "/bin/x", PROT_READ, 0);
	map(7, 0x20000, 0x30000, "//anon", PROT_READ | PROT_WRITE, 0);
	map(8, 0x10000, 0x20000, "/bin/x", PROT_READ, 0);
	o.pids = targets;
	o.nr_pids = 2;
	m = new_match(&o);
	put(m, at(7, 0x10000, 1)); /* first byte */
	put(m, at(7, 0x1fff8, 2)); /* up to the last byte */
	put(m, at(7, 0x1fff9, 3)); /* into the next region */
	put(m, at(7, 0x2ffff, 3)); /* out into nothing */
	put(m, at(7, 0xffff, 4));  /* begins outside, ends inside: no region has its first byte */
	put(m, at(7, 0x30000, 4));
	put(m, at(7, UINT64_MAX, 4));
	put(m, at(8, 0x10000, 5)); /* no target */
	put(m, at(9, 0x10000, 5)); /* a target of which nothing is known */
	r = at(7, 0x10000, 6);
	r.has &= ~(uint32_t)DA_HAS_TASK;
	put(m, r);
	r = at(7, 0x10000, 6);
	r.has &= ~(uint32_t)DA_HAS_VADDR; /* a space that is not kept */
	r.has |= DA_HAS_PADDR;
	put(m, r);
	r = at(7, 0x1ffff, 7); /* how far a masked access reaches is not known */
	r.size_is_max = 1;
	put(m, r);
	r = at(7, 0x1ffff, 7); /* nor one without a size */
	r.has &= ~(uint32_t)DA_HAS_SIZE;
	put(m, r);
	l = sum(m);
	ck_assert_uint_eq(l.in[DA_STAGE_MATCH], 13);
	ck_assert_uint_eq(l.out[DA_STAGE_MATCH], 4);
	ck_assert_uint_eq(l.drop[DA_DROP_STRADDLE], 2);
	ck_assert_uint_eq(l.drop[DA_DROP_MISS_REGION], 4);
	ck_assert_uint_eq(l.drop[DA_DROP_MISS_SPACE], 2);
	ck_assert_uint_eq(l.drop[DA_DROP_NO_TASK], 1);
	ck_assert_uint_eq(l.out[DA_STAGE_UPDATE], 1); /* all within 5 ms */
	ck_assert_uint_eq(l.drop[DA_DROP_ALREADY_CREDITED], 3);
	ck_assert_int_eq(da_match_finish(m), 0);
	ck_assert_int_eq(da_match_finish(m), -DA_EBUG);
	ck_assert_uint_eq(da_match_nr_spaces(m), 2);
	check_space(da_match_space(m, 0));
	ck_assert_uint_eq(da_match_space(m, 0)->pid, 7);
	ck_assert_str_eq(da_match_space(m, 0)->comm, "seven");
	ck_assert_uint_eq(da_match_space(m, 1)->ledger.drop[DA_DROP_MISS_REGION], 1);
	ck_assert_ptr_null(da_match_space(m, 2));
	da_match_free(m);
}
END_TEST

START_TEST(counts_by_event_and_cpu)
{
	struct da_match *m = new_match(&virt);
	const struct da_region *g;
	struct da_report r;

	map(1, 0x1000, 0x9000, "[heap]", PROT_READ | PROT_WRITE, 0);
	for (int i = 0; i < 60; i++) {
		r = at(1, 0x2000, (uint64_t)i * MS);
		r.event = i % 3;
		r.cpu = i % 2 ? 5 : 70000; /* more than there can be: counted on the last */
		r.period = 100 + r.event;
		r.has |= DA_HAS_OP;
		r.op = i % 4 == 3 ? DA_OP_READ | DA_OP_WRITE : DA_OP_WRITE;
		put(m, r);
	}
	ck_assert_uint_eq(da_match_nr_cpus(m), 65536);
	ck_assert_ptr_null(da_match_ledger(m, 0, 4));
	ck_assert_ptr_null(da_match_ledger(m, 3, 5));
	for (uint32_t e = 0; e < 3; e++) {
		ck_assert_uint_eq(da_match_ledger(m, e, 5)->in[DA_STAGE_MATCH], 10);
		ck_assert_uint_eq(da_match_ledger(m, e, 65535)->in[DA_STAGE_MATCH], 10);
		/* an event's credits are its own: 60 ms are 12 intervals, in each of which it was seen */
		ck_assert_uint_eq(da_match_ledger(m, e, 5)->out[DA_STAGE_UPDATE] +
					  da_match_ledger(m, e, 65535)->out[DA_STAGE_UPDATE],
				  12);
	}
	ck_assert_int_eq(da_match_finish(m), 0);
	check_space(da_match_space(m, 0));
	g = &da_match_space(m, 0)->regions[0];
	ck_assert_uint_eq(da_match_space(m, 0)->nr_regions, 1);
	ck_assert_uint_eq(g->nr_by_event, 3);
	for (uint32_t e = 0; e < 3; e++) {
		ck_assert_uint_eq(g->by_event[e].samples, 20);
		ck_assert_uint_eq(g->by_event[e].accesses, 20 * (100 + e));
		ck_assert_uint_eq(g->by_event[e].writes, 20);
		ck_assert_uint_eq(g->by_event[e].reads, 5);
	}
	/* ledgers can still be asked for */
	ck_assert_uint_eq(da_match_ledger(m, 2, 5)->in[DA_STAGE_MATCH], 10);
	da_match_free(m);
}
END_TEST

/* ---- credits ---- */

START_TEST(late_reports_find_their_interval)
{
	static const struct {
		uint64_t ms;
		unsigned update;
	} step[] = {
		{12, 1},
		{13, 0},
		{14, 0},
		{15, 1},
		{11, 0},
		{4, 1},
		{4, 0},
		{900, 1},
		{890, 1},
		{890, 0},
		{500, 0}, /* more than 64 intervals late: not told apart, not credited */
		{901, 0},
		{905, 1},
		{5, 0},
		/* 63 intervals late is remembered, 64 is not */
		{1315, 1},
		{1000, 1},
		{1000, 0},
		{999, 0},
		{1630, 1},
		{1310, 0},
		{1315, 0},
		{1316, 0},
		{1320, 1},
	};
	struct da_match *m = new_match(&virt);
	uint64_t update = 0;

	map(1, 0x1000, 0x9000, "[heap]", PROT_READ | PROT_WRITE, 0);
	for (size_t i = 0; i < sizeof(step) / sizeof(*step); i++) {
		put(m, at(1, 0x1000, step[i].ms * MS));
		update += step[i].update;
		ck_assert_msg(da_match_ledger(m, 0, 0)->out[DA_STAGE_UPDATE] == update, "step %zu",
			      i);
	}
	/* another region has credits of its own; so has another interval length */
	da_match_free(m);
	m = new_match(&(struct da_match_opts){.virt = true, .interval_ns = MS, .nr_events = 1});
	for (int i = 0; i < 10; i++)
		put(m, at(1, 0x1000, (uint64_t)i * MS / 2));
	ck_assert_uint_eq(da_match_ledger(m, 0, 0)->out[DA_STAGE_UPDATE], 5);
	ck_assert_uint_eq(da_match_ledger(m, 0, 0)->drop[DA_DROP_ALREADY_CREDITED], 5);
	da_match_free(m);
}
END_TEST

START_TEST(without_times)
{
	struct da_match *m = new_match(&virt);
	struct da_report r = at(1, 0x1000, 0);

	comm(1, "old", true, 50 * MS);
	map(1, 0x1000, 0x9000, "[heap]", PROT_READ | PROT_WRITE, 50 * MS);
	r.has &= ~(uint32_t)DA_HAS_TIME;
	put(m, r);
	put(m, r);
	ck_assert_uint_eq(da_match_ledger(m, 0, 0)->out[DA_STAGE_MATCH],
			  2); /* the state read last holds */
	ck_assert_uint_eq(da_match_ledger(m, 0, 0)->out[DA_STAGE_UPDATE], 1);
	ck_assert_int_eq(da_match_finish(m), 0);
	ck_assert_ptr_null(da_match_space(m, 0)->heat); /* no time, no cell */
	da_match_free(m);
}
END_TEST

/* ---- regions through time ---- */

START_TEST(heap_grows_and_stays_one_region)
{
	struct da_match *m = new_match(&virt);
	const struct da_space *s;

	for (uint64_t i = 1; i <= 50; i++) {
		/* the first extent of a heap has another name */
		map(1, 0x100000, 0x100000 + i * 0x1000, i == 1 ? "//anon" : "[heap]",
		    PROT_READ | PROT_WRITE, i * 100);
		put(m, at(1, 0x100000 + i * 0x1000 - 8, i * 100 + 1));
		put(m, at(1, 0x100000 + i * 0x1000, i * 100 + 2)); /* not yet */
	}
	/* and the stack downwards */
	for (uint64_t i = 1; i <= 50; i++) {
		map(1, 0x700000 - i * 0x1000, 0x700000, "[stack]", PROT_READ | PROT_WRITE,
		    10000 + i * 100);
		put(m, at(1, 0x700000 - i * 0x1000, 10001 + i * 100));
	}
	ck_assert_uint_eq(da_match_ledger(m, 0, 0)->drop[DA_DROP_MISS_REGION], 50);
	ck_assert_int_eq(da_match_finish(m), 0);
	s = da_match_space(m, 0);
	check_space(s);
	ck_assert_uint_eq(s->nr_regions, 2);
	ck_assert_uint_eq(s->regions[0].start, 0x100000);
	ck_assert_uint_eq(s->regions[0].end, 0x100000 + 50 * 0x1000);
	ck_assert_uint_eq(s->regions[0].by_event[0].samples, 50);
	ck_assert_str_eq(s->regions[0].label, "[heap]");
	ck_assert_uint_eq(s->regions[1].start, 0x700000 - 50 * 0x1000);
	ck_assert_uint_eq(s->regions[1].end, 0x700000);
	ck_assert_uint_eq(s->regions[1].by_event[0].samples, 50);
	da_match_free(m);
}
END_TEST

/* A loader's way: the whole file first, then segments over it. Each report goes to the mapping of its time. */
START_TEST(mapped_over)
{
	struct da_match *m = new_match(&virt);
	const struct da_space *s;
	const struct da_region *r;

	map(1, 0x100000, 0x200000, "/lib/c.so", PROT_READ, 10);
	put(m, at(1, 0x100100, 11));
	map(1, 0x120000, 0x180000, "/lib/c.so", PROT_READ | PROT_EXEC, 12);
	map(1, 0x180000, 0x1a0000, "/lib/c.so", PROT_READ, 13);
	map(1, 0x1a0000, 0x200000, "/lib/c.so", PROT_READ | PROT_WRITE, 14);
	put(m, at(1, 0x100200, 15));
	put(m, at(1, 0x1b0000, 16));
	ck_assert_int_eq(da_match_finish(m), 0);
	s = da_match_space(m, 0);
	check_space(s);
	r = region_at(s, 0x100000);
	ck_assert_str_eq(r->label, "/lib/c.so r--");
	ck_assert_uint_eq(r->end, 0x120000);
	ck_assert_uint_eq(r->by_event[0].samples, 2);
	ck_assert_str_eq(region_at(s, 0x120000)->label, "/lib/c.so r-x");
	ck_assert_uint_eq(region_at(s, 0x120000)->nr_by_event,
			  0); /* mapped, no report: still a region */
	ck_assert_str_eq(region_at(s, 0x180000)->label, "/lib/c.so r--");
	ck_assert_str_eq(region_at(s, 0x1a0000)->label, "/lib/c.so rw-");
	ck_assert_uint_eq(region_at(s, 0x1a0000)->by_event[0].samples, 1);
	ck_assert_uint_eq(region_at(s, 0x1a0000)->from_ns, 14);
	da_match_free(m);
}
END_TEST

/* An older mapping that was hit behind a later, silent one begins where that ends. */
START_TEST(mapped_over_in_front)
{
	struct da_match *m = new_match(&virt);
	const struct da_space *s;

	map(1, 0x100000, 0x200000, "/old", PROT_READ, 10);
	put(m, at(1, 0x1f0000, 11));
	map(1, 0x100000, 0x140000, "/new", PROT_READ, 12);
	map(1, 0x1f8000, 0x280000, "/newer", PROT_READ, 13);
	ck_assert_int_eq(da_match_finish(m), 0);
	s = da_match_space(m, 0);
	check_space(s);
	ck_assert_uint_eq(s->nr_regions, 3);
	ck_assert_str_eq(s->regions[0].label, "/new r--");
	ck_assert_uint_eq(s->regions[1].start, 0x140000);
	ck_assert_uint_eq(s->regions[1].end, 0x1f8000);
	ck_assert_str_eq(s->regions[1].label, "/old r--");
	ck_assert_uint_eq(s->regions[2].start, 0x1f8000);
	da_match_free(m);
}
END_TEST

/* Two mappings of different times with reports on the same addresses: one region that names both, its
 * cells together. */
START_TEST(same_addresses_at_different_times)
{
	static const char *const name[] = {"/a", "/b", "/c"};
	struct da_match *m = new_match(&virt);
	const struct da_space *s;
	struct da_heat_row row;
	uint64_t cells[3];
	struct da_report r;

	for (uint64_t i = 0; i < 3; i++) {
		map(1, 0x100000 + i * 0x1000, 0x110000, name[i], PROT_READ, i * 1000 * MS);
		put(m, at(1, 0x10f000, i * 1000 * MS + 500 * MS));
		r = at(1, 0x104000, i * 1000 * MS + 501 * MS);
		r.event = 2;
		put(m, r);
	}
	ck_assert_int_eq(da_match_finish(m), 0);
	s = da_match_space(m, 0);
	check_space(s);
	ck_assert_uint_eq(s->nr_regions, 1);
	ck_assert_str_eq(s->regions[0].label, "/a r-- + /b r--");
	ck_assert_uint_eq(s->regions[0].nr_by_event, 2);
	ck_assert_uint_eq(s->regions[0].by_event[0].samples, 3);
	ck_assert_uint_eq(s->regions[0].by_event[1].event, 2);
	ck_assert_uint_eq(s->regions[0].by_event[1].samples, 3);
	row = (struct da_heat_row){s->regions[0].start, s->regions[0].end, 0, 0};
	da_heat_render(s->heat, 0, 0, 3000 * MS, 3, &row, 1, cells);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(cells[i], 1);
	da_match_free(m);
}
END_TEST

/* Random mappings over each other: disjoint regions, every report in one, silent pieces between. */
START_TEST(random_mappings)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct da_match *m;
		const struct da_space *s;
		uint64_t x = seed * 0x9e3779b97f4a7c15ull, matched;

		tear_down();
		set_up();
		m = new_match(&virt);
		for (uint64_t i = 1; i < 60; i++) {
			struct da_report r;

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			if (i % 3 == 1)
				map(1, (x & 63) << 12, ((x & 63) + 1 + (x >> 8) % 40) << 12,
				    (x >> 20) & 1 ? "/a" : "//anon", PROT_READ | ((x >> 24) & 2),
				    i);
			r = at(1, ((x >> 30) % 100) << 11, i);
			r.event = (x >> 40) & 1;
			put(m, r);
		}
		ck_assert_int_eq(da_match_finish(m), 0);
		s = da_match_space(m, 0);
		check_space(s);
		matched = 0;
		for (size_t i = 0; i < s->nr_regions; i++) {
			struct da_heat_row row = {s->regions[i].start, s->regions[i].end,
						  (uint32_t)i, (uint32_t)i};
			uint64_t cell;

			for (uint32_t e = 0; s->heat && e < 2; e++) {
				da_heat_render(s->heat, e, 0, 1000, 1, &row, 1, &cell);
				matched += cell;
			}
		}
		ck_assert_uint_eq(
			matched,
			s->ledger.out[DA_STAGE_MATCH]); /* the cells followed their regions */
		da_match_free(m);
	}
}
END_TEST

START_TEST(labels)
{
	struct da_match *m = new_match(&virt);
	const struct da_space *s;
	static const struct {
		const char *name;
		uint32_t prot;
		const char *label;
	} want[] = {
		{"/usr/bin/gzip", PROT_READ, "/usr/bin/gzip r--"},
		{"/usr/bin/gzip", PROT_READ | PROT_WRITE, "/usr/bin/gzip rw-"},
		{"//anon", PROT_READ | PROT_WRITE, "anon rw-"},
		{"//anon", PROT_READ | PROT_WRITE | PROT_EXEC, "JIT rwx"},
		{"[heap]", PROT_READ | PROT_WRITE, "[heap]"},
		{"[stack]", PROT_READ | PROT_WRITE, "[stack]"},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		map(1, i * 0x10000, i * 0x10000 + 0x1000, want[i].name, want[i].prot, 1);
		put(m, at(1, i * 0x10000, 2));
	}
	ck_assert_int_eq(da_match_finish(m), 0);
	s = da_match_space(m, 0);
	check_space(s);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		ck_assert_str_eq(region_at(s, i * 0x10000)->label, want[i].label);
	da_match_free(m);
}
END_TEST

/* ---- spaces ---- */

START_TEST(exec_and_fork_are_other_spaces)
{
	struct da_match *m = new_match(&virt);
	uint64_t seen[3] = {0};

	comm(5, "shell", true, 0);
	map(5, 0x1000, 0x9000, "/bin/sh", PROT_READ, 0);
	put(m, at(5, 0x1000, 10));
	fork_task(6, 5, 20);
	put(m, at(6, 0x2000, 25)); /* the child's copy */
	comm(5, "sort", true, 30);
	map(5, 0x1000, 0x3000, "/bin/sort", PROT_READ, 31);
	put(m, at(5, 0x1000, 40));
	put(m, at(5, 0x4000, 41)); /* gone with the exec */
	put(m, at(5, 0x4000, 11)); /* a late report finds its time */
	ck_assert_uint_eq(da_match_ledger(m, 0, 0)->drop[DA_DROP_MISS_REGION], 1);
	ck_assert_int_eq(da_match_finish(m), 0);
	ck_assert_uint_eq(da_match_nr_spaces(m), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct da_space *s = da_match_space(m, i);

		check_space(s);
		if (s->pid == 6)
			seen[0] = s->ledger.out[DA_STAGE_MATCH];
		else if (!strcmp(s->comm, "shell"))
			seen[1] = s->ledger.out[DA_STAGE_MATCH];
		else if (!strcmp(s->comm, "sort"))
			seen[2] = s->ledger.out[DA_STAGE_MATCH];
	}
	ck_assert_uint_eq(seen[0], 1);
	ck_assert_uint_eq(seen[1], 2);
	ck_assert_uint_eq(seen[2], 1);
	da_match_free(m);
}
END_TEST

START_TEST(virtual_and_physical_never_mix)
{
	struct da_match_opts o = virt;
	const struct da_space *v, *p;
	struct da_report r = at(1, 0x1000, 1);
	struct da_match *m;
	struct da_ledger l;

	o.phys = true;
	m = new_match(&o);
	map(1, 0x1000, 0x9000, "[heap]", PROT_READ | PROT_WRITE, 0);
	r.has |= DA_HAS_PADDR;
	r.paddr = 0x40000000; /* 1 GiB */
	put(m, r);
	r.paddr += 16 << 20; /* the next chunk: one region with the first */
	put(m, r);
	r.paddr = 0x90000000;
	put(m, r);
	r.vaddr = 0x77000; /* no virtual region, but a physical one */
	put(m, r);
	r.has &= ~(uint32_t)DA_HAS_VADDR; /* only physical: then it is the ledger's */
	put(m, r);
	r.paddr = 0; /* a legal address */
	r.has &= ~(uint32_t)DA_HAS_TASK;
	put(m, r);
	l = sum(m);
	ck_assert_uint_eq(l.in[DA_STAGE_MATCH], 6);
	ck_assert_uint_eq(l.out[DA_STAGE_MATCH], 5);
	ck_assert_uint_eq(l.drop[DA_DROP_MISS_REGION], 1);
	ck_assert_int_eq(da_match_finish(m), 0);
	ck_assert_uint_eq(da_match_nr_spaces(m), 2);
	v = da_match_space(m, 0);
	p = da_match_space(m, 1);
	check_space(v);
	check_space(p);
	ck_assert_int_eq(v->kind, DA_SPACE_VIRTUAL);
	ck_assert_int_eq(p->kind, DA_SPACE_PHYSICAL);
	ck_assert_uint_eq(v->ledger.in[DA_STAGE_MATCH], 4);
	ck_assert_uint_eq(p->ledger.in[DA_STAGE_MATCH], 6);
	ck_assert_uint_eq(p->nr_regions, 3);
	ck_assert_uint_eq(p->regions[0].start, 0);
	ck_assert_uint_eq(p->regions[1].start, 0x40000000);
	ck_assert_uint_eq(p->regions[1].end, 0x42000000);
	ck_assert_uint_eq(p->regions[1].by_event[0].samples, 2);
	ck_assert_uint_eq(p->regions[2].by_event[0].samples, 3);
	ck_assert_str_eq(p->regions[0].label, "phys");
	da_match_free(m);

	/* only the physical space kept */
	o.virt = false;
	m = new_match(&o);
	put(m, r);
	put(m, at(1, 0x1000, 1));
	l = sum(m);
	ck_assert_uint_eq(l.out[DA_STAGE_MATCH], 1);
	ck_assert_uint_eq(l.drop[DA_DROP_MISS_SPACE], 1);
	da_match_free(m);
}
END_TEST

START_TEST(fixed_chunks)
{
	struct da_match_opts o = virt;
	const struct da_space *s;
	struct da_match *m;

	o.regions = DA_REGIONS_FIXED;
	o.fixed_bytes = 0x10000;
	m = new_match(&o);
	map(1, 0x100000, 0x200000, "[heap]", PROT_READ | PROT_WRITE, 0);
	put(m, at(1, 0x100000, 1));
	put(m, at(1, 0x10fff8, 1));
	put(m, at(1, 0x10fffc, 1)); /* over the chunk's end */
	put(m, at(1, 0x110000, 1));
	put(m, at(1, 0x7f0000000000, 1)); /* nobody mapped it; chunks do not care */
	put(m, at(2, 0x100000, 1));       /* nor who it was */
	put(m, at(1, UINT64_MAX - 7, 1));
	ck_assert_uint_eq(sum(m).drop[DA_DROP_STRADDLE],
			  2); /* the last byte of all is in no range */
	ck_assert_int_eq(da_match_finish(m), 0);
	ck_assert_uint_eq(da_match_nr_spaces(m), 2);
	s = da_match_space(m, 0);
	check_space(s);
	ck_assert_uint_eq(s->nr_regions, 4);
	ck_assert_uint_eq(s->regions[0].start, 0x100000);
	ck_assert_uint_eq(s->regions[0].end, 0x110000);
	ck_assert_uint_eq(s->regions[0].by_event[0].samples, 2);
	ck_assert_str_eq(s->regions[0].label, "[heap]");
	ck_assert_str_eq(s->regions[2].label, "unknown");
	da_match_free(m);
}
END_TEST

/* The frozen copy and the timeline agree: reports in and out of order, mappings that come and go between
 * them, several processes; compared with asking the timeline for each. */
START_TEST(frozen_copy_changes_nothing)
{
	struct da_match *m = new_match(&virt);
	uint64_t x = 0x2545f4914f6cdd1dull, hits = 0, n = 0;

	comm(1, "a", true, 0);
	comm(2, "b", true, 0);
	for (uint64_t t = 1; t < 200; t++) {
		if (t % 20 == 0)
			map(1 + t % 3 % 2, (t * 37 % 64) * 0x1000, (t * 37 % 64 + 9) * 0x1000, "/f",
			    PROT_READ, t * 1000);
		for (int i = 0; i < 100; i++) {
			struct da_map found;
			struct da_report r;

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			r = at(1 + (x & 1), (x >> 8) % 0x48000, t * 1000 + (uint64_t)i);
			if ((x >> 40) % 8 == 0)
				r.time_ns -= (x >> 44) % 60000 % r.time_ns; /* late */
			r.size = 1;
			hits += da_tasks_find(tasks, r.pid, r.time_ns, r.vaddr, &found);
			n++;
			put(m, r);
			ck_assert_uint_eq(da_match_ledger(m, 0, 0)->out[DA_STAGE_MATCH], hits);
		}
	}
	ck_assert_uint_gt(hits, n / 20);
	ck_assert_int_eq(da_match_finish(m), 0);
	check_space(da_match_space(m, 0));
	check_space(da_match_space(m, 1));
	da_match_free(m);
}
END_TEST

/* What a damaged file could ask for: many events, CPUs, processes and chunks cost what was really seen. */
START_TEST(hostile_numbers)
{
	struct da_match_opts o = virt;
	struct da_ledger all = {0};
	struct da_match *m;

	o.regions = DA_REGIONS_FIXED;
	o.fixed_bytes = 4096;
	o.nr_events = UINT32_MAX;
	o.max_cells = 2048;
	m = new_match(&o);
	for (uint32_t i = 0; i < 20000; i++) {
		struct da_report r = at(i * 40503u, (uint64_t)i << 40, (uint64_t)i << 45);

		r.event = i * 2654435761u;
		r.cpu = i * 7u;
		put(m, r);
	}
	ck_assert_int_eq(da_match_finish(m), 0);
	for (size_t i = 0; i < da_match_nr_spaces(m); i++) {
		check_space(da_match_space(m, i));
		da_ledger_add(&all, &da_match_space(m, i)->ledger);
	}
	ck_assert_uint_eq(all.in[DA_STAGE_MATCH], 20000);
	da_match_free(m);
}
END_TEST

/* ---- the sampler at work ---- */

START_TEST(observed)
{
	struct da_match *m = new_match(&virt);
	const struct da_space *s;

	comm(1, "a", true, 0);
	map(1, 0x1000, 0x9000, "[heap]", PROT_READ | PROT_WRITE, 0);
	put(m, at(1, 0x1000, 1000 * MS));
	da_match_observe(m, 0, 1, 3000 * MS); /* looked, and saw no access */
	da_match_observe(m, 0, 1, 500 * MS);  /* late */
	da_match_observe(m, 1, 1, 2000 * MS);
	da_match_observe(m, 0, 2, 2000 * MS); /* another process */
	ck_assert_int_eq(da_match_finish(m), 0);
	s = da_match_space(m, 0);
	ck_assert_uint_eq(s->pid, 1);
	ck_assert(da_match_observed(m, s, 0, 990 * MS, 1010 * MS));
	ck_assert(da_match_observed(m, s, 0, 2990 * MS, 3010 * MS));
	ck_assert(da_match_observed(m, s, 0, 490 * MS, 510 * MS));
	ck_assert(da_match_observed(m, s, 0, 0, UINT64_MAX));
	ck_assert(!da_match_observed(m, s, 0, 1990 * MS, 2010 * MS));
	ck_assert(!da_match_observed(m, s, 0, 0, 400 * MS));
	ck_assert(!da_match_observed(m, s, 0, 3100 * MS, UINT64_MAX));
	ck_assert(da_match_observed(m, s, 1, 1990 * MS, 2010 * MS));
	ck_assert(!da_match_observed(m, s, 2, 0, UINT64_MAX));
	da_match_free(m);
}
END_TEST

START_TEST(observed_at_the_ends_of_time)
{
	struct da_match *m = new_match(&virt);
	const struct da_space *s;

	map(1, 0x1000, 0x9000, "[heap]", PROT_READ | PROT_WRITE, 0);
	put(m, at(1, 0x1000, UINT64_MAX - 1));
	da_match_observe(m, 0, 1, 0);
	da_match_observe(m, 0, 1, UINT64_MAX);
	da_match_observe(m, 0, 1, 1ull << 62);
	ck_assert_int_eq(da_match_finish(m), 0);
	s = da_match_space(m, 0);
	ck_assert(da_match_observed(m, s, 0, 0, 1));
	ck_assert(da_match_observed(m, s, 0, UINT64_MAX - 1, UINT64_MAX));
	ck_assert(da_match_observed(m, s, 0, (1ull << 62) - 1, (1ull << 62) + 1));
	ck_assert(!da_match_observed(m, s, 0, 1ull << 60, 1ull << 61));
	ck_assert(!da_match_observed(m, s, 0, 5, 5));
	da_match_free(m);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("match");
	TCase *t = tcase_create("match");
	SRunner *run;
	int failed;

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, each_ending);
	tcase_add_test(t, counts_by_event_and_cpu);
	tcase_add_test(t, late_reports_find_their_interval);
	tcase_add_test(t, without_times);
	tcase_add_test(t, heap_grows_and_stays_one_region);
	tcase_add_test(t, mapped_over);
	tcase_add_test(t, mapped_over_in_front);
	tcase_add_test(t, same_addresses_at_different_times);
	tcase_add_test(t, random_mappings);
	tcase_add_test(t, labels);
	tcase_add_test(t, exec_and_fork_are_other_spaces);
	tcase_add_test(t, virtual_and_physical_never_mix);
	tcase_add_test(t, fixed_chunks);
	tcase_add_test(t, frozen_copy_changes_nothing);
	tcase_add_test(t, hostile_numbers);
	tcase_add_test(t, observed);
	tcase_add_test(t, observed_at_the_ends_of_time);
	suite_add_tcase(suite, t);
	run = srunner_create(suite);
	srunner_run_all(run, CK_NORMAL);
	failed = srunner_ntests_failed(run);
	srunner_free(run);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
