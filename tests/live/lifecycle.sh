#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 180
# Accesses are matched into the address space as it was at their time, while the target does what changes it:
# munmap and another mapping at the same place, mremap (which leaves no record), threads that end, processes
# that end at once, exec, and a pid that is used again. exec-reuse.sh does code.
. "$(dirname "$0")/lib.sh"
need python3 "${CC:-cc}"
need_sampling user

cat >"$tmp/life.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE (4l << 20)

static double now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Stores all over a range for so much CPU time; says where and from when to when. */
static void work(const char *what, volatile char *p, double seconds)
{
	double start = now(CLOCK_MONOTONIC), until = now(CLOCK_THREAD_CPUTIME_ID) + seconds;
	unsigned long i = 0;

	do {
		for (int k = 0; k < 20000; k++, i += 4160) {
			volatile long *q = (volatile long *)(p + (i & (SIZE - 4096)));
			q[0] = 1, q[1] = 1, q[2] = 1, q[3] = 1, q[4] = 1, q[5] = 1, q[6] = 1, q[7] = 1;
			q[8] = 1, q[9] = 1, q[10] = 1, q[11] = 1, q[12] = 1, q[13] = 1, q[14] = 1, q[15] = 1;
		}
	} while (now(CLOCK_THREAD_CPUTIME_ID) < until);
	printf("%s %d %p %.9f %.9f\n", what, getpid(), (void *)p, start, now(CLOCK_MONOTONIC));
	fflush(stdout);
}

static void *map(void *at, int fd)
{
	void *p = mmap(at, SIZE, PROT_READ | PROT_WRITE,
		       (fd < 0 ? MAP_ANONYMOUS : 0) | MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, 0);
	return p == MAP_FAILED ? NULL : p;
}

static void *thread(void *p)
{
	work("thread", p, 0.1);
	return NULL;
}

int main(int argc, char **argv)
{
	char *a = (char *)0x500000000, *b = (char *)0x580000000;
	pthread_t t;
	int fd;

	if (argc > 2) { /* behind exec */
		work("exec", map(a, -1), 0.2);
		return 0;
	}
	fd = open(argv[1], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, SIZE))
		return 1;
	work("anon", map(a, -1), 0.2);
	munmap(a, SIZE);
	work("file", map(a, fd), 0.2); /* the same place, something else */
	munmap(a, SIZE);
	map(a, -1);
	memset(a, 1, SIZE);
	if (mremap(a, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, b) != b)
		return 1;
	work("moved", b, 0.5);
	for (int i = 0; i < 3; i++) { /* a thread that has ended long before it is all decoded */
		pthread_create(&t, NULL, thread, map(NULL, -1));
		pthread_join(t, NULL);
	}
	for (int i = 0; i < 3; i++) { /* processes that end at once */
		pid_t pid = fork();
		if (!pid) {
			work("child", map(NULL, -1), 0.1);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	for (int i = 0; i < 2; i++) { /* the same pid twice */
		pid_t want = 31999;
		struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&want, .set_tid_size = 1};
		long pid = syscall(SYS_clone3, &args, sizeof(args));
		if (pid < 0)
			break;
		if (!pid) {
			prctl_name(i);
			work(i ? "second" : "first", map(a + i * 0x10000000l, -1), 0.1);
			_exit(0);
		}
		waitpid((pid_t)pid, NULL, 0);
	}
	execl(argv[0], argv[0], argv[1], "again", (char *)NULL);
	return 1;
}
C
sed -i 's/prctl_name(i);/syscall(SYS_prctl, 15, i ? "life-two" : "life-one", 0, 0, 0);/' "$tmp/life.c"
"${CC:-cc}" -O1 -o "$tmp/life" "$tmp/life.c" -lpthread || fail "the test program does not compile"

f=$tmp/f.data
run 0 "$DA" record -e cpu-clock:u -c 250000 -o "$f" -- "$tmp/life" "$tmp/file"
cp "$tmp/out" "$tmp/truth"
run 0 "$DA" report -i "$f" --format=samples -F time,pid,comm,addr,region
cp "$tmp/out" "$tmp/samples"
python3 - "$tmp/truth" "$tmp/samples" <<'PY' || fail "see above"
import sys

SIZE = 4 << 20
want = {"anon": "anon", "file": "file", "moved": "anon", "thread": "anon", "child": "anon",
        "first": "anon", "second": "anon", "exec": "anon"}
phases = []
for line in open(sys.argv[1]):
    what, pid, p, start, end = line.split()
    phases.append([what, int(pid), int(p, 16), float(start), float(end), 0, 0, set()])
for line in open(sys.argv[2]):
    w = line.split(None, 4)
    if line.startswith("#") or len(w) < 5:
        continue
    time, pid, comm, addr, region = float(w[0].rstrip(":")), int(w[1]), w[2], int(w[3], 16), w[4].strip()
    for ph in phases:
        if pid == ph[1] and ph[3] <= time <= ph[4] and ph[2] <= addr < ph[2] + SIZE:
            ph[5] += 1
            ph[6] += want[ph[0]] in region
            ph[7].add(comm)
bad = 0
for what, pid, p, start, end, n, right, comms in phases:
    # mremap: the first look at the mappings takes a moment
    least = 0.9 if what == "moved" else 1
    print("%-7s pid %d: %d samples, %d in the right region, %s" % (what, pid, n, right, " ".join(sorted(comms))))
    if n < 20 or right < least * n:
        print("  WRONG")
        bad = 1
names = {ph[0]: ph for ph in phases}
if "second" in names:
    if names["first"][1] != names["second"][1] or names["first"][7] & names["second"][7]:
        print("the process with a pid used again is taken for the former one")
        bad = 1
else:
    print("a pid could not be chosen here: not tested")
sys.exit(bad)
PY
report_of "$f"
check "$f.json" 'conserves(d["ledger"])' 'conserves(d["recorded_ledger"])' \
	'd["recorded_ledger"]["match"]["drops"]["miss_region"] <= 0.02 * d["recorded_ledger"]["match"]["in"]' \
	'd["ledger"]["match"]["drops"]["miss_region"] <= 0.02 * d["ledger"]["match"]["in"]' \
	'd["recorded_ledger"]["ring"]["drops"]["resident"] == 0'
echo "miss_region: $(value "$f.json" '"%d of %d live, %d of %d in the file" % tuple(d[l]["match"][k] if k == "in" else d[l]["match"]["drops"][k] for l in ("recorded_ledger", "ledger") for k in ("miss_region", "in"))')"
