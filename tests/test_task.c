/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline of tasks and address spaces: cases by hand, and random histories in random orders of
 * arrival against a model that replays everything for each question.
 */
#include <check.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "da_task.h"
#include "task_log.h"

#define MIB (1ull << 20)
#define END UINT64_MAX

/* For the innermost loops: ck_assert() makes a system call each time, this one only when it fails. */
#define MUST(what)                                                                                 \
	do {                                                                                       \
		if (!(what))                                                                       \
			ck_abort_msg("not so: " #what);                                            \
	} while (0)
#define SAME(a, b)                                                                                 \
	do {                                                                                       \
		uint64_t a_ = (uint64_t)(a), b_ = (uint64_t)(b);                                   \
		if (a_ != b_)                                                                      \
			ck_abort_msg(#a " is %lu, " #b " is %lu", (unsigned long)a_,               \
				     (unsigned long)b_);                                           \
	} while (0)
#define SAME_TEXT(a, b)                                                                            \
	do {                                                                                       \
		const char *a_ = (a), *b_ = (b);                                                   \
		if (strcmp(a_, b_))                                                                \
			ck_abort_msg(#a " is '%s', " #b " is '%s'", a_, b_);                       \
	} while (0)

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
	/* a space that was begun by its mapping alone becomes part of the one that its late fork began */
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
	ck_assert_uint_eq(da_tasks_stats(t).over_limit, 40);
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

/* A process with many mappings that forks again and again, each child with a mapping of its own: what
 * they have in common is stored once. */
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

/* Times that run backwards all the way: each record would have everything worked out again. When the
 * credit is used up they are moved; nothing is lost and the log stays sorted. */
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

/* ---- the tree ---- */

static unsigned check_node(const struct tree_pool *p, uint32_t i, uint64_t lo, uint64_t hi)
{
	const struct tree_node *n = &p->node[i];
	uint64_t l, r;
	unsigned hl, hr;

	if (!i)
		return 0;
	MUST(lo <= n->start && n->start < n->end && n->end <= hi);
	MUST(n->refs >= 1);
	l = tree_size(p, n->left);
	r = tree_size(p, n->right);
	SAME(n->size, l + r + 1);
	MUST((l + 1) * 100 >= 29 * (l + r + 2) && (r + 1) * 100 >= 29 * (l + r + 2));
	hl = check_node(p, n->left, lo, n->start);
	hr = check_node(p, n->right, n->end, hi);
	return 1 + (hl > hr ? hl : hr);
}

static uint64_t rnd(uint64_t *s)
{
	*s += 0x9e3779b97f4a7c15ull;
	return (*s ^ *s >> 29) * 0xbf58476d1ce4e5b9ull >> 20;
}

START_TEST(tree_is_balanced_and_frees)
{
	struct tree_pool p;
	uint32_t roots[2000], seen[512];
	uint64_t s = (uint64_t)_i + 1;

	tree_pool_init(&p, 1 << 20);
	for (unsigned i = 0; i < 2000; i++) {
		uint32_t base = i ? roots[rnd(&s) % 4 ? i - 1 : rnd(&s) % i] : 0;
		uint64_t a = _i == 0 ? i : rnd(&s) % 512,
			 b = _i == 0 ? i + 1 : a + 1 + rnd(&s) % (_i * 8);
		const struct tree_node *n;
		struct tree_walk w;

		for (unsigned x = 0; x < 512; x++) {
			n = tree_floor(&p, base, x);
			seen[x] = n && n->end > x ? n->rec : UINT32_MAX;
		}
		SAME(tree_overlay(&p, base, a, b, i, 0, &roots[i]), 0);
		MUST(check_node(&p, roots[i], 0, UINT64_MAX) <= 25);
		for (unsigned x = 0; x < 512; x++) {
			n = tree_floor(&p, roots[i], x);
			SAME(n && n->end > x ? n->rec : UINT32_MAX, x >= a && x < b ? i : seen[x]);
			n = tree_floor(&p, base, x); /* the old tree is as it was */
			SAME(n && n->end > x ? n->rec : UINT32_MAX, seen[x]);
		}
		a = 0;
		for (n = tree_first(&w, &p, roots[i]), b = 0; n; n = tree_next(&w), b++) {
			MUST(n->start >= a);
			ck_assert_ptr_eq(
				tree_above(&p, roots[i], n->start ? n->start - 1 : UINT64_MAX),
				n->start ? n : NULL);
			a = n->end;
		}
		SAME(b, tree_size(&p, roots[i]));
	}
	for (unsigned i = 0; i < 2000; i++)
		tree_unref(&p, roots[i]);
	SAME(p.live, 0);
	tree_pool_release(&p);
}
END_TEST

/* ---- the hash map ---- */

START_TEST(idmap_against_an_array)
{
	struct idmap m;
	uint32_t model[256];
	uint64_t s = 3;

	memset(model, 0xff, sizeof(model));
	idmap_init(&m, 42);
	SAME(idmap_get(&m, 1, 77), 77);
	MUST(!idmap_del(&m, 1));
	for (unsigned i = 0; i < 200000; i++) {
		uint32_t k = (uint32_t)(rnd(&s) % 256);
		uint64_t key = (uint64_t)k << 32 | k;

		if (rnd(&s) % 2) {
			SAME(idmap_put(&m, key, i), 0);
			model[k] = i;
		} else {
			SAME(idmap_del(&m, key), model[k] != UINT32_MAX);
			model[k] = UINT32_MAX;
		}
		k = (uint32_t)(rnd(&s) % 256);
		key = (uint64_t)k << 32 | k;
		SAME(idmap_get(&m, key, UINT32_MAX), model[k]);
		SAME(idmap_has(&m, key), model[k] != UINT32_MAX);
	}
	idmap_release(&m);
}
END_TEST

START_TEST(names_are_kept_once)
{
	struct names n;
	const char *first, *texts[3000];
	char text[40000];

	names_init(&n, 7);
	first = names_keep(&n, "abc");
	for (unsigned i = 0; i < 3000; i++) {
		sprintf(text, "name %u", i);
		texts[i] = names_keep(&n, text);
	}
	for (unsigned i = 0; i < 3000; i++) {
		sprintf(text, "name %u", i);
		SAME_TEXT(texts[i], text);
		MUST(names_keep(&n, text) == texts[i]);
	}
	MUST(names_keep(&n, "abc") == first);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	SAME_TEXT(names_keep(&n, text), text);
	SAME_TEXT(names_keep(&n, ""), "");
	names_release(&n);
}
END_TEST

/* ---- against the model ---- */

#define M_IDS   14 /* pids and tids 0..13 */
#define M_PAGES 48
#define M_RECS  160

struct event {
	enum op_kind
		kind; /* OP_FORK stands for a record that makes a process; OP_PARENT is not used */
	uint64_t time;
	uint32_t pid, tid, ppid, ptid;
	uint64_t page, pages;
	char text[8];
};

struct model_proc {
	int mm; /* 0: none; else 1 + index of the event that began it, or a soft one */
	bool member[M_IDS];
	int map[M_PAGES]; /* event, -1 none */
};

struct model_name {
	int mm_mark; /* last join: mm; 0: left or never */
	bool joined, named;
	bool created;
	char own[8], creator[8];
};

struct model {
	struct model_proc proc[M_IDS];
	struct model_name name[M_IDS];
	int mm_pid[M_RECS * 2 + 2];
};

static const char *model_comm(const struct model *m, uint32_t pid, uint32_t tid)
{
	const struct model_name *n = &m->name[tid];

	if (n->named)
		return n->own;
	if (n->created)
		return n->creator;
	return tid == pid ? "" : model_comm(m, pid, pid);
}

static void model_join(struct model *m, uint32_t pid, uint32_t tid, const struct event *creator)
{
	struct model_name *n = &m->name[tid];
	char was[8] = "";

	if (m->proc[pid].member[tid])
		return;
	if (creator)
		strcpy(was, model_comm(m, creator->ppid, creator->ptid));
	m->proc[pid].member[tid] = true;
	n->mm_mark = m->proc[pid].mm;
	n->named = false;
	n->created = creator != NULL;
	strcpy(n->creator, was);
}

static void model_begin(struct model *m, uint32_t pid, int mm, const struct event *creator)
{
	struct model_proc *p = &m->proc[pid];

	p->mm = mm;
	m->mm_pid[mm] = (int)pid;
	memset(p->member, 0, sizeof(p->member));
	for (unsigned i = 0; i < M_PAGES; i++)
		p->map[i] = -1;
	model_join(m, pid, pid, creator);
}

/* mm numbers: 2 * event + 1, for the parent side of a fork 2 * event + 2. */
static void model_step(struct model *m, const struct event *e, int i)
{
	struct model_proc *p = &m->proc[e->pid], *parent = &m->proc[e->ppid];
	bool empty = true;

	if (e->kind == OP_FORK) {
		if (!parent->mm)
			model_begin(m, e->ppid, 2 * i + 2, NULL);
		model_join(m, e->ppid, e->ptid, NULL);
		model_begin(m, e->pid, 2 * i + 1, e);
		memcpy(p->map, parent->map, sizeof(p->map));
		return;
	}
	if (e->kind == OP_EXEC)
		model_begin(m, e->pid, 2 * i + 1, NULL);
	else if (!p->mm && e->kind != OP_EXIT)
		model_begin(m, e->pid, 2 * i + 1, NULL);
	switch (e->kind) {
	case OP_EXIT:
		if (!p->mm || !p->member[e->tid])
			return;
		p->member[e->tid] = false;
		m->name[e->tid].mm_mark = 0;
		for (unsigned k = 0; k < M_IDS; k++)
			empty &= !p->member[k];
		if (empty)
			p->mm = 0;
		return;
	case OP_THREAD:
		model_join(m, e->pid, e->tid, e);
		return;
	case OP_MMAP:
		model_join(m, e->pid, e->tid, NULL);
		for (uint64_t k = e->page; k < e->page + e->pages; k++)
			p->map[k] = i;
		return;
	case OP_COMM:
		model_join(m, e->pid, e->tid, NULL);
		m->name[e->tid].named = true;
		strcpy(m->name[e->tid].own, e->text);
		return;
	case OP_EXEC:
		m->name[e->pid].named = true;
		strcpy(m->name[e->pid].own, e->text);
		return;
	default:
		ck_abort();
	}
}

static void model_at(struct model *m, const struct event *ev, const bool *arrived, int nr,
		     uint64_t time)
{
	memset(m, 0, sizeof(*m));
	for (int i = 0; i < nr; i++)
		if (ev[i].time <= time && (!arrived || arrived[i]))
			model_step(m, &ev[i], i);
}

static int give(struct da_tasks *t, const struct event *e)
{
	struct da_rec_task f = {
		.pid = e->pid, .tid = e->tid, .ppid = e->ppid, .ptid = e->ptid, .time_ns = e->time};
	struct da_rec_comm c = {
		.pid = e->pid, .tid = e->tid, .comm = e->text, .exec = e->kind == OP_EXEC};
	struct da_rec_mmap m = {.pid = e->pid,
				.tid = e->tid,
				.addr = e->page << 12,
				.len = e->pages << 12,
				.pgoff = e->page << 12,
				.filename = e->text};

	switch (e->kind) {
	case OP_FORK:
	case OP_THREAD:
		return da_tasks_fork(t, &f, e->time);
	case OP_EXIT:
		return da_tasks_exit(t, &f, e->time);
	case OP_COMM:
	case OP_EXEC:
		return da_tasks_comm(t, &c, e->time);
	default:
		return da_tasks_mmap(t, &m, e->time);
	}
}

/* One number of the model for one of the timeline, both ways. */
struct pairs {
	uint64_t ours[4096], theirs[4096];
	unsigned nr;
};

static void pair(struct pairs *p, uint64_t ours, uint64_t theirs, const char *what)
{
	for (unsigned i = 0; i < p->nr; i++) {
		if (p->ours[i] != ours && p->theirs[i] != theirs)
			continue;
		if (p->ours[i] != ours || p->theirs[i] != theirs)
			ck_abort_msg("%s: %lu is %lu, was %lu is %lu", what, (unsigned long)ours,
				     (unsigned long)theirs, (unsigned long)p->ours[i],
				     (unsigned long)p->theirs[i]);
		return;
	}
	MUST(p->nr < 4096);
	p->ours[p->nr] = ours;
	p->theirs[p->nr++] = theirs;
}

/* Names only where ids are used as a kernel does: one tid at a time in one process. */
static void compare(struct da_tasks *t, const struct model *m, bool sane, uint64_t time,
		    struct pairs *mms, struct pairs *ids)
{
	for (uint32_t id = 0; id < M_IDS; id++) {
		const struct model_proc *p = &m->proc[id];
		uint64_t mm = da_tasks_mm(t, id, time);
		int mark = m->name[id].mm_mark;
		uint32_t pid =
			mark && m->proc[m->mm_pid[mark]].mm == mark ? (uint32_t)m->mm_pid[mark] : 0;
		unsigned pieces = 0;

		SAME(da_tasks_pid_of_tid(t, id, time), pid);
		for (uint32_t other = 0; sane && other < M_IDS; other++)
			SAME_TEXT(da_tasks_comm_of(t, other, id, time), model_comm(m, other, id));
		SAME(!mm, !p->mm);
		if (mm)
			pair(mms, (uint64_t)p->mm, mm, "mm");
		for (unsigned k = 0; k < M_PAGES; k++) {
			struct da_map map;
			bool found = da_tasks_find(t, id, time, (uint64_t)k << 12 | 5, &map);
			unsigned lo = k, hi = k + 1;

			if (!mm || p->map[k] < 0) {
				MUST(!found);
				continue;
			}
			while (lo && p->map[lo - 1] == p->map[k])
				lo--;
			while (hi < M_PAGES && p->map[hi] == p->map[k])
				hi++;
			pieces += lo == k;
			MUST(found);
			SAME(map.start, (uint64_t)lo << 12);
			SAME(map.end, (uint64_t)hi << 12);
			SAME(map.pgoff, (uint64_t)lo << 12);
			SAME(atoi(map.name), p->map[k]);
			SAME(map.mm, mm);
			if (lo == k)
				pair(ids,
				     ((uint64_t)p->mm << 40) | ((uint64_t)p->map[k] << 20) |
					     (lo << 10) | hi,
				     map.id, "id");
		}
		SAME(da_tasks_maps(t, id, time, NULL, 0), pieces);
	}
}

static void invent(struct event *ev, int nr, uint64_t *s, bool sane)
{
	struct model m = {0};

	for (int i = 0; i < nr; i++) {
		struct event *e = &ev[i];
		unsigned what = (unsigned)(rnd(s) % 100);

		*e = (struct event){.time = 10 * (uint64_t)i + 10,
				    .pid = 1 + (uint32_t)(rnd(s) % (M_IDS - 1)),
				    .kind = OP_MMAP};
		e->tid = 1 + (uint32_t)(rnd(s) % (M_IDS - 1));
		e->ppid = 1 + (uint32_t)(rnd(s) % (M_IDS - 1));
		e->ptid = 1 + (uint32_t)(rnd(s) % (M_IDS - 1));
		e->page = rnd(s) % M_PAGES;
		e->pages = 1 + rnd(s) % (M_PAGES - e->page);
		if (e->pages > 6 && rnd(s) % 3)
			e->pages = 1 + e->pages % 6;
		sprintf(e->text, "%d", i);
		if (what < 12)
			e->kind = OP_FORK;
		else if (what < 22)
			e->kind = OP_THREAD;
		else if (what < 32)
			e->kind = OP_EXIT;
		else if (what < 38)
			e->kind = OP_EXEC;
		else if (what < 46)
			e->kind = OP_COMM;
		if (sane) { /* as a kernel would: records of threads that are alive, ids used once at a time */
			uint32_t new_id =
				e->kind == OP_FORK || !m.proc[e->pid].mm ? e->pid : e->tid;
			bool free_pid =
				!m.proc[new_id].mm; /* not while threads of its process live */

			if (!m.proc[e->pid].mm)
				e->kind = OP_FORK;
			for (unsigned k = 0; k < M_IDS; k++)
				free_pid &= !m.proc[k].mm || !m.proc[k].member[new_id];
			if ((e->kind == OP_FORK || e->kind == OP_THREAD) &&
			    (!free_pid || m.proc[e->pid].mm))
				e->kind = e->kind == OP_THREAD && free_pid && m.proc[e->pid].mm
						  ? OP_THREAD
						  : OP_MMAP;
			if (e->kind != OP_THREAD && e->kind != OP_FORK &&
			    !m.proc[e->pid].member[e->tid])
				e->tid = e->pid;
			e->ptid = e->ppid;
		}
		if (e->kind == OP_FORK) {
			if (e->ppid == e->pid)
				e->ppid = e->pid % (M_IDS - 1) + 1;
			e->ptid = sane || e->ptid == e->pid ? e->ppid : e->ptid;
			e->tid = e->pid;
		} else {
			e->ppid = e->kind == OP_THREAD ? e->pid : 1;
			e->ptid = sane || e->kind != OP_THREAD ? e->pid : e->ptid;
		}
		if (e->kind == OP_EXEC)
			e->tid = e->pid;
		model_step(&m, e, i);
	}
}

static void shuffle(int *order, int nr, uint64_t *s, int window)
{
	for (int i = 0; i < nr; i++)
		order[i] = i;
	for (int i = 0; i < nr; i++) {
		int left = nr - i, reach = window && window < left ? window : left;
		int j = i + (int)(rnd(s) % (uint64_t)reach), x = order[i];

		order[i] = order[j];
		order[j] = x;
	}
}

/* All pieces that a model's address space ever had, and its life. */
static void compare_spaces(struct da_tasks *t, const struct pairs *mms, const struct pairs *ids)
{
	for (unsigned i = 0; i < mms->nr; i++) {
		struct da_map maps[1024];
		size_t want = 0, got = da_tasks_mm_maps(t, mms->theirs[i], maps, 1024);

		for (unsigned k = 0; k < ids->nr; k++)
			want += ids->ours[k] >> 40 == mms->ours[i];
		SAME(got, want);
		for (size_t k = 0; k < got; k++) {
			unsigned x = 0;

			while (x < ids->nr && ids->theirs[x] != maps[k].id)
				x++;
			MUST(x < ids->nr);
			SAME(ids->ours[x] >> 40, mms->ours[i]);
			SAME((ids->ours[x] & 1023) << 12, maps[k].end);
			if (k)
				MUST(maps[k - 1].start < maps[k].start ||
				     (maps[k - 1].start == maps[k].start &&
				      maps[k - 1].from_ns <= maps[k].from_ns));
		}
	}
}

struct lives {
	struct da_tasks *t;
	const struct event *ev;
	int nr;
	const struct pairs *mms;
	unsigned seen;
	bool sane;
};

static void compare_life(void *ctx, uint64_t mm, uint32_t pid, const char *text, uint64_t from,
			 uint64_t to)
{
	struct lives *l = ctx;
	struct model m;
	unsigned i = 0;

	while (i < l->mms->nr && l->mms->theirs[i] != mm)
		i++;
	ck_assert_msg(i < l->mms->nr, "mm %lu is unknown", (unsigned long)mm);
	SAME(from, l->ev[(l->mms->ours[i] - 1) / 2].time);
	model_at(&m, l->ev, NULL, l->nr, to - 1);
	SAME(m.proc[pid].mm, (int)l->mms->ours[i]);
	if (l->sane)
		SAME_TEXT(text, model_comm(&m, pid, pid));
	if (to != UINT64_MAX) {
		model_at(&m, l->ev, NULL, l->nr, to);
		ck_assert_int_ne(m.proc[pid].mm, (int)l->mms->ours[i]);
	}
	l->seen++;
}

START_TEST(any_order_of_arrival)
{
	uint64_t s = (uint64_t)_i * 77 + 1;
	struct event ev[M_RECS];
	int nr = 20 + (int)(rnd(&s) % (M_RECS - 20)), order[M_RECS];
	static const int windows[] = {1, 4, 16, 0, 0};

	bool sane = _i % 3 == 0;

	invent(ev, nr, &s, sane);
	for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
		struct da_tasks *t = da_tasks_new();
		struct pairs mms = {0}, ids = {0}, early_mms, early_ids;
		bool arrived[M_RECS] = {false};
		struct model m;
		struct lives l = {t, ev, nr, &mms, 0, sane};

		shuffle(order, nr, &s, windows[w]);
		for (int i = 0; i < nr; i++) {
			uint64_t time = 10 * (rnd(&s) % (uint64_t)nr) + 15;

			arrived[order[i]] = true;
			SAME(give(t, &ev[order[i]]), 0);
			if (i % 8)
				continue;
			memset(&early_mms, 0, sizeof(early_mms));
			memset(&early_ids, 0, sizeof(early_ids));
			model_at(&m, ev, arrived, nr, time);
			compare(t, &m, sane, time, &early_mms, &early_ids);
		}
		for (int i = 0; i <= nr; i++) {
			uint64_t time = 10 * (uint64_t)i + (i % 2 ? 0 : 5);

			model_at(&m, ev, NULL, nr, 10 * (uint64_t)i);
			compare(t, &m, sane, time, &mms, &ids);
		}
		compare_spaces(t, &mms, &ids);
		da_tasks_each_mm(t, compare_life, &l);
		SAME(l.seen, mms.nr);
		da_tasks_free(t);
	}
}
END_TEST

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
	TCase *tc = tcase_create("timeline"), *parts = tcase_create("parts"),
	      *model = tcase_create("model");
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
	tcase_add_loop_test(parts, tree_is_balanced_and_frees, 0, 4);
	tcase_add_test(parts, idmap_against_an_array);
	tcase_add_test(parts, names_are_kept_once);
	tcase_set_timeout(parts, 120);
	suite_add_tcase(s, parts);
	tcase_add_loop_test(model, any_order_of_arrival, 0, 60);
	tcase_set_timeout(model, 120);
	suite_add_tcase(s, model);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
