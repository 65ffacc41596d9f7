/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline of tasks and address spaces: cases by hand, limits, and questions while records
 * arrive. test_task_model.c has the random ones.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "da_task.h"
#include "task_log.h"

#define MIB (1ull << 20)
#define END UINT64_MAX

/* ---- feeding ---- */

static void map_as(struct da_tasks *t, uint64_t time, uint32_t pid, uint64_t addr, uint64_t len,
		   uint64_t pgoff, const char *name)
{
	struct da_rec_mmap m = {.pid = pid,
				.tid = pid,
				.addr = addr,
				.len = len,
				.pgoff = pgoff,
				.prot = 3,
				.flags = 2,
				.has_prot = true,
				.filename = name};

	ck_assert_int_eq(da_tasks_mmap(t, &m, time), 0);
}

static void map(struct da_tasks *t, uint64_t time, uint32_t pid, uint64_t addr, uint64_t len,
		const char *name)
{
	map_as(t, time, pid, addr, len, 0, name);
}

static void comm(struct da_tasks *t, uint64_t time, uint32_t pid, uint32_t tid, const char *text)
{
	struct da_rec_comm c = {.pid = pid, .tid = tid, .comm = text};

	ck_assert_int_eq(da_tasks_comm(t, &c, time), 0);
}

static void exec(struct da_tasks *t, uint64_t time, uint32_t pid, const char *text)
{
	struct da_rec_comm c = {.pid = pid, .tid = pid, .comm = text, .exec = true};

	ck_assert_int_eq(da_tasks_comm(t, &c, time), 0);
}

static void fork_(struct da_tasks *t, uint64_t time, uint32_t ppid, uint32_t pid)
{
	struct da_rec_task f = {
		.pid = pid, .tid = pid, .ppid = ppid, .ptid = ppid, .time_ns = time};

	ck_assert_int_eq(da_tasks_fork(t, &f, time), 0);
}

static void thread(struct da_tasks *t, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct da_rec_task f = {.pid = pid, .tid = tid, .ppid = pid, .ptid = pid, .time_ns = time};

	ck_assert_int_eq(da_tasks_fork(t, &f, time), 0);
}

static void leave(struct da_tasks *t, uint64_t time, uint32_t pid, uint32_t tid)
{
	struct da_rec_task f = {.pid = pid, .tid = tid, .ppid = 1, .ptid = 1, .time_ns = time};

	ck_assert_int_eq(da_tasks_exit(t, &f, time), 0);
}

static struct da_map at(struct da_tasks *t, uint32_t pid, uint64_t time, uint64_t addr)
{
	struct da_map m;

	ck_assert_msg(da_tasks_find(t, pid, time, addr, &m), "pid %u, time %lu, address %#lx", pid,
		      (unsigned long)time, (unsigned long)addr);
	ck_assert(m.start <= addr && addr < m.end);
	ck_assert_uint_eq(m.mm, da_tasks_mm(t, pid, time));
	return m;
}

static void nothing(struct da_tasks *t, uint32_t pid, uint64_t time, uint64_t addr)
{
	struct da_map m;

	ck_assert_msg(!da_tasks_find(t, pid, time, addr, &m), "pid %u, time %lu, address %#lx: %s",
		      pid, (unsigned long)time, (unsigned long)addr, m.name);
}

static void is(struct da_tasks *t, uint32_t pid, uint64_t time, uint64_t addr, const char *name)
{
	ck_assert_str_eq(at(t, pid, time, addr).name, name);
}

/* ---- by hand ---- */

START_TEST(overlap_replaces_from_its_time_on)
{
	struct da_tasks *t = da_tasks_new();
	struct da_map whole, left, mid, right, maps[4];

	map_as(t, 10, 5, 0x10000, 0x6000, 0x1000, "/lib/x");
	map_as(t, 20, 5, 0x12000, 0x1000, 0x7000, "/lib/y");
	whole = at(t, 5, 10, 0x12345);
	ck_assert_str_eq(whole.name, "/lib/x");
	ck_assert_uint_eq(whole.start, 0x10000);
	ck_assert_uint_eq(whole.end, 0x16000);
	nothing(t, 5, 9, 0x12345);
	ck_assert_uint_eq(da_tasks_mm(t, 5, 9), 0);

	left = at(t, 5, 20, 0x11fff);
	mid = at(t, 5, 20, 0x12000);
	right = at(t, 5, END, 0x13000);
	nothing(t, 5, 20, 0x16000);
	nothing(t, 5, 20, 0xffff);
	ck_assert_str_eq(left.name, "/lib/x");
	ck_assert_uint_eq(left.end, 0x12000);
	ck_assert_uint_eq(left.pgoff, 0x1000);
	ck_assert_str_eq(mid.name, "/lib/y");
	ck_assert_uint_eq(mid.pgoff, 0x7000);
	ck_assert_str_eq(right.name, "/lib/x");
	ck_assert_uint_eq(right.start, 0x13000);
	ck_assert_uint_eq(right.end, 0x16000);
	ck_assert_uint_eq(right.pgoff, 0x4000);
	/* what was cut is another mapping, what was not cut is the same one */
	ck_assert(left.id != whole.id && right.id != whole.id && mid.id != whole.id);
	ck_assert(left.id != right.id && left.id != mid.id && right.id != mid.id);
	ck_assert_uint_eq(at(t, 5, 15, 0x15000).id, whole.id);
	ck_assert_uint_eq(left.from_ns, 10);
	ck_assert_uint_eq(mid.from_ns, 20);

	ck_assert_uint_eq(da_tasks_maps(t, 5, 15, NULL, 0), 1);
	ck_assert_uint_eq(da_tasks_maps(t, 5, 20, NULL, 0), 3);
	ck_assert_uint_eq(da_tasks_maps(t, 5, 20, maps, 2), 2);
	ck_assert_uint_eq(maps[0].id, left.id);
	ck_assert_uint_eq(maps[1].id, mid.id);
	ck_assert_uint_eq(da_tasks_maps(t, 6, 20, maps, 4), 0);

	/* all that ever were, by start, then time */
	ck_assert_uint_eq(da_tasks_mm_maps(t, whole.mm, NULL, 0), 4);
	ck_assert_uint_eq(da_tasks_mm_maps(t, whole.mm, maps, 3), 3);
	ck_assert_uint_eq(da_tasks_mm_maps(t, whole.mm, maps, 4), 4);
	ck_assert_uint_eq(maps[0].id, whole.id);
	ck_assert_uint_eq(maps[1].id, left.id);
	ck_assert_uint_eq(maps[2].id, mid.id);
	ck_assert_uint_eq(maps[3].id, right.id);
	ck_assert_uint_eq(da_tasks_mm_maps(t, whole.mm + 1, maps, 4), 0);
	ck_assert_uint_eq(da_tasks_mm_maps(t, 0, maps, 4), 0);
	da_tasks_free(t);
	da_tasks_free(NULL);
}
END_TEST

