/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instruction bytes by process, address and time, and that no cache outlives what it was made from: exec,
 * a new mapping over an old one, a pid used again, a file replaced or written to, memory rewritten by a
 * JIT. Timelines are made by hand; files are real, and live look-ups read this process and its children.
 *
 * The code is "mov" with a displacement that says which version it is, so that a stale answer shows.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "code_priv.h"
#include "da_code.h"
#include "da_error.h"
#include "folder.h"

#define PAGE  4096u
#define MS    1000000ULL
#define PID   1000u
#define ADDR  0x7f0000000000ULL
#define CALLS 4 /* pages of a test file */

/* ---- making things ---- */

static char dir[200];
static struct da_tasks *tasks;
static struct da_code_store *store;
static struct da_code *code;

/* Pieces that were saved. */
static struct da_own_code saved[4096];
static unsigned nr_saved;
static pthread_mutex_t saved_lock = PTHREAD_MUTEX_INITIALIZER;

static void on_save(void *ctx, const struct da_own_code *piece)
{
	uint8_t *copy = malloc(piece->len);

	ck_assert_ptr_nonnull(copy);
	ck_assert_ptr_eq(ctx, &nr_saved);
	memcpy(copy, piece->bytes, piece->len);
	pthread_mutex_lock(&saved_lock);
	ck_assert_uint_lt(nr_saved, sizeof(saved) / sizeof(saved[0]));
	saved[nr_saved] = *piece;
	saved[nr_saved++].bytes = copy;
	pthread_mutex_unlock(&saved_lock);
}

static void open_store(bool live)
{
	store = da_code_store_new(tasks, DA_ARCH_X86_64);
	ck_assert_ptr_nonnull(store);
	if (live)
		da_code_store_live(store, on_save, &nr_saved);
	code = da_code_new(store);
	ck_assert_ptr_nonnull(code);
}

static void setup(void)
{
	test_folder(dir, sizeof(dir));
	tasks = da_tasks_new();
	ck_assert_ptr_nonnull(tasks);
}

static void close_store(void)
{
	da_code_free(code);
	da_code_store_free(store);
	code = NULL;
	store = NULL;
}

static void teardown(void)
{
	char cmd[232];

	close_store();
	da_tasks_free(tasks);
	for (unsigned i = 0; i < nr_saved; i++)
		free((void *)(uintptr_t)saved[i].bytes);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	ck_assert_int_eq(system(cmd), 0);
}

/* mov eax, [rbx+version], padded with nop to 8 bytes. */
static void put_mov(uint8_t *at, uint8_t version)
{
	memset(at, 0x90, 8);
	at[0] = 0x8b;
	at[1] = 0x43;
	at[2] = version;
}

static void fill_movs(uint8_t *at, size_t n, uint8_t version)
{
	for (size_t i = 0; i + 8 <= n; i += 8)
		put_mov(at + i, version);
}

static const char *in_dir(const char *name)
{
	static char path[4][256];
	static unsigned turn;
	char *p = path[turn++ % 4];

	snprintf(p, 256, "%s/%s", dir, name);
	return p;
}

/* A file of CALLS pages full of that mov. */
static void write_file(const char *path, uint8_t version)
{
	static uint8_t bytes[CALLS * PAGE];
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	fill_movs(bytes, sizeof(bytes), version);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
}

/* A mapping record of the file as it is now, at addr, from file offset pgoff. */
static struct da_rec_mmap file_map(uint32_t pid, const char *path, uint64_t addr, uint64_t pgoff)
{
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return (struct da_rec_mmap){
		.pid = pid,
		.tid = pid,
		.addr = addr,
		.len = CALLS * PAGE - pgoff,
		.pgoff = pgoff,
		.maj = major(st.st_dev),
		.min = minor(st.st_dev),
		.ino = st.st_ino,
		.has_ino = true,
		.has_prot = true,
		.prot = PROT_READ | PROT_EXEC,
		.flags = MAP_PRIVATE,
		.filename = path,
	};
}

static struct da_rec_mmap memory_map(uint32_t pid, const void *addr, size_t len)
{
	return (struct da_rec_mmap){
		.pid = pid,
		.tid = pid,
		.addr = (uintptr_t)addr,
		.len = len,
		.pgoff = (uintptr_t)addr,
		.has_ino = true,
		.has_prot = true,
		.prot = PROT_READ | PROT_WRITE | PROT_EXEC,
		.flags = MAP_PRIVATE | MAP_ANONYMOUS,
		.filename = "//anon",
	};
}

static void mmap_at(const struct da_rec_mmap *m, uint64_t time_ns)
{
	ck_assert_int_eq(da_tasks_mmap(tasks, m, time_ns), 0);
}

static void map_file(uint32_t pid, const char *path, uint64_t addr, uint64_t time_ns)
{
	struct da_rec_mmap m = file_map(pid, path, addr, 0);

	mmap_at(&m, time_ns);
}

/* The version that a look-up sees; -1: no code. */
static int version(uint32_t pid, uint64_t time_ns, uint64_t ip)
{
	const struct da_insn *in = da_code_insn(code, pid, time_ns, ip, 2);

	if (!in)
		return -1;
	ck_assert_int_eq(in->kind, DA_INSN_ACCESS);
	ck_assert_uint_eq(in->len, 3);
	return (int)in->acc[0].disp;
}

/* The record of this program's own mapping of addr. */
static struct da_rec_mmap own_mapping(uintptr_t addr, char name[256])
{
	unsigned long start, end, off, ino;
	struct da_rec_mmap m = {.pid = (uint32_t)getpid(), .tid = (uint32_t)getpid()};
	unsigned maj, min;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx %x:%x %lu %255s", &start, &end, &off, &maj, &min,
			   &ino, name) != 7 ||
		    addr < start || addr >= end)
			continue;
		m.addr = start;
		m.len = end - start;
		m.pgoff = off;
		m.maj = maj;
		m.min = min;
		m.ino = ino;
		m.has_ino = m.has_prot = true;
		m.prot = PROT_READ | PROT_EXEC;
		m.flags = MAP_PRIVATE;
		m.filename = name;
		break;
	}
	fclose(f);
	ck_assert_uint_ne(m.len, 0);
	return m;
}

