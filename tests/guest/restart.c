/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ten sessions, one after the other, of an event on this process itself, for a kernel that a guest has to
 * itself (restart.in):
 *
 *   restart EVENT
 *
 * Each must sample, conserve, and begin from nothing; after it no descriptor, no mapping of a ring, no pinned
 * memory and no thread may be left. Exit status 0; 1 with what is wrong.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "da_session.h"

#define RUNS  10
#define BYTES (4 << 20)

/* What a process holds; all of it must be as before after each session. */
struct held {
	long fds, rings, pinned_kb, threads;
};

static void die(const char *what, const char *why)
{
	printf("restart: %s: %s\n", what, why);
	exit(1);
}

static struct held held(void)
{
	struct held h = {0};
	DIR *d = opendir("/proc/self/fd");
	FILE *f;
	char line[512];

	if (!d)
		die("/proc/self/fd", "cannot read it");
	while (readdir(d))
		h.fds++;
	closedir(d);
	f = fopen("/proc/self/maps", "re");
	while (f && fgets(line, sizeof(line), f))
		h.rings += strstr(line, "perf_event") != NULL;
	if (f)
		fclose(f);
	f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "VmPin: %ld", &h.pinned_kb);
		sscanf(line, "Threads: %ld", &h.threads);
	}
	if (f)
		fclose(f);
	return h;
}

/* First touches, then some time of accesses: something for faults as for clocks. */
static void work(void)
{
	volatile char *p =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec from, now;

	if (p == MAP_FAILED)
		die("mmap", "no memory");
	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		for (size_t i = 0; i < BYTES; i += 4096)
			p[i]++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < 300);
	munmap((void *)p, BYTES);
}

/* The sample records of one session. */
static uint64_t session(const char *event, int n, struct held *inside)
{
	struct da_session_opts o = {
		.target = DA_TARGET_PID, .inherit = true, .output = "restart.data"};
	pid_t self = getpid();
	struct da_error err = {0};
	struct da_session *s;
	struct da_spec *specs;
	struct da_facts f;
	struct da_ledger l;
	enum da_stage bad;

	if (da_spec_parse(event, &specs, &o.nr_specs, NULL, 0, &err))
		die(event, err.msg);
	o.specs = specs;
	o.ids = &self;
	o.nr_ids = 1;
	if (da_session_new(&s, &o, &err) || da_session_create(s, &err) || da_session_bind(s, &err))
		die(event, err.msg);
	l = da_session_ledger(s);
	if (l.in[DA_STAGE_SAMPLE] || l.in[DA_STAGE_ENABLE])
		die(event, "a session that has not begun has samples");
	if (da_session_enable(s, &err))
		die(event, err.msg);
	*inside = held();
	work();
	if (da_session_tick(s, &err) < 0 || da_session_stop(s, "duration", -1, &err))
		die(event, err.msg);
	if (da_session_facts(s, &f))
		die(event, "no facts");
	l = da_session_ledger(s);
	if (!da_ledger_conserves(&l, &bad))
		die(da_stage_name(bad), "does not conserve");
	if (!f.released_all || !f.counters_zero || !f.no_old_state)
		die(event, "not released, or not begun from nothing");
	printf("run %d: callback=%" PRIu64 " valid=%" PRIu64 " update=%" PRIu64 "\n", n,
	       l.in[DA_STAGE_SAMPLE], l.out[DA_STAGE_SAMPLE], l.out[DA_STAGE_UPDATE]);
	da_facts_release(&f);
	da_session_free(s);
	free(specs);
	return l.in[DA_STAGE_SAMPLE];
}

int main(int argc, char **argv)
{
	struct held before, inside, after;

	if (argc != 2)
		die("usage", "restart EVENT");
	before = held();
	for (int n = 1; n <= RUNS; n++) {
		if (!session(argv[1], n, &inside))
			die(argv[1], "no samples");
		if (inside.fds <= before.fds || !inside.rings || inside.threads <= before.threads)
			die("a running session", "holds nothing: this test sees nothing");
		after = held();
		if (memcmp(&before, &after, sizeof(before))) {
			printf("restart: after run %d: %ld fds, %ld rings, %ld kB pinned, %ld threads; before "
			       "all: %ld, %ld, %ld, %ld\n",
			       n, after.fds, after.rings, after.pinned_kb, after.threads,
			       before.fds, before.rings, before.pinned_kb, before.threads);
			return 1;
		}
	}
	printf("%s: %d runs; inside %ld fds, %ld rings, %ld kB pinned, %ld threads; after each %ld, %ld, "
	       "%ld, %ld as before\n",
	       argv[1], RUNS, inside.fds, inside.rings, inside.pinned_kb, inside.threads, after.fds,
	       after.rings, after.pinned_kb, after.threads);
	return 0;
}