/* Live order of Linux 6.18: COMM by exec, then [stack], the program, its loader, vdso, vvar. */
START_TEST(exec_is_a_new_address_space)
{
	struct da_tasks *t = da_tasks_new();
	uint64_t before, after;

	map(t, 0, 7, 0x400000, 0x1000, "/bin/sh");
	exec(t, 50, 7, "tool");
	map(t, 52, 7, 0x7ffd0000, 0x21000, "[stack]");
	map(t, 53, 7, 0x500000, 0x1000, "/bin/tool");
	before = da_tasks_mm(t, 7, 49);
	after = da_tasks_mm(t, 7, 50);
	ck_assert(before && after && before != after);
	is(t, 7, 49, 0x400000, "/bin/sh");
	nothing(t, 7, 50, 0x400000);
	nothing(t, 7, 51, 0x500000);
	is(t, 7, 53, 0x500000, "/bin/tool");
	ck_assert_uint_eq(da_tasks_mm(t, 7, END), after);
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 7, 50), "tool");
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 7, 49), "");
	da_tasks_free(t);
}
END_TEST

START_TEST(fork_copies_what_is_mapped_then)
{
	struct da_tasks *t = da_tasks_new();
	struct da_map parent, child;

	comm(t, 1, 7, 7, "sh");
	map(t, 2, 7, 0x1000, 0x1000, "a");
	fork_(t, 10, 7, 8);
	map(t, 11, 7, 0x1000, 0x1000, "b");
	map(t, 12, 8, 0x3000, 0x1000, "c");
	is(t, 7, 10, 0x1000, "a");
	is(t, 7, 11, 0x1000, "b");
	is(t, 8, 10, 0x1000, "a");
	is(t, 8, END, 0x1000, "a");
	nothing(t, 8, 9, 0x1000);
	nothing(t, 7, END, 0x3000);
	is(t, 8, 12, 0x3000, "c");
	/* copied on write: what one of them stores is not in the other's copy */
	parent = at(t, 7, 10, 0x1000);
	child = at(t, 8, 10, 0x1000);
	ck_assert(parent.mm != child.mm && parent.id != child.id);
	ck_assert_str_eq(da_tasks_comm_of(t, 8, 8, 10), "sh");
	exec(t, 20, 8, "ls");
	nothing(t, 8, 20, 0x1000);
	ck_assert_str_eq(da_tasks_comm_of(t, 8, 8, 19), "sh");
	ck_assert_str_eq(da_tasks_comm_of(t, 8, 8, 20), "ls");
	da_tasks_free(t);
}
END_TEST

/* perf's made-up FORK records have time 0: the child's own mappings follow. */
START_TEST(made_up_fork_copies_nothing)
{
	struct da_tasks *t = da_tasks_new();

	map(t, 0, 7, 0x1000, 0x1000, "a");
	fork_(t, 0, 7, 8);
	nothing(t, 8, END, 0x1000);
	ck_assert_uint_ne(da_tasks_mm(t, 8, END), 0);
	da_tasks_free(t);
}
END_TEST

START_TEST(a_late_mapping_reaches_the_children)
{
	struct da_tasks *t = da_tasks_new();
	uint64_t mm, id, gen;

	map(t, 1, 7, 0x1000, 0x1000, "a");
	fork_(t, 10, 7, 8);
	map(t, 12, 8, 0x9000, 0x1000, "own");
	fork_(t, 20, 8, 9);
	map(t, 22, 9, 0x1800, 0x100, "own9");
	fork_(t, 30, 7, 10);
	mm = da_tasks_mm(t, 9, END);
	id = at(t, 9, END, 0x9000).id;
	nothing(t, 9, END, 0x5000);
	gen = da_tasks_generation(t);

	map(t, 15, 7, 0x6000, 0x1000, "too late for 8");
	map(t, 5, 7, 0x5000, 0x1000, "late");
	ck_assert_uint_gt(da_tasks_generation(t), gen);
	is(t, 7, 5, 0x5000, "late");
	is(t, 8, 10, 0x5000, "late");
	is(t, 9, 20, 0x5000, "late");
	is(t, 9, END, 0x5000, "late");
	is(t, 10, 30, 0x5000, "late");
	is(t, 10, 30, 0x6000, "too late for 8");
	nothing(t, 8, END, 0x6000);
	nothing(t, 9, END, 0x6000);
	/* who was known before is still known by the same numbers */
	ck_assert_uint_eq(da_tasks_mm(t, 9, END), mm);
	ck_assert_uint_eq(at(t, 9, END, 0x9000).id, id);
	is(t, 9, 21, 0x1800, "a");
	is(t, 9, 22, 0x1800, "own9");
	/* one that is under what came later changes nothing there */
	map(t, 6, 7, 0x1000, 0x1000, "under");
	is(t, 7, 6, 0x1000, "under");
	is(t, 7, 5, 0x1000, "a");
	ck_assert_uint_eq(da_tasks_stats(t).late, 3);
	ck_assert_uint_eq(da_tasks_stats(t).late_moved, 0);
	da_tasks_free(t);
}
END_TEST