/* ---- files ---- */

START_TEST(a_file)
{
	struct da_rec_mmap second;
	struct da_code_stats st;

	write_file(in_dir("lib"), 5);
	map_file(PID, in_dir("lib"), ADDR, 1 * MS);
	open_store(false);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR), -1); /* files are not allowed yet */
	close_store();

	open_store(false);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 16), 5);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 16), 5);
	ck_assert_int_eq(version(PID, 3 * MS, ADDR + 16), 5);
	st = da_code_stats(code);
	ck_assert_uint_eq(st.lookups, 3);
	ck_assert_uint_eq(st.hits, 2);
	ck_assert_uint_eq(st.fetched_file, 1);
	ck_assert_uint_eq(st.missing, 0);

	/* another process, elsewhere in memory, another part of the file: the same code object */
	second = file_map(PID + 1, in_dir("lib"), ADDR + 0x100000, PAGE);
	mmap_at(&second, 1 * MS);
	ck_assert_int_eq(version(PID + 1, 2 * MS, ADDR + 0x100000), 5);
	ck_assert_uint_eq(da_code_stats(code).fetched_file, 2);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + PAGE), 5);
	ck_assert_uint_eq(da_code_stats(code).fetched_file, 2);

	/* not mapped, not yet mapped, unknown process */
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + CALLS * PAGE), -1);
	ck_assert_int_eq(version(PID, MS / 2, ADDR), -1);
	ck_assert_int_eq(version(PID + 9, 2 * MS, ADDR), -1);
	ck_assert_uint_eq(da_code_stats(code).missing, 3);
}
END_TEST

START_TEST(only_that_file)
{
	struct da_rec_mmap m;

	write_file(in_dir("lib"), 5);
	for (int i = 0; i < 7; i++) {
		m = file_map(PID + (uint32_t)i, in_dir("lib"), ADDR, 0);
		switch (i) {
		case 1:
			m.ino++;
			break;
		case 2:
			m.maj ^= 1;
			break;
		case 3:
			m.min ^= 1;
			break;
		case 4: /* as old kernels record it: nothing proves that it is this file */
			m.has_ino = false;
			break;
		case 5:
			m.filename = in_dir("nothing");
			break;
		case 6:
			m.filename = "lib"; /* not a path */
			break;
		default:
			break;
		}
		mmap_at(&m, 1 * MS);
		open_store(false);
		da_code_store_files(store, true);
		ck_assert_msg(version(m.pid, 2 * MS, ADDR) == (i ? -1 : 5), "variant %d", i);
		close_store();
	}
}
END_TEST

/* Inode numbers are used again; the generation tells, where the file system has one. */
START_TEST(inode_used_again)
{
	struct da_rec_mmap m;
	long gen = 0;
	int fd;

	write_file(in_dir("lib"), 5);
	fd = open(in_dir("lib"), O_RDONLY);
	ck_assert_int_ge(fd, 0);
	if (ioctl(fd, _IOR('v', 1, long), &gen) < 0 || !(uint32_t)gen) { /* FS_IOC_GETVERSION */
		printf("not tried: no inode generations on %s\n", dir);
		close(fd);
		return;
	}
	close(fd);
	m = file_map(PID, in_dir("lib"), ADDR, 0);
	m.ino_gen = (uint32_t)gen;
	mmap_at(&m, 1 * MS);
	for (uint32_t i = 1; i < 200; i++) {
		m.pid = PID + i;
		m.ino_gen = (uint32_t)gen + i;
		mmap_at(&m, 1 * MS);
	}
	open_store(false);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR), 5);
	for (uint32_t i = 1; i < 200; i++)
		ck_assert_int_eq(version(PID + i, 2 * MS, ADDR), -1);
}
END_TEST

/* On overlayfs the record's device is not that of stat(2); the inode number and the path must do. */
START_TEST(overlay)
{
	char options[512], name[256];
	struct da_rec_mmap m;
	struct stat st;
	uint8_t *p;
	int fd;

	ck_assert_int_eq(mkdir(in_dir("lower"), 0755), 0);
	ck_assert_int_eq(mkdir(in_dir("empty"), 0755), 0);
	ck_assert_int_eq(mkdir(in_dir("m"), 0755), 0);
	write_file(in_dir("lower/lib"), 5);
	snprintf(options, sizeof(options), "lowerdir=%s:%s", in_dir("lower"), in_dir("empty"));
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", in_dir("empty"), "tmpfs", 0, NULL) <
		    0 || /* layers of two file systems */
	    mount("overlay", in_dir("m"), "overlay", MS_RDONLY, options) < 0) {
		printf("not tried: cannot mount an overlayfs: %s\n", strerror(errno));
		umount2(in_dir("empty"), MNT_DETACH);
		return;
	}
	fd = open(in_dir("m/lib"), O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	p = mmap(NULL, CALLS * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(p, MAP_FAILED);
	close(fd);
	m = own_mapping((uintptr_t)p, name);
	m.pid = m.tid = PID; /* of that mount namespace no more is known than the path */
	m.filename = in_dir("m/lib");
	mmap_at(&m, 1 * MS);
	m.pid = m.tid = PID + 1;
	m.ino++;
	mmap_at(&m, 1 * MS);
	open_store(false);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 2 * MS, (uintptr_t)p), 5);
	ck_assert_int_eq(version(PID + 1, 2 * MS, (uintptr_t)p), -1);
	printf("overlayfs: recorded %u:%u, stat says %u:%u\n", m.maj, m.min, major(st.st_dev),
	       minor(st.st_dev));
	munmap(p, CALLS * PAGE);
	ck_assert_int_eq(umount2(in_dir("m"), MNT_DETACH), 0);
	ck_assert_int_eq(umount2(in_dir("empty"), MNT_DETACH), 0);
}
END_TEST

