#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# A program that replaces its own file on disk by another and execs it while being recorded: same pid, same
# path, same addresses, same instruction boundaries, other instructions. No address may come from the code
# that was there before.
. "$(dirname "$0")/lib.sh"
need python3 "${CC:-cc}"
need_sampling user
[ "$(uname -m)" = x86_64 ] || skip "addresses are decoded from registers on x86-64 only"

cat >"$tmp/reuse.c" <<'C'
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define A ((char *)0x600000000)
#define B ((char *)0x680000000)
#define POISON ((char *)0x5dead0000)

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* At an address of its own: the same in both programs. */
void hot(char *rdi, long rounds, char *rdx);
__asm__(".section .hot, \"ax\"\n.globl hot\nhot:\n.rept 64\n"
#ifdef SECOND
	"mov (%rdx), %rax\nmov %rax, 8(%rdx)\n"
#else
	"mov (%rdi), %rax\nmov %rax, 8(%rdi)\n"
#endif
	".endr\ndec %rsi\njnz hot\nret\n.text\n.section .note.GNU-stack\n.text\n");

int main(int argc, char **argv)
{
	double end;

	(void)argc;
	mmap(A, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mmap(B, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	for (end = now() + 1; now() < end;) {
#ifdef SECOND
		hot(POISON, 10000, B);
#else
		hot(A, 10000, POISON);
#endif
	}
#ifndef SECOND
	if (rename(argv[1], argv[0]))
		return 1;
	execl(argv[0], argv[0], (char *)NULL);
	return 1;
#else
	return 0;
#endif
}
C
flags=(-O1 -no-pie "-Wl,--section-start=.hot=0x10000000")
"${CC:-cc}" "${flags[@]}" -o "$tmp/one" "$tmp/reuse.c" && "${CC:-cc}" "${flags[@]}" -DSECOND -o "$tmp/two" "$tmp/reuse.c" ||
	fail "the test programs do not compile"

f=$tmp/f.data
run 0 "$DA" record -e cpu-clock:u -c 250000 -o "$f" -- "$tmp/one" "$tmp/two"
for round in "with the second program's file" "without any file"; do
	run 0 "$DA" report -i "$f" --format=samples -F ip,addr
	python3 - "$tmp/out" "$round" <<'PY' || fail "see above"
import sys
n = {0x600000: 0, 0x680000: 0}
for line in open(sys.argv[1]):
    w = line.split()
    if len(w) != 2 or line.startswith("#"):
        continue
    ip, addr = int(w[0], 16), int(w[1], 16)
    if 0x10000000 <= ip < 0x100001c0: # 64 pairs of 7 bytes; the ret behind them reads the stack
        if addr >> 12 not in n:
            sys.exit("ip %#x: address %#x belongs to neither program" % (ip, addr))
        n[addr >> 12] += 1
print("%s: %d addresses of the first, %d of the second" % (sys.argv[2], n[0x600000], n[0x680000]))
sys.exit(min(n.values()) == 0)
PY
	rm -f "$tmp/one"
done