START_TEST(a_used_again_pid_is_another_process)
{
	struct da_tasks *t = da_tasks_new();
	uint64_t first;

	comm(t, 1, 7, 7, "one");
	map(t, 2, 7, 0x1000, 0x1000, "a");
	leave(t, 10, 7, 7);
	first = da_tasks_mm(t, 7, 9);
	ck_assert_uint_eq(da_tasks_mm(t, 7, 10), 0);
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 7, 10), 0);
	nothing(t, 7, 10, 0x1000);
	comm(t, 15, 3, 3, "other");
	fork_(t, 20, 3, 7);
	nothing(t, 7, 20, 0x1000);
	ck_assert_uint_eq(da_tasks_mm(t, 7, 19), 0);
	ck_assert(da_tasks_mm(t, 7, 20) != first);
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 7, 20), "other");
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 7, 9), "one");
	/* without a word about the end of the one before */
	map(t, 21, 7, 0x2000, 0x1000, "b");
	fork_(t, 30, 3, 7);
	nothing(t, 7, 30, 0x2000);
	/* or about the beginning of this one */
	leave(t, 40, 7, 7);
	map(t, 50, 7, 0x3000, 0x1000, "c");
	ck_assert_uint_eq(da_tasks_mm(t, 7, 49), 0);
	is(t, 7, 50, 0x3000, "c");
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 7, 50), "");
	da_tasks_free(t);
}
END_TEST

START_TEST(threads_share_and_outlive_the_first)
{
	struct da_tasks *t = da_tasks_new();

	comm(t, 1, 7, 7, "main");
	map(t, 2, 7, 0x1000, 0x1000, "a");
	thread(t, 3, 7, 71);
	thread(t, 4, 7, 72);
	comm(t, 5, 7, 72, "worker");
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 71, 3), 7);
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 71, 2), 0);
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 7, 2), 7);
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 71, 9), "main");
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 72, 4), "main");
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 72, 5), "worker");
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 99, 5), "main");
	leave(t, 10, 7, 7);
	is(t, 7, 10, 0x1000, "a");
	leave(t, 11, 7, 71);
	is(t, 7, 11, 0x1000, "a");
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 71, 11), 0);
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 72, 11), 7);
	leave(t, 12, 7, 71); /* again: not two */
	is(t, 7, 12, 0x1000, "a");
	leave(t, 13, 7, 72);
	nothing(t, 7, 13, 0x1000);
	ck_assert_str_eq(da_tasks_comm_of(t, 7, 72, 13), "worker");
	da_tasks_free(t);
}
END_TEST

START_TEST(exec_leaves_one_thread)
{
	struct da_tasks *t = da_tasks_new();

	thread(t, 3, 7, 71);
	exec(t, 5, 7, "x");
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 71, 4), 7);
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 71, 5), 0);
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 7, 5), 7);
	map(t, 6, 7, 0x1000, 0x1000, "a");
	leave(t, 7, 7, 71); /* the end of the old thread, reported after the exec */
	is(t, 7, 7, 0x1000, "a");
	leave(t, 8, 7, 7);
	nothing(t, 7, 8, 0x1000);
	da_tasks_free(t);
}
END_TEST

/* An end of a thread that arrives before its beginning: other CPUs' rings. */
START_TEST(late_records_of_life)
{
	struct da_tasks *t = da_tasks_new();
	uint64_t mm;

	/* child's records first, its fork and its parent's mappings later */
	exec(t, 30, 8, "ls");
	map(t, 20, 8, 0x2000, 0x1000, "own");
	mm = da_tasks_mm(t, 8, 20);
	fork_(t, 10, 7, 8);
	map(t, 5, 7, 0x1000, 0x1000, "a");
	comm(t, 4, 7, 7, "sh");
	is(t, 8, 10, 0x1000, "a");
	is(t, 8, 20, 0x2000, "own");
	nothing(t, 8, 30, 0x1000);
	ck_assert_uint_eq(da_tasks_mm(t, 8, 20), mm);
	ck_assert_uint_eq(da_tasks_mm(t, 8, 10), mm);
	ck_assert_str_eq(da_tasks_comm_of(t, 8, 8, 29), "sh");

	leave(t, 50, 7, 71);
	leave(t, 45, 7, 7);
	ck_assert_uint_eq(da_tasks_mm(t, 7, 45), 0);
	thread(t, 40, 7, 71);
	ck_assert_uint_ne(da_tasks_mm(t, 7, 49), 0);
	ck_assert_uint_eq(da_tasks_mm(t, 7, 50), 0);
	ck_assert_uint_eq(da_tasks_pid_of_tid(t, 71, 49), 7);

	/* an exec that arrives after the mappings of its image */
	map(t, 60, 9, 0x1000, 0x1000, "old");
	map(t, 70, 9, 0x2000, 0x1000, "new");
	exec(t, 65, 9, "tool");
	nothing(t, 9, 70, 0x1000);
	is(t, 9, 70, 0x2000, "new");
	is(t, 9, 64, 0x1000, "old");
	da_tasks_free(t);
}
END_TEST