/* Names of other things than regular files are neither read nor waited for. */
START_TEST(not_a_regular_file)
{
	struct da_rec_mmap m;

	ck_assert_int_eq(mkfifo(in_dir("fifo"), 0600), 0);
	ck_assert_int_eq(mkdir(in_dir("folder"), 0700), 0);
	m = file_map(PID, in_dir("fifo"), ADDR, 0);
	mmap_at(&m, 1 * MS);
	m = file_map(PID, in_dir("folder"), ADDR + 0x100000, 0);
	mmap_at(&m, 1 * MS);
	/* a device that would give bytes: /dev/zero's */
	if (mknod(in_dir("zero"), S_IFCHR | 0600, makedev(1, 5)) == 0) {
		m = file_map(PID, in_dir("zero"), ADDR + 0x200000, 0);
		mmap_at(&m, 1 * MS);
	} else {
		printf("not tried: a device (%s)\n", strerror(errno));
	}
	open_store(true);
	da_code_store_files(store, true);
	for (uint64_t i = 0; i < 3; i++)
		ck_assert_ptr_null(da_code_insn(code, PID, 2 * MS, ADDR + i * 0x100000, 2));
}
END_TEST

/* A package upgrade: the path names another inode now. */
START_TEST(replaced_file)
{
	write_file(in_dir("lib"), 5);
	map_file(PID, in_dir("lib"), ADDR, 1 * MS);
	open_store(false);
	da_code_store_files(store, true);
	write_file(in_dir("new"), 6);
	ck_assert_int_eq(rename(in_dir("new"), in_dir("lib")), 0);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR), -1);
	/* a process that mapped the new one */
	map_file(PID + 1, in_dir("lib"), ADDR, 2 * MS);
	ck_assert_int_eq(version(PID + 1, 3 * MS, ADDR), 6);
	ck_assert_int_eq(version(PID, 3 * MS, ADDR), -1);
}
END_TEST

/* Replaced while recording: what is open stays the old one, as in the process. */
START_TEST(replaced_while_recording)
{
	write_file(in_dir("lib"), 5);
	map_file(PID, in_dir("lib"), ADDR, 1 * MS);
	open_store(true);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR), 5);
	write_file(in_dir("new"), 6);
	ck_assert_int_eq(rename(in_dir("new"), in_dir("lib")), 0);
	map_file(PID + 1, in_dir("lib"), ADDR, 3 * MS);
	for (uint64_t t = 4; t < 100; t += 7) {
		ck_assert_int_eq(version(PID, t * MS, ADDR), 5);
		ck_assert_int_eq(version(PID, t * MS, ADDR + 8 * t), 5);
		ck_assert_int_eq(version(PID + 1, t * MS, ADDR), 6);
	}
}
END_TEST

/* The same inode, written to: running processes see the new bytes. */
START_TEST(changed_in_place)
{
	write_file(in_dir("lib"), 5);
	map_file(PID, in_dir("lib"), ADDR, 1 * MS);
	open_store(true);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 100 * MS, ADDR), 5);
	ck_assert_int_eq(version(PID, 101 * MS, ADDR), 5); /* from the front cache */
	write_file(in_dir("lib"), 6);
	/* noticed within CODE_RECHECK_NS, for cached instructions too, whoever asks */
	ck_assert_int_eq(version(PID, 112 * MS, ADDR), 6);
	ck_assert_int_eq(version(PID, 112 * MS, ADDR + 8), 6);
	ck_assert_int_eq(version(PID, 101 * MS, ADDR), 5);         /* a sample that comes late */
	ck_assert_int_eq(version(PID, 101 * MS, ADDR + 1024), -1); /* not saved then, and gone */
	ck_assert_int_eq(version(PID, 113 * MS, ADDR), 6);
	/* both are in the recording, the second valid from then on */
	ck_assert_uint_eq(nr_saved, 2);
	ck_assert_uint_eq(saved[0].time_ns, 0);
	ck_assert_uint_eq(saved[1].time_ns, 112 * MS);
	close_store();

	open_store(false);
	for (unsigned i = 0; i < nr_saved; i++)
		ck_assert_int_eq(da_code_store_add(store, &saved[i]), 0);
	ck_assert_int_eq(version(PID, 100 * MS, ADDR), 5);
	ck_assert_int_eq(version(PID, 112 * MS, ADDR), 6);
	ck_assert_int_eq(version(PID, 111 * MS, ADDR), 5);
	ck_assert_int_eq(version(PID, 500 * MS, ADDR), 6);
}
END_TEST

START_TEST(older_recording)
{
	struct stat st;

	write_file(in_dir("lib"), 5);
	ck_assert_int_eq(stat(in_dir("lib"), &st), 0);
	map_file(PID, in_dir("lib"), ADDR, 1 * MS);
	open_store(false);
	da_code_store_files_as_of(store, st.st_ctim.tv_sec - 1);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR), -1);
	close_store();
	open_store(false);
	da_code_store_files_as_of(store, st.st_ctim.tv_sec);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR), 5);
}
END_TEST

START_TEST(cut_short)
{
	write_file(in_dir("lib"), 5);
	map_file(PID, in_dir("lib"), ADDR, 1 * MS);
	open_store(true);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR), 5);
	ck_assert_int_eq(truncate(in_dir("lib"), PAGE), 0);
	ck_assert_int_eq(version(PID, 50 * MS, ADDR + 2 * PAGE), -1);
	ck_assert_int_eq(version(PID, 50 * MS, ADDR), 5);
}
END_TEST

static unsigned open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* More files than may be open at once, several rounds. */
START_TEST(many_files)
{
	unsigned before;
	char name[16];

	for (unsigned i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "lib%u", i);
		write_file(in_dir(name), (uint8_t)(i + 1));
		map_file(PID, in_dir(name), ADDR + i * 0x100000ULL, 1 * MS);
	}
	before = open_fds();
	open_store(false);
	da_code_store_files(store, true);
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 100; i++)
			ck_assert_int_eq(version(PID, 2 * MS, ADDR + i * 0x100000ULL + 8 * round),
					 (int)i + 1);
		ck_assert_uint_le(open_fds(), before + 40);
	}
	close_store();
	ck_assert_uint_eq(open_fds(), before);
}
END_TEST

/* ---- the timeline ---- */