START_TEST(heap_grows)
{
	struct da_tasks *t = da_tasks_new();
	struct da_map maps[3], one, two;

	/* the first brk has no name yet on recent kernels */
	map(t, 1, 7, 0x10000000, 0x21000, "//anon");
	map(t, 2, 7, 0x10000000, 0x42000, "[heap]");
	map(t, 3, 7, 0x10000000, 0x84000, "[heap]");
	ck_assert_int_eq(at(t, 7, 1, 0x10000000).kind, DA_MAP_ANON);
	one = at(t, 7, 2, 0x10000000);
	two = at(t, 7, 3, 0x10000000);
	ck_assert_int_eq(one.kind, DA_MAP_HEAP);
	ck_assert(one.id != two.id);
	ck_assert_uint_eq(two.end, 0x10084000);
	nothing(t, 7, 2, 0x10050000);
	ck_assert_uint_eq(da_tasks_maps(t, 7, 3, maps, 3), 1);
	da_tasks_free(t);
}
END_TEST

/* Addresses of a live recording on Linux 6.18. */
START_TEST(first_brk)
{
	const uint64_t exe = 0x5615de970000, brk = 0x561613972000, libs = 0x7f191d994000;
	struct da_tasks *t = da_tasks_new();
	struct da_map maps[9];

	map(t, 1, 7, exe, 0x5000, "/tmp/m");
	map(t, 2, 7, libs, 0x1e5000, "/lib/libc.so.6");
	map_as(t, 3, 7, exe + 0x5000, 0x1000, exe + 0x5000,
	       "//anon"); /* bss: right behind its file */
	map_as(t, 4, 7, libs - 0x3000, 0x3000, libs - 0x3000, "//anon");
	map_as(t, 5, 7, brk, 0x100000, brk, "//anon");
	map_as(t, 6, 7, brk + 0x1000000, 0x1000, brk + 0x1000000,
	       "//anon"); /* above a heap: not another */
	is(t, 7, END, exe + 0x5000, "//anon");
	is(t, 7, END, libs - 0x3000, "//anon");
	is(t, 7, END, brk, "[heap]");
	ck_assert_int_eq(at(t, 7, END, brk).kind, DA_MAP_HEAP);
	is(t, 7, END, brk + 0x1000000, "//anon");
	/* too far, shared, executable, no program below, something above */
	exec(t, 10, 7, "x");
	map(t, 11, 7, exe, 0x5000, "/tmp/m");
	map_as(t, 12, 7, exe + 0x5000 + (1ull << 30) + 0x1000, 0x1000,
	       exe + 0x5000 + (1ull << 30) + 0x1000, "//anon");
	map(t, 13, 7, libs, 0x1e5000, "/lib/libc.so.6");
	map_as(t, 14, 7, brk, 0x1000, 0, "//anon");
	ck_assert_uint_eq(da_tasks_maps(t, 7, END, maps, 9), 4);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_ne(maps[i].kind, DA_MAP_HEAP);
	/* a late record may show that it is none */
	exec(t, 20, 7, "y");
	map(t, 21, 7, exe, 0x5000, "/tmp/m");
	map(t, 22, 7, libs, 0x1e5000, "/lib/libc.so.6");
	map_as(t, 25, 7, brk, 0x1000, brk, "//anon");
	is(t, 7, 25, brk, "[heap]");
	map(t, 24, 7, brk + 0x100000, 0x1000, "/some/file");
	is(t, 7, 25, brk, "//anon");
	da_tasks_free(t);
}
END_TEST

START_TEST(stack_grows_down)
{
	struct da_tasks *t = da_tasks_new();
	uint64_t start = 0x7fff00000000;
	struct da_map m;

	map_as(t, 1, 7, start, 0x21000, 0x7ffffffde000, "[stack]");
	map(t, 1, 7, start - 4 * MIB, 0x1000, "//anon");
	m = at(t, 7, 1, start - 0x1234);
	ck_assert_int_eq(m.kind, DA_MAP_STACK);
	ck_assert_uint_eq(m.start, start - 0x2000);
	ck_assert_uint_eq(m.end, start + 0x21000);
	ck_assert_uint_eq(m.pgoff, 0x7ffffffde000 - 0x2000);
	ck_assert_uint_eq(m.id, at(t, 7, 1, start).id);
	ck_assert_uint_eq(at(t, 7, 1, start).start, start);
	is(t, 7, 1, start - 3 * MIB, "[stack]");
	is(t, 7, 1, start - 4 * MIB, "//anon");
	nothing(t, 7, 1, start - 4 * MIB - 1); /* the next mapping above it is no stack */
	map(t, 2, 8, start, 0x21000, "[stack]");
	is(t, 8, 2, start - 8 * MIB, "[stack]");
	nothing(t, 8, 2, start - 8 * MIB - 1);
	map(t, 2, 9, 0x1000, 0x21000, "[stack]");
	ck_assert_uint_eq(at(t, 9, 2, 0).start, 0);
	ck_assert_uint_eq(at(t, 9, 2, 0).pgoff, 0);
	da_tasks_free(t);
}
END_TEST