START_TEST(exec_replaces)
{
	struct da_rec_comm exec = {.pid = PID, .tid = PID, .comm = "b", .exec = true};

	write_file(in_dir("a"), 1);
	write_file(in_dir("b"), 2);
	map_file(PID, in_dir("a"), ADDR, 1 * MS);
	open_store(false);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 5 * MS, ADDR), 1);
	ck_assert_int_eq(version(PID, 12 * MS, ADDR), 1);
	ck_assert_int_eq(da_tasks_comm(tasks, &exec, 10 * MS), 0);
	ck_assert_int_eq(version(PID, 12 * MS, ADDR), -1);
	map_file(PID, in_dir("b"), ADDR, 11 * MS);
	ck_assert_int_eq(version(PID, 12 * MS, ADDR), 2);
	ck_assert_int_eq(version(PID, 12 * MS, ADDR), 2);
	ck_assert_int_eq(version(PID, 5 * MS, ADDR), 1);
	ck_assert_int_eq(version(PID, 9 * MS, ADDR), 1);
	ck_assert_int_eq(version(PID, 20 * MS, ADDR), 2);
	ck_assert_int_eq(version(PID, 10 * MS + 1, ADDR), -1);
}
END_TEST

START_TEST(mapped_over)
{
	write_file(in_dir("a"), 1);
	write_file(in_dir("b"), 2);
	map_file(PID, in_dir("a"), ADDR, 1 * MS);
	open_store(false);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 5 * MS, ADDR + PAGE), 1);
	ck_assert_int_eq(version(PID, 15 * MS, ADDR + PAGE), 1);
	map_file(PID, in_dir("b"), ADDR + PAGE, 10 * MS);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(version(PID, 5 * MS, ADDR + PAGE), 1);
		ck_assert_int_eq(version(PID, 15 * MS, ADDR + PAGE), 2);
		ck_assert_int_eq(version(PID, 10 * MS, ADDR + PAGE), 2);
		ck_assert_int_eq(version(PID, 15 * MS, ADDR), 1); /* what is left of the first */
	}
}
END_TEST

START_TEST(pid_used_again)
{
	struct da_rec_task end = {.pid = PID, .ppid = 1, .tid = PID, .ptid = 1, .time_ns = 10 * MS};
	struct da_rec_task fork = {
		.pid = PID, .ppid = 1, .tid = PID, .ptid = 1, .time_ns = 20 * MS};

	write_file(in_dir("a"), 1);
	write_file(in_dir("b"), 2);
	map_file(PID, in_dir("a"), ADDR, 1 * MS);
	open_store(false);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 5 * MS, ADDR), 1);
	ck_assert_int_eq(da_tasks_exit(tasks, &end, 10 * MS), 0);
	ck_assert_int_eq(da_tasks_fork(tasks, &fork, 20 * MS), 0);
	map_file(PID, in_dir("b"), ADDR, 21 * MS);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(version(PID, 5 * MS, ADDR), 1);
		ck_assert_int_eq(version(PID, 15 * MS, ADDR), -1);
		ck_assert_int_eq(version(PID, 25 * MS, ADDR), 2);
	}
}
END_TEST

/* Far more processes than the front cache has entries, the same address, different code. */
START_TEST(many_processes)
{
	write_file(in_dir("a"), 1);
	write_file(in_dir("b"), 2);
	for (uint32_t i = 0; i < 12000; i++)
		map_file(PID + i, in_dir(i & 1 ? "b" : "a"), ADDR, 1 * MS);
	open_store(false);
	da_code_store_files(store, true);
	for (unsigned round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 12000; i++)
			ck_assert_int_eq(version(PID + i, 2 * MS, ADDR), i & 1 ? 2 : 1);
	ck_assert_uint_eq(da_code_stats(code).fetched_file, 2);
}
END_TEST

/* ---- saved pieces ---- */

static void add_file_piece(const struct da_rec_mmap *m, uint64_t off, uint64_t time_ns, uint8_t v,
			   uint32_t len)
{
	uint8_t bytes[PAGE];
	struct da_own_code p = {.maj = m->maj,
				.min = m->min,
				.ino = m->ino,
				.addr = off,
				.time_ns = time_ns,
				.len = len,
				.bytes = bytes};

	fill_movs(bytes, sizeof(bytes), v);
	ck_assert_int_eq(da_code_store_add(store, &p), 0);
}

START_TEST(only_saved_pieces)
{
	struct da_rec_mmap m;

	write_file(in_dir("lib"), 9);
	m = file_map(PID, in_dir("lib"), ADDR, PAGE);
	m.filename = "/of/another/machine";
	mmap_at(&m, 1 * MS);
	open_store(false);
	add_file_piece(&m, PAGE + 64, 0, 3, 64);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 64), 3);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 120), 3);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 56), -1);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 128), -1);
	/* one more arrives (a pipe): found now, and the newer one from its time on */
	add_file_piece(&m, PAGE + 128, 0, 4, 64);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 128), 4);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 64), 3);
	ck_assert_int_eq(version(PID, 8 * MS, ADDR + 64), 3);
	add_file_piece(&m, PAGE, 5 * MS, 6, 256);
	ck_assert_int_eq(version(PID, 8 * MS, ADDR + 64), 6);
	ck_assert_int_eq(version(PID, 5 * MS, ADDR + 64), 6);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 64), 3);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR), -1);
	ck_assert_uint_eq(da_code_stats(code).fetched_file, 0);
}
END_TEST

/* A saved piece comes before the file, which may have changed since. */
START_TEST(saved_before_file)
{
	struct da_rec_mmap m;

	write_file(in_dir("lib"), 9);
	m = file_map(PID, in_dir("lib"), ADDR, 0);
	mmap_at(&m, 1 * MS);
	open_store(false);
	da_code_store_files(store, true);
	add_file_piece(&m, 0, 0, 3, 64);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR), 3);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 64), 9);
}
END_TEST

/* The end of a piece in the middle of an instruction is not an unknown instruction. */
START_TEST(piece_ends_inside)
{
	struct da_rec_mmap m;
	const struct da_insn *in;

	write_file(in_dir("lib"), 9);
	m = file_map(PID, in_dir("lib"), ADDR, 0);
	mmap_at(&m, 1 * MS);
	open_store(false);
	add_file_piece(&m, 0, 0, 3, 66);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 64), -1);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 64), -1);
	add_file_piece(&m, 0, 0, 3, 67);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 64), 3);
	/* 16 bytes that are no instruction are */
	add_file_piece(&m, 128, 0, 3, 32);
	in = da_code_insn(code, PID, 2 * MS, ADDR + 129,
			  2); /* 43 03 90 ...: REX.XB add edx, [r8-...] */
	ck_assert_ptr_nonnull(in);
}
END_TEST

START_TEST(pieces_of_memory)
{
	struct da_rec_mmap m = memory_map(PID, (void *)0x10000, 2 * PAGE);
	struct da_rec_task end = {.pid = PID, .ppid = 1, .tid = PID, .ptid = 1, .time_ns = 10 * MS};
	uint8_t bytes[64];
	struct da_own_code p = {
		.pid = PID, .addr = 0x10000, .time_ns = 1 * MS, .len = 64, .bytes = bytes};

	mmap_at(&m, 1 * MS);
	ck_assert_int_eq(da_tasks_exit(tasks, &end, 10 * MS), 0);
	mmap_at(&m, 20 * MS); /* the same pid, another process */
	open_store(false);
	fill_movs(bytes, sizeof(bytes), 1);
	ck_assert_int_eq(da_code_store_add(store, &p), 0);
	ck_assert_int_eq(version(PID, 5 * MS, 0x10008), 1);
	ck_assert_int_eq(version(PID, 25 * MS, 0x10008), -1);
	ck_assert_int_eq(version(PID + 1, 5 * MS, 0x10008), -1);
	fill_movs(bytes, sizeof(bytes), 2);
	p.time_ns = 20 * MS;
	ck_assert_int_eq(da_code_store_add(store, &p), 0);
	ck_assert_int_eq(version(PID, 5 * MS, 0x10008), 1);
	ck_assert_int_eq(version(PID, 25 * MS, 0x10008), 2);
}
END_TEST

/* The order of arrival does not matter, and of two from the same time the longer one counts. */
START_TEST(pieces_in_any_order)
{
	struct da_rec_mmap m;

	write_file(in_dir("lib"), 9);
	m = file_map(PID, in_dir("lib"), ADDR, 0);
	mmap_at(&m, 1 * MS);
	open_store(false);
	add_file_piece(&m, 0, 30 * MS, 3, 64);
	add_file_piece(&m, 0, 10 * MS, 1, 64);
	add_file_piece(&m, 0, 20 * MS, 2, 64);
	for (int i = 1; i < 4; i++)
		ck_assert_int_eq(version(PID, (uint64_t)i * 10 * MS + 1, ADDR), i);
	ck_assert_int_eq(version(PID, 9 * MS, ADDR), -1);

	add_file_piece(&m, PAGE, 0, 7, 64);
	add_file_piece(&m, PAGE, 0, 7, 66); /* known: not its first 64 bytes again */
	add_file_piece(&m, PAGE + 8, 0, 7, 58);
	ck_assert_int_eq(version(PID, 9 * MS, ADDR + PAGE + 56), 7);
	add_file_piece(&m, 2 * PAGE, 0, 7, 67);
	add_file_piece(&m, 2 * PAGE - 64, 0, 7, 129);
	ck_assert_int_eq(version(PID, 9 * MS, ADDR + 2 * PAGE + 64), 7);
}
END_TEST

/* Hostile pieces: what they take is bounded, and so is the time to look among them. */
START_TEST(bounded_pieces)
{
	struct code_pieces *p = code_pieces_new();
	static uint8_t bytes[DA_OWN_MAX_PAYLOAD + 1];
	struct da_own_code c = {.ino = 1, .bytes = bytes, .len = 1};
	struct code_key key = {.ino = 1};
	struct code_found f;
	unsigned added = 0;

	ck_assert_ptr_nonnull(p);
	for (unsigned i = 0; i < 10000; i++) { /* all in one page */
		c.time_ns = i;
		added += code_pieces_add(p, &c) == 1;
	}
	ck_assert_uint_eq(added, 256);
	c.time_ns = 5;
	ck_assert_int_eq(code_pieces_add(p, &c), 0);

	c.len = 0;
	ck_assert_int_eq(code_pieces_add(p, &c), 0);
	c.len = DA_OWN_MAX_PAYLOAD + 1;
	ck_assert_int_eq(code_pieces_add(p, &c), 0);
	c.len = 100;
	c.addr = UINT64_MAX - 50;
	ck_assert_int_eq(code_pieces_add(p, &c), 0);
	c.addr = UINT64_MAX - 100;
	ck_assert_int_eq(code_pieces_add(p, &c), 1);
	f = code_pieces_find(p, &key, UINT64_MAX - 1, 0, 100);
	ck_assert_uint_eq(f.n, 1);

	added = 0;
	c.len = 60000;
	c.time_ns = 0;
	for (unsigned i = 0; i < 2000; i++) {
		c.addr = 0x100000 + i * 60000ULL;
		added += code_pieces_add(p, &c) == 1;
	}
	ck_assert_uint_gt(added, 500);
	ck_assert_uint_le(added, (32u << 20) / 60000);
	code_pieces_free(p);
}
END_TEST

/* ---- live: memory ---- */