START_TEST(kinds)
{
	static const struct {
		const char *name;
		enum da_map_kind kind, if_shared;
	} rows[] = {
		{"/usr/lib/libc.so.6", DA_MAP_FILE, DA_MAP_FILE},
		{"/tmp/x (deleted)", DA_MAP_FILE, DA_MAP_FILE},
		{"//toolong", DA_MAP_FILE, DA_MAP_FILE},
		{"//anon", DA_MAP_ANON, DA_MAP_ANON},
		{"", DA_MAP_ANON, DA_MAP_ANON},
		{"[anon:scudo:primary]", DA_MAP_ANON, DA_MAP_ANON},
		{"/anon_hugepage (deleted)", DA_MAP_ANON, DA_MAP_SHM},
		{"[anon_shmem:x]", DA_MAP_SHM, DA_MAP_SHM},
		{"[heap]", DA_MAP_HEAP, DA_MAP_HEAP},
		{"[stack]", DA_MAP_STACK, DA_MAP_STACK},
		{"[stack:123]", DA_MAP_STACK, DA_MAP_STACK},
		{"[vdso]", DA_MAP_VDSO, DA_MAP_VDSO},
		{"[vvar]", DA_MAP_VDSO, DA_MAP_VDSO},
		{"[vvar_vclock]", DA_MAP_VDSO, DA_MAP_VDSO},
		{"[vsyscall]", DA_MAP_VDSO, DA_MAP_VDSO},
		{"/dev/zero (deleted)", DA_MAP_SHM, DA_MAP_SHM},
		{"/dev/zero", DA_MAP_ANON, DA_MAP_SHM},
		{"/dev/shm/x", DA_MAP_SHM, DA_MAP_SHM},
		{"/memfd:hello (deleted)", DA_MAP_SHM, DA_MAP_SHM},
		{"/SYSV00000000 (deleted)", DA_MAP_SHM, DA_MAP_SHM},
		{"/dev/dri/card0", DA_MAP_OTHER, DA_MAP_OTHER},
		{"/dev/hugepages/x", DA_MAP_FILE, DA_MAP_FILE},
		{"anon_inode:[io_uring]", DA_MAP_OTHER, DA_MAP_OTHER},
		{"/[aio] (deleted)", DA_MAP_OTHER, DA_MAP_OTHER},
		{"[uprobes]", DA_MAP_OTHER, DA_MAP_OTHER},
		{"relative", DA_MAP_OTHER, DA_MAP_OTHER},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct da_tasks *t = da_tasks_new();
		struct da_rec_mmap m = {
			.pid = 1, .addr = 0x1000, .len = 1, .filename = rows[i].name};

		ck_assert_int_eq(names_map_kind(rows[i].name, false), rows[i].kind);
		ck_assert_int_eq(names_map_kind(rows[i].name, true), rows[i].if_shared);
		/* a record that does not say is taken for shared, and for executable */
		ck_assert_int_eq(da_tasks_mmap(t, &m, 1), 0);
		ck_assert_int_eq(at(t, 1, 1, 0x1000).kind, rows[i].if_shared);
		ck_assert_uint_eq(at(t, 1, 1, 0x1000).prot, 5);
		m.has_prot = true;
		m.flags = 2;
		m.prot = 1;
		ck_assert_int_eq(da_tasks_mmap(t, &m, 2), 0);
		ck_assert_int_eq(at(t, 1, 2, 0x1000).kind, rows[i].kind);
		ck_assert_uint_eq(at(t, 1, 2, 0x1000).prot, 1);
		da_tasks_free(t);
	}
}
END_TEST

START_TEST(file_identity)
{
	struct da_tasks *t = da_tasks_new();
	struct da_rec_mmap m = {.pid = 1,
				.addr = 0x1000,
				.len = 0x1000,
				.filename = "/f",
				.maj = 8,
				.min = 3,
				.ino = 77,
				.ino_gen = 5,
				.has_ino = true};
	struct da_map out;

	ck_assert_int_eq(da_tasks_mmap(t, &m, 1), 0);
	out = at(t, 1, 1, 0x1000);
	ck_assert(out.maj == 8 && out.min == 3 && out.ino == 77 && out.ino_gen == 5);
	m.has_ino = false; /* the bytes hold a build id instead */
	ck_assert_int_eq(da_tasks_mmap(t, &m, 2), 0);
	out = at(t, 1, 2, 0x1000);
	ck_assert(!out.maj && !out.min && !out.ino && !out.ino_gen);
	da_tasks_free(t);
}
END_TEST

START_TEST(bad_mappings_are_counted)
{
	struct da_tasks *t = da_tasks_new();
	struct da_tasks_stats s;

	map(t, 1, 7, 0x1000, 0, "empty");
	map(t, 1, 7, UINT64_MAX - 10, 100, "wraps");
	map(t, 1, 7, UINT64_MAX - 99, 100, "ends at 2^64");
	map(t, 1, 7, 1, UINT64_MAX, "ends at 2^64");
	map(t, 1, UINT32_MAX, 0xffffffff81000000, 0x1000, "[kernel.kallsyms]_text");
	ck_assert_uint_eq(da_tasks_mm(t, 7, END), 0);
	map(t, 2, 7, 0, UINT64_MAX, "all but a byte");
	is(t, 7, 2, 0, "all but a byte");
	is(t, 7, 2, UINT64_MAX - 1, "all but a byte");
	nothing(t, 7, 2, UINT64_MAX);
	map(t, 3, 7, UINT64_MAX - 1, 1, "top");
	is(t, 7, 3, UINT64_MAX - 1, "top");
	map(t, 3, 7, 0, 1, "bottom");
	is(t, 7, 3, 0, "bottom");
	ck_assert_uint_eq(da_tasks_maps(t, 7, 3, NULL, 0), 3);
	s = da_tasks_stats(t);
	ck_assert_uint_eq(s.zero_length, 1);
	ck_assert_uint_eq(s.wrapped, 3);
	ck_assert_uint_eq(s.kernel, 1);
	ck_assert_uint_eq(s.records, 8);
	da_tasks_free(t);
}
END_TEST

START_TEST(no_task_ids)
{
	struct da_tasks *t = da_tasks_new();
	struct da_rec_task f = {.pid = UINT32_MAX, .tid = 1, .ppid = 5, .ptid = 5};

	comm(t, 1, UINT32_MAX, 0, "swapper");
	ck_assert_int_eq(da_tasks_fork(t, &f, 1), 0);
	f = (struct da_rec_task){.pid = 5, .tid = 1, .ppid = UINT32_MAX};
	ck_assert_int_eq(da_tasks_fork(t, &f, 1), 0);
	leave(t, 1, UINT32_MAX, 5);
	ck_assert_uint_eq(da_tasks_mm(t, 5, END), 0);
	ck_assert_uint_eq(da_tasks_mm(t, UINT32_MAX, END), 0);
	leave(t, 2, 6, 6); /* of a process that was never seen */
	ck_assert_uint_eq(da_tasks_mm(t, 6, END), 0);
	ck_assert_str_eq(da_tasks_comm_of(t, 6, 6, END), "");
	da_tasks_free(t);
}
END_TEST

struct mm_seen {
	struct da_tasks *t;
	unsigned nr;
	uint64_t from[8], to[8], mm[8];
	uint32_t pid[8];
	const char *comm[8];
};

static void see_mm(void *ctx, uint64_t mm, uint32_t pid, const char *text, uint64_t from,
		   uint64_t to)
{
	struct mm_seen *s = ctx;

	ck_assert_uint_lt(s->nr, 8);
	s->mm[s->nr] = mm;
	s->pid[s->nr] = pid;
	s->comm[s->nr] = text;
	s->from[s->nr] = from;
	s->to[s->nr++] = to;
	(void)da_tasks_mm_maps(s->t, mm, NULL, 0); /* may ask again from inside */
}

START_TEST(each_mm)
{
	struct da_tasks *t = da_tasks_new();
	struct mm_seen s = {.t = t};

	comm(t, 5, 7, 7, "sh");
	fork_(t, 10, 7, 8);
	comm(t, 12, 8, 8, "sub");
	exec(t, 20, 8, "ls");
	comm(t, 25, 8, 8, "ls-2");
	leave(t, 30, 8, 8);
	leave(t, 50, 8, 8);
	da_tasks_each_mm(t, see_mm, &s);
	ck_assert_uint_eq(s.nr, 3);
	ck_assert(s.pid[0] == 7 && s.from[0] == 5 && s.to[0] == UINT64_MAX);
	ck_assert_str_eq(s.comm[0], "sh");
	ck_assert(s.pid[1] == 8 && s.from[1] == 10 && s.to[1] == 20);
	ck_assert_str_eq(s.comm[1], "sub");
	ck_assert(s.pid[2] == 8 && s.from[2] == 20 && s.to[2] == 30);
	ck_assert_str_eq(s.comm[2], "ls-2");
	ck_assert_uint_eq(s.mm[2], da_tasks_mm(t, 8, 25));
	/* a space that was begun by its mapping alone becomes part of the one that its late fork
	 * began */
	map(t, 70, 9, 0x1000, 0x1000, "x");
	fork_(t, 60, 7, 9);
	s.nr = 0;
	da_tasks_each_mm(t, see_mm, &s);
	ck_assert_uint_eq(s.nr, 4);
	ck_assert(s.pid[3] == 9 && s.from[3] == 60);
	ck_assert_uint_eq(da_tasks_mm_maps(t, s.mm[3], NULL, 0), 1);
	da_tasks_free(t);
}
END_TEST

/* ---- records ---- */

static void feed(struct da_tasks *t, uint32_t type, uint16_t misc, const void *body, size_t len,
		 uint64_t time)
{
	uint8_t bytes[256] = {0};
	uint16_t size = (uint16_t)(8 + len);
	struct da_rec rec = {.type = type,
			     .misc = misc,
			     .size = size,
			     .bytes = bytes,
			     .has = time ? DA_SAMPLE_TIME : 0,
			     .time_ns = time};

	memcpy(bytes, &type, 4);
	memcpy(bytes + 4, &misc, 2);
	memcpy(bytes + 6, &size, 2);
	memcpy(bytes + 8, body, len);
	ck_assert_int_eq(da_tasks_record(t, &rec), 0);
}

struct mmap_body {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	char name[16];
};