static uint8_t *jit_page(void)
{
	uint8_t *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

START_TEST(memory_of_a_process)
{
	uint32_t pid = (uint32_t)getpid();
	uint8_t *p = jit_page();
	uint64_t at = (uintptr_t)p;
	struct da_rec_mmap m = memory_map(pid, p, 2 * PAGE);

	fill_movs(p, 2 * PAGE, 1);
	mmap_at(&m, 1 * MS);
	open_store(true);
	ck_assert_int_eq(version(pid, 10 * MS, at + 1024), 1);
	ck_assert_int_eq(version(pid, 11 * MS, at + 1024), 1);
	ck_assert_uint_eq(da_code_stats(code).fetched_live, 1);
	ck_assert_uint_eq(nr_saved, 1);
	/* a window, in lines, around the instruction */
	ck_assert_uint_eq(saved[0].pid, pid);
	ck_assert_uint_eq(saved[0].time_ns, 1 * MS);
	ck_assert_uint_eq(saved[0].ino, 0);
	ck_assert_uint_eq(saved[0].addr, at + 1024 - 256);
	ck_assert_uint_eq(saved[0].len, 576);
	ck_assert_mem_eq(saved[0].bytes, p + 1024 - 256, saved[0].len);
	/* its neighbours are saved already */
	ck_assert_int_eq(version(pid, 11 * MS, at + 1024 + 64), 1);
	ck_assert_uint_eq(nr_saved, 1);
	/* at the ends of the mapping */
	ck_assert_int_eq(version(pid, 11 * MS, at), 1);
	ck_assert_int_eq(version(pid, 11 * MS, at + 2 * PAGE - 8), 1);
	ck_assert_uint_eq(nr_saved, 3);
	ck_assert_uint_eq(saved[1].addr, at);
	ck_assert_uint_eq(saved[2].addr + saved[2].len, at + 2 * PAGE);

	/* the JIT writes something else there */
	fill_movs(p, PAGE, 2);
	ck_assert_int_eq(version(pid, 22 * MS, at + 1024), 2);
	ck_assert_uint_eq(nr_saved, 4);
	ck_assert_uint_eq(saved[3].time_ns, 22 * MS);
	fill_movs(p, PAGE, 3);
	ck_assert_int_eq(version(pid, 23 * MS, at + 2048), 3); /* not looked at before: as it is */
	ck_assert_int_eq(version(pid, 40 * MS, at + 1024), 3);
	/* samples that come late see what was there in their time */
	ck_assert_int_eq(version(pid, 11 * MS, at + 1024), 1);
	ck_assert_int_eq(version(pid, 25 * MS, at + 1024), 2);
	ck_assert_int_eq(version(pid, 41 * MS, at + 1024), 3);
	ck_assert_int_eq(version(pid, 12 * MS, at + 1024), 1);
	munmap(p, 2 * PAGE);
	close_store();

	/* a report of that recording sees each in its time */
	open_store(false);
	for (unsigned i = 0; i < nr_saved; i++)
		ck_assert_int_eq(da_code_store_add(store, &saved[i]), 0);
	ck_assert_int_eq(version(pid, 10 * MS, at + 1024), 1);
	ck_assert_int_eq(version(pid, 21 * MS, at + 1024), 1);
	ck_assert_int_eq(version(pid, 22 * MS, at + 1024), 2);
	ck_assert_int_eq(version(pid, 40 * MS, at + 1024), 3);
}
END_TEST

/* A JIT that writes the same place again and again fills no disk: 256 pieces of a page are saved. */
START_TEST(memory_rewritten)
{
	uint32_t pid = (uint32_t)getpid();
	uint8_t *p = jit_page();
	struct da_rec_mmap m = memory_map(pid, p, 2 * PAGE);

	mmap_at(&m, 1 * MS);
	open_store(true);
	for (unsigned i = 0; i < 600; i++) {
		fill_movs(p, PAGE, (uint8_t)(i % 100));
		ck_assert_int_eq(version(pid, (10 + 20 * i) * MS, (uintptr_t)p + 1024),
				 (int)(i % 100));
	}
	ck_assert_uint_eq(nr_saved, 256);
	munmap(p, 2 * PAGE);
}
END_TEST

/* Memory is not read for a time at which something else was mapped there. */
START_TEST(memory_of_another_time)
{
	uint32_t pid = (uint32_t)getpid();
	uint8_t *p = jit_page();
	uint64_t at = (uintptr_t)p;
	struct da_rec_mmap m = memory_map(pid, p, 2 * PAGE);
	struct da_rec_comm exec = {.pid = pid, .tid = pid, .comm = "b", .exec = true};

	fill_movs(p, 2 * PAGE, 1);
	mmap_at(&m, 1 * MS);
	mmap_at(&m, 20 * MS); /* a new mapping, the one that is there now */
	open_store(true);
	ck_assert_int_eq(version(pid, 10 * MS, at), -1);
	ck_assert_int_eq(version(pid, 30 * MS, at), 1);
	ck_assert_int_eq(da_tasks_comm(tasks, &exec, 40 * MS), 0);
	ck_assert_int_eq(version(pid, 30 * MS, at), 1); /* saved when it was there */
	ck_assert_int_eq(version(pid, 30 * MS, at + PAGE), -1);
	ck_assert_int_eq(version(pid, 50 * MS, at), -1);
	munmap(p, 2 * PAGE);
}
END_TEST

/* A process that has ended: other lanes have what was saved of it. */
START_TEST(process_is_gone)
{
	uint8_t *p = jit_page();
	uint64_t at = (uintptr_t)p;
	struct da_rec_mmap m;
	struct da_code *other;
	const struct da_insn *in;
	pid_t child;

	fill_movs(p, 2 * PAGE, 7);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		pause();
		_exit(0);
	}
	munmap(p, 2 * PAGE);
	m = memory_map((uint32_t)child, p, 2 * PAGE);
	mmap_at(&m, 1 * MS);
	open_store(true);
	ck_assert_int_eq(version((uint32_t)child, 10 * MS, at + 64), 7);
	ck_assert_int_eq(kill(child, SIGKILL), 0);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_int_eq(version((uint32_t)child, 10 * MS, at + 64), 7);
	ck_assert_int_eq(version((uint32_t)child, 100 * MS, at + 64), 7);
	other = da_code_new(store);
	in = da_code_insn(other, (uint32_t)child, 12 * MS, at + 72, 2);
	ck_assert_ptr_nonnull(in);
	ck_assert_int_eq(in->acc[0].disp, 7);
	ck_assert_ptr_null(da_code_insn(other, (uint32_t)child, 12 * MS, at + PAGE, 2));
	da_code_free(other);
	ck_assert_uint_eq(nr_saved, 1);
}
END_TEST