struct fork_body {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

START_TEST(records)
{
	struct da_tasks *t = da_tasks_new();
	struct mmap_body m = {.pid = 7,
			      .tid = 7,
			      .addr = 0x1000,
			      .len = 0x1000,
			      .pgoff = 0x3000,
			      .name = "/bin/x"};
	struct fork_body f = {.pid = 8, .ppid = 7, .tid = 8, .ptid = 7, .time = 20};
	struct {
		uint32_t pid, tid;
		char text[16];
	} c = {7, 7, "tool"};

	feed(t, DA_REC_MMAP, 2, &m, sizeof(m), 10);
	ck_assert_uint_eq(at(t, 7, 10, 0x1000).prot, 5);
	ck_assert_uint_eq(at(t, 7, 10, 0x1000).pgoff, 0x3000);
	feed(t, DA_REC_COMM, 0, &c, sizeof(c), 11);
	feed(t, DA_REC_FORK, 0, &f, sizeof(f), 20);
	is(t, 8, 20, 0x1000, "/bin/x");
	ck_assert_str_eq(da_tasks_comm_of(t, 8, 8, 20), "tool");
	feed(t, DA_REC_COMM, DA_MISC_EXEC, &c, sizeof(c), 30);
	nothing(t, 7, 30, 0x1000);
	f.pid = 9;
	f.tid = 9;
	f.ppid = 8;
	feed(t, DA_REC_FORK, DA_MISC_EXEC, &f, sizeof(f), 40); /* perf's mark of a made-up one */
	nothing(t, 9, 40, 0x1000);
	ck_assert_uint_ne(da_tasks_mm(t, 9, 40), 0);
	feed(t, DA_REC_EXIT, 0, &f, sizeof(f), 50);
	ck_assert_uint_eq(da_tasks_mm(t, 9, 50), 0);
	m.pid = 10;
	feed(t, DA_REC_MMAP, 2 | DA_MISC_MMAP_DATA, &m, sizeof(m), 0);
	ck_assert_uint_eq(at(t, 10, 0, 0x1000).prot, 1);
	/* not ours: kernel, hypervisor, guests; other types; what does not fit its bytes */
	m.pid = 11;
	for (uint16_t mode = 1; mode <= 5; mode++)
		if (mode != 2)
			feed(t, DA_REC_MMAP, mode, &m, sizeof(m), 60);
	feed(t, DA_REC_SAMPLE, 2, &m, sizeof(m), 60);
	feed(t, DA_REC_LOST, 2, &m, sizeof(m), 60);
	feed(t, DA_REC_MMAP, 2, &m, 16, 60);
	feed(t, DA_REC_COMM, 2, &c, 4, 60);
	feed(t, DA_REC_EXIT, 2, &f, 8, 60);
	ck_assert_uint_eq(da_tasks_mm(t, 11, END), 0);
	ck_assert_uint_eq(da_tasks_stats(t).kernel, 4);
	ck_assert_uint_eq(da_tasks_stats(t).damaged, 3);
	da_tasks_free(t);
}
END_TEST

/* ---- limits and hostile input ---- */

START_TEST(limits)
{
	const struct log_limits small = {.maps_per_mm = 10, .nodes = 4096, .ops = 40};
	struct da_tasks *t = log_new(&small);

	for (uint64_t i = 0; i < 30; i++)
		map(t, i, 7, 0x1000 * i, 0x1000, "x");
	ck_assert_uint_eq(da_tasks_maps(t, 7, END, NULL, 0), 10);
	ck_assert_uint_eq(da_tasks_stats(t).over_limit, 20);
	nothing(t, 7, END, 0x1000 * 10);
	for (uint64_t i = 30; i < 60; i++)
		comm(t, i, 7, 7, "x");
	ck_assert_uint_eq(t->nr_ops, 39);
	ck_assert_uint_eq(t->nr_maps, 30);
	ck_assert_uint_eq(log_task(t, 7)->nr_comms, 9);
	ck_assert_uint_eq(da_tasks_stats(t).over_limit, 41);
	da_tasks_free(t);

	t = log_new(&(struct log_limits){.maps_per_mm = 100000, .nodes = 2048, .ops = 100000});
	for (uint64_t i = 0; i < 3000; i++)
		map(t, i, 7, 0x1000 * i, 0x1000, "x");
	ck_assert_uint_gt(da_tasks_stats(t).over_limit, 0);
	ck_assert_uint_lt(t->tree.live, 2048);
	is(t, 7, END, 0, "x");
	da_tasks_free(t);
}
END_TEST

/* A process with many mappings that forks again and again, each child with a mapping of its own:
 * what they have in common is stored once. */
START_TEST(forks_share)
{
	struct da_tasks *t = da_tasks_new();
	uint32_t live, nr = 100000;

	for (uint64_t i = 0; i < 5000; i++)
		map(t, i + 1, 7, 0x10000 * i, 0x1000, "x");
	live = t->tree.live;
	for (uint32_t i = 0; i < nr; i++) {
		fork_(t, 10000 + 2 * i, 7, 1000 + i);
		map(t, 10001 + 2 * i, 1000 + i, 0x10000ull * (i % 5000) + 0x2000, 0x1000, "own");
	}
	ck_assert_uint_lt(t->tree.live - live, 40 * nr);
	is(t, 1000 + nr / 2, END, 0x10000, "x");
	ck_assert_uint_eq(da_tasks_maps(t, 1000 + nr / 2, END, NULL, 0), 5001);
	da_tasks_free(t);

	/* a line of descent instead of a family */
	t = da_tasks_new();
	comm(t, 1, 1, 1, "first");
	map(t, 1, 1, 0x1000, 0x1000, "x");
	for (uint32_t i = 1; i < nr; i++)
		fork_(t, 10 + i, i, i + 1);
	is(t, nr, END, 0x1000, "x");
	ck_assert_str_eq(da_tasks_comm_of(t, 100, 100, END), "first");
	ck_assert_str_eq(da_tasks_comm_of(t, nr, nr, END), ""); /* too far: bounded */
	map(t, 0, 1, 0x2000, 0x1000, "late");
	is(t, nr, END, 0x2000, "late");
	da_tasks_free(t);
}
END_TEST

/* Times that run backwards all the way: each record would have everything worked out again. When
 * the credit is used up they are moved; nothing is lost and the log stays sorted. */
START_TEST(backwards)
{
	struct da_tasks *t = da_tasks_new();
	struct da_tasks_stats s;

	t->credit = -100000;
	for (uint64_t i = 0; i < 2000; i++)
		map(t, 10000 - i, 7, 0x1000 * i, 0x1000, "x");
	s = da_tasks_stats(t);
	ck_assert_uint_gt(s.late_moved, 100);
	ck_assert_uint_gt(s.late, 5);
	ck_assert_uint_eq(s.late + s.late_moved, 1999);
	ck_assert_uint_eq(da_tasks_maps(t, 7, 10000, NULL, 0), 2000);
	for (uint32_t i = 1; i < log_task(t, 7)->nr_ops; i++)
		ck_assert_uint_ge(log_task(t, 7)->ops[i].time_ns,
				  log_task(t, 7)->ops[i - 1].time_ns);
	da_tasks_free(t);
}
END_TEST

/* A record that is later than any ring could make it, and one id that is used again without end. */
START_TEST(far_too_late)
{
	struct da_tasks *t = da_tasks_new();

	for (uint64_t i = 0; i < 20000; i++)
		map(t, 1000 + i, 7, 0x1000 * (i % 64), 0x1000, "x");
	map(t, 20500, 7, 0x100000, 0x1000, "late");
	is(t, 7, 20500, 0x100000, "late");
	map(t, 2000, 7, 0x200000, 0x1000, "far");
	nothing(t, 7, 20998, 0x200000);
	is(t, 7, 20999, 0x200000, "far");
	ck_assert_uint_eq(da_tasks_stats(t).late_moved, 1);
	for (uint64_t i = 0; i < 70000; i++)
		fork_(t, 30000 + i, 7, 8);
	ck_assert_uint_le(log_task(t, 8)->nr_members, 65536);
	is(t, 8, END, 0x200000, "far");
	da_tasks_free(t);
}
END_TEST

/* Two processes that fork each other in circles, without credit. */
START_TEST(circles)
{
	struct da_tasks *t = da_tasks_new();

	t->credit = -100000000;
	for (uint64_t i = 0; i < 1000; i++) {
		fork_(t, 1000 - i / 2, 1 + i % 2, 2 - i % 2);
		map(t, 900 - i / 2, 1 + i % 3, 0x1000 * (i % 16), 0x1000, "x");
	}
	t->credit = 100000000;
	for (uint64_t i = 0; i < 1000; i++) {
		fork_(t, 1000 - i / 2, 1 + i % 2, 2 - i % 2);
		map(t, 900 - i / 2, 1 + i % 3, 0x1000 * (i % 16), 0x1000, "x");
	}
	(void)da_tasks_comm_of(t, 1, 1, END);
	da_tasks_free(t);
}
END_TEST

static uint64_t rnd(uint64_t *s)
{
	*s += 0x9e3779b97f4a7c15ull;
	return (*s ^ *s >> 29) * 0xbf58476d1ce4e5b9ull >> 20;
}

/* ---- threads ---- */

static void *ask(void *arg)
{
	struct da_tasks *t = arg;
	uint64_t s = 5, gen = 0;

	for (unsigned i = 0; i < 20000; i++) {
		struct da_map m;
		uint64_t now;

		if (da_tasks_find(t, 1 + rnd(&s) % 8, rnd(&s) % 4000, rnd(&s) % 0x40000, &m))
			ck_assert_str_eq(m.name, "x");
		(void)da_tasks_comm_of(t, 1 + rnd(&s) % 8, 3, END);
		now = da_tasks_generation(t);
		ck_assert_uint_ge(now, gen);
		gen = now;
	}
	return NULL;
}

START_TEST(questions_while_records_arrive)
{
	struct da_tasks *t = da_tasks_new();
	pthread_t threads[2];
	uint64_t s = 9;

	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, ask, t), 0);
	for (uint64_t i = 0; i < 4000; i++) {
		uint32_t pid = 1 + (uint32_t)(rnd(&s) % 8);

		map(t, i + rnd(&s) % 20, pid, 0x1000 * (rnd(&s) % 64), 0x2000, "x");
		if (i % 16 == 0)
			fork_(t, i, pid, pid % 8 + 1);
		if (i % 50 == 0)
			exec(t, i, pid, "tool");
	}
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	da_tasks_free(t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("task");
	TCase *tc = tcase_create("task");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_test(tc, overlap_replaces_from_its_time_on);
	tcase_add_test(tc, exec_is_a_new_address_space);
	tcase_add_test(tc, fork_copies_what_is_mapped_then);
	tcase_add_test(tc, made_up_fork_copies_nothing);
	tcase_add_test(tc, a_late_mapping_reaches_the_children);
	tcase_add_test(tc, a_used_again_pid_is_another_process);
	tcase_add_test(tc, threads_share_and_outlive_the_first);
	tcase_add_test(tc, exec_leaves_one_thread);
	tcase_add_test(tc, late_records_of_life);
	tcase_add_test(tc, heap_grows);
	tcase_add_test(tc, first_brk);
	tcase_add_test(tc, stack_grows_down);
	tcase_add_test(tc, kinds);
	tcase_add_test(tc, file_identity);
	tcase_add_test(tc, bad_mappings_are_counted);
	tcase_add_test(tc, no_task_ids);
	tcase_add_test(tc, each_mm);
	tcase_add_test(tc, records);
	tcase_add_test(tc, limits);
	tcase_add_test(tc, forks_share);
	tcase_add_test(tc, backwards);
	tcase_add_test(tc, far_too_late);
	tcase_add_test(tc, circles);
	tcase_add_test(tc, questions_while_records_arrive);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