/* Of a process that has ended the vdso is known: it is ours. But not one of another size, nor a 32-bit one. */
START_TEST(vdso)
{
	const uint8_t *ours = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	uint64_t start = 0x7fff00000000, off = 0xa00;
	char name[256];
	struct da_rec_mmap m;

	if (!ours) {
		printf("not tried: no vdso\n");
		return;
	}
	m = own_mapping((uintptr_t)ours, name);
	ck_assert_str_eq(name, "[vdso]");
	for (uint32_t i = 0; i < 4; i++) {
		m.pid = m.tid = 0x7fffff00 + i; /* beyond what pids can be */
		m.addr = i == 1 ? 0xf7fc1000 : start;
		if (i == 2)
			m.len += PAGE;
		if (i == 3)
			m.filename = "[vsyscall]";
		mmap_at(&m, 1 * MS);
		m = own_mapping((uintptr_t)ours, name);
	}
	open_store(true);
	ck_assert_ptr_nonnull(da_code_insn(code, 0x7fffff00, 2 * MS, start + off, 2));
	ck_assert_uint_eq(nr_saved, 1);
	ck_assert_uint_eq(saved[0].pid, 0x7fffff00);
	ck_assert_mem_eq(saved[0].bytes, ours + (saved[0].addr - start), saved[0].len);
	ck_assert_ptr_null(da_code_insn(code, 0x7fffff01, 2 * MS, 0xf7fc1000 + off, 2));
	ck_assert_ptr_null(da_code_insn(code, 0x7fffff02, 2 * MS, start + off, 2));
	ck_assert_ptr_null(da_code_insn(code, 0x7fffff03, 2 * MS, start + off, 2));
}
END_TEST

/* A deleted file that is still mapped, through /proc/PID/map_files or the memory. */
START_TEST(deleted_file)
{
	uint32_t pid = (uint32_t)getpid();
	struct da_rec_mmap m;
	uint8_t *p;
	int fd;

	write_file(in_dir("lib"), 5);
	fd = open(in_dir("lib"), O_RDONLY);
	ck_assert_int_ge(fd, 0);
	p = mmap(NULL, CALLS * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(p, MAP_FAILED);
	close(fd);
	m = file_map(pid, in_dir("lib"), (uintptr_t)p, 0);
	mmap_at(&m, 1 * MS);
	ck_assert_int_eq(unlink(in_dir("lib")), 0);
	open_store(true);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(pid, 2 * MS, (uintptr_t)p + 64), 5);
	ck_assert_uint_eq(nr_saved, 1);
	munmap(p, CALLS * PAGE);
	close_store();
	open_store(false);
	ck_assert_int_eq(da_code_store_add(store, &saved[0]), 0);
	ck_assert_int_eq(version(pid, 2 * MS, m.addr + 64), 5);
}
END_TEST

/* ---- what is saved of a file ---- */

/* 200 bytes and more of a function with a symbol. */
__attribute__((noinline)) static int small_function(int a, const int *b)
{
	for (int i = 0; i < 10; i++)
		a += b[i & 1] ^ (a << (i & 3));
	return a;
}

START_TEST(whole_functions)
{
	uintptr_t at = (uintptr_t)small_function;
	const int two[2] = {1, 2};
	char name[256];
	struct da_rec_mmap m = own_mapping(at, name);
	uint64_t ip = at, off = m.pgoff + (at - m.addr);
	const struct da_insn *in;

	ck_assert_int_ne(small_function(3, two), 0);
	mmap_at(&m, 1 * MS);
	open_store(true);
	da_code_store_files(store, true);
	in = da_code_insn(code, m.pid, 2 * MS, ip, 2);
	ck_assert_ptr_nonnull(in);
	ck_assert_uint_eq(nr_saved, 1);
	ck_assert_uint_eq(saved[0].pid, 0);
	ck_assert_uint_eq(saved[0].ino, m.ino);
	ck_assert_uint_eq(saved[0].time_ns, 0);
	ck_assert_uint_eq(saved[0].addr, off);
	ck_assert_uint_gt(saved[0].len, 16);
	ck_assert_uint_le(saved[0].len, 4096);
	ck_assert_mem_eq(saved[0].bytes, (const void *)at, saved[0].len);
	/* every instruction of it is in that piece */
	while (ip < at + saved[0].len) {
		in = da_code_insn(code, m.pid, 2 * MS, ip, 2);
		ck_assert_ptr_nonnull(in);
		ck_assert_uint_gt(in->len, 0);
		ip += in->len;
	}
	ck_assert_uint_eq(ip, at + saved[0].len);
	ck_assert_uint_eq(nr_saved, 1);
}
END_TEST

START_TEST(window_without_symbols)
{
	struct stat st;

	write_file(in_dir("lib"), 5);
	ck_assert_int_eq(stat(in_dir("lib"), &st), 0);
	map_file(PID, in_dir("lib"), ADDR, 1 * MS);
	open_store(true);
	da_code_store_files(store, true);
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + 5000 * 2), 5);
	ck_assert_uint_eq(nr_saved, 1);
	ck_assert_uint_eq(saved[0].ino, st.st_ino);
	ck_assert_uint_eq(saved[0].addr % 64, 0);
	ck_assert_uint_le(saved[0].addr, 10000 - 256);
	ck_assert_uint_ge(saved[0].addr + saved[0].len, 10000 + 256);
	ck_assert_uint_le(saved[0].len, 704);
	/* at the very end of the file */
	ck_assert_int_eq(version(PID, 2 * MS, ADDR + CALLS * PAGE - 8), 5);
	ck_assert_uint_eq(nr_saved, 2);
	ck_assert_uint_eq(saved[1].addr + saved[1].len, CALLS * PAGE);
}
END_TEST

static void *lane(void *arg)
{
	struct da_code *c = da_code_new(store);
	unsigned first = *(unsigned *)arg;

	for (unsigned i = 0; c && i < 20000; i++) {
		uint64_t ip = ADDR + (first + i * 24u) % (CALLS * PAGE - 64) / 8 * 8;
		const struct da_insn *in = da_code_insn(c, PID, 2 * MS + i, ip, 2);

		if (!in || in->acc[0].disp != 5)
			return arg;
	}
	da_code_free(c);
	return c ? NULL : arg;
}

/* Several lanes at once: each piece is saved once. */
START_TEST(lanes)
{
	pthread_t t[4];
	unsigned first[4] = {0, 8, 4096, 8192};
	void *bad;

	write_file(in_dir("lib"), 5);
	map_file(PID, in_dir("lib"), ADDR, 1 * MS);
	open_store(true);
	da_code_store_files(store, true);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&t[i], NULL, lane, &first[i]), 0);
	for (unsigned i = 0; i < 4; i++) {
		ck_assert_int_eq(pthread_join(t[i], &bad), 0);
		ck_assert_ptr_null(bad);
	}
	for (unsigned i = 0; i < nr_saved; i++)
		for (unsigned k = 0; k < i; k++)
			ck_assert(saved[i].addr != saved[k].addr || saved[i].len != saved[k].len ||
				  saved[i].time_ns != saved[k].time_ns);
	ck_assert_uint_le(nr_saved, CALLS * PAGE / 64);
}
END_TEST

/* ---- the cache ---- */

START_TEST(both_modes)
{
	const struct da_insn *in;
	uint8_t bytes[16] = {0x48, 0x8b, 0x03}; /* mov rax, [rbx]; in 32-bit mode dec eax */
	int fd = open(in_dir("lib"), O_WRONLY | O_CREAT, 0644);

	ck_assert_int_eq(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	map_file(PID, in_dir("lib"), ADDR, 1 * MS);
	open_store(false);
	da_code_store_files(store, true);
	for (int i = 0; i < 3; i++) {
		in = da_code_insn(code, PID, 2 * MS, ADDR, 2);
		ck_assert_int_eq(in->kind, DA_INSN_ACCESS);
		ck_assert_uint_eq(in->len, 3);
		in = da_code_insn(code, PID, 2 * MS, ADDR, 1);
		ck_assert_int_eq(in->kind, DA_INSN_NO_MEMORY);
		ck_assert_uint_eq(in->len, 1);
	}
}
END_TEST

/* More instructions than the cache holds, several times over: still right, and memory is bounded. */
START_TEST(more_than_fits)
{
	enum { INSNS = 60000 };
	uint8_t *bytes = calloc(INSNS, 8);
	int fd = open(in_dir("big"), O_WRONLY | O_CREAT, 0644);
	struct da_rec_mmap m;

	ck_assert_ptr_nonnull(bytes);
	for (unsigned i = 0; i < INSNS; i++)
		put_mov(bytes + 8 * i, (uint8_t)(i % 127));
	ck_assert_int_eq(write(fd, bytes, INSNS * 8), INSNS * 8);
	close(fd);
	free(bytes);
	m = file_map(PID, in_dir("big"), ADDR, 0);
	m.len = INSNS * 8;
	mmap_at(&m, 1 * MS);
	open_store(false);
	da_code_store_files(store, true);
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < INSNS; i++)
			ck_assert_int_eq(version(PID, 2 * MS, ADDR + 8 * i), (int)(i % 127));
	ck_assert_uint_gt(da_code_stats(code).fetched_file, INSNS);
}
END_TEST

/* Every order of times gives what a fresh look-up gives. */
START_TEST(any_order)
{
	struct da_rec_comm exec = {.pid = PID, .tid = PID, .comm = "x", .exec = true};
	uint64_t rng = 1;
	char name[16];

	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "lib%u", i);
		write_file(in_dir(name), (uint8_t)(i + 1));
	}
	open_store(false);
	da_code_store_files(store, true);
	for (unsigned n = 0; n < 30000; n++) {
		uint64_t t = (rng >> 33) % 4000, ip = ADDR + (rng >> 20) % 4 * 8;
		struct da_code *fresh;
		const struct da_insn *in;
		int want;

		rng = rng * 6364136223846793005u + 1442695040888963407u;
		if (n % 500 == 0) {
			snprintf(name, sizeof(name), "lib%u", n / 500 % 8);
			if (n % 1500 == 0)
				ck_assert_int_eq(da_tasks_comm(tasks, &exec, t), 0);
			map_file(PID, in_dir(name), ADDR, t + 1);
		}
		if (n % 10) {
			version(PID, t, ip);
			continue;
		}
		fresh = da_code_new(store);
		in = da_code_insn(fresh, PID, t, ip, 2);
		want = in ? (int)in->acc[0].disp : -1;
		da_code_free(fresh);
		ck_assert_int_eq(version(PID, t, ip), want);
	}
}
END_TEST

static void tests(Suite *s, const char *name, const TTest *const *list)
{
	TCase *t = tcase_create(name);

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 60);
	for (; *list; list++)
		tcase_add_test(t, *list);
	suite_add_tcase(s, t);
}

int main(void)
{
	const TTest *const files[] = {a_file,
				      only_that_file,
				      inode_used_again,
				      overlay,
				      not_a_regular_file,
				      replaced_file,
				      replaced_while_recording,
				      changed_in_place,
				      older_recording,
				      cut_short,
				      many_files,
				      NULL};
	const TTest *const timeline[] = {exec_replaces,  mapped_over, pid_used_again,
					 many_processes, any_order,   NULL};
	const TTest *const pieces[] = {only_saved_pieces,
				       saved_before_file,
				       piece_ends_inside,
				       pieces_in_any_order,
				       pieces_of_memory,
				       bounded_pieces,
				       NULL};
	const TTest *const live[] = {memory_of_a_process,
				     memory_rewritten,
				     memory_of_another_time,
				     process_is_gone,
				     vdso,
				     deleted_file,
				     NULL};
	const TTest *const saving[] = {whole_functions, window_without_symbols, lanes, NULL};
	const TTest *const cache[] = {both_modes, more_than_fits, NULL};
	Suite *s = suite_create("code");
	SRunner *r;
	int failed;

	tests(s, "files", files);
	tests(s, "timeline", timeline);
	tests(s, "pieces", pieces);
	tests(s, "live", live);
	tests(s, "saving", saving);
	tests(s, "cache", cache);
	r = srunner_create(s);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
