#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 180
# Code that no file holds when the recording is read: generated code in an anonymous mapping, unmapped and
# replaced by other code at the same address while recording, and a program whose file is deleted while it
# runs. Its bytes are taken live, saved into the recording, and decode afterwards; never the wrong ones.
. "$(dirname "$0")/lib.sh"
need python3 "${CC:-cc}"
need_sampling user
[ "$(uname -m)" = x86_64 ] || skip "addresses are decoded from registers on x86-64 only"

# The first code loads from and stores to what rdi points to, the second what rdx points to, with the same
# instruction boundaries; the other register holds an address that nothing accesses.
cat >"$tmp/jit.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void (*code_fn)(char *rdi, long rounds, char *rdx);

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static code_fn generate(void *at, int second)
{
	static const unsigned char first_code[] = {0x48, 0x8b, 0x07, 0x48, 0x89, 0x47, 0x08};
	static const unsigned char second_code[] = {0x48, 0x8b, 0x02, 0x48, 0x89, 0x42, 0x08};
	char *p = mmap(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q = p;
	int i, back;

	for (i = 0; i < 64; i++, q += 7)
		memcpy(q, second ? second_code : first_code, 7);
	memcpy(q, "\x48\xff\xce\x0f\x85", 5); /* dec rsi; jnz */
	q += 9;
	back = (int)(p - q);
	memcpy(q - 4, &back, 4);
	*q = (char)0xc3;
	return (code_fn)p;
}

int main(void)
{
	char *poison = (char *)0x123456789000;
	char *a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *b = a + 4096;
	code_fn code = generate(NULL, 0);
	double end = now() + 1;

	printf("%p %p %p %p\n", (void *)code, (void *)a, (void *)b, (void *)poison);
	fflush(stdout);
	while (now() < end)
		code(a, 10000, poison);
	munmap((void *)code, 4096);
	if (generate((void *)code, 1) != code)
		return 1;
	for (end = now() + 1; now() < end;)
		code(poison, 10000, b);
	return 0;
}
C
"${CC:-cc}" -O1 -o "$tmp/jit" "$tmp/jit.c" || fail "the test program does not compile"

f=$tmp/f.data
run 0 "$DA" record -e cpu-clock:u -c 250000 -o "$f" -- "$tmp/jit"
cp "$tmp/out" "$tmp/truth"
rm "$tmp/jit"
run 0 "$DA" report -i "$f" --format=samples -F ip,addr
python3 - "$tmp/out" "$tmp/truth" <<'PY' || fail "see above"
import sys
code, a, b, poison = (int(x, 16) for x in open(sys.argv[2]).read().split())
first = second = 0
for line in open(sys.argv[1]):
    w = line.split()
    if len(w) != 2 or line.startswith("#"):
        continue
    ip, addr = int(w[0], 16), int(w[1], 16)
    if not code <= ip < code + 4096:
        continue
    if addr // 4096 == a // 4096:
        first += 1
    elif addr // 4096 == b // 4096:
        second += 1
    else:
        sys.exit("code at %#x: address %#x, which it never accessed (stale code gives %#x)" % (ip, addr, poison))
print("generated code: %d addresses of the first, %d of what replaced it" % (first, second))
if not first or not second:
    sys.exit("one of the two was not decoded")
PY
report_of "$f"
check "$f.json" 'd["ledger"]["sample"]["drops"].get("no_code", 0) * 50 <= d["counters"]["callback"]'

# ---- deleted while running, before the recording begins ----
cp "$DA" "$tmp/prog"
"$tmp/prog" workload --pattern seq --duration 1000s --announce >"$tmp/announced" &
work=$!
started+=("$work")
wait_for 60 grep -q range "$tmp/announced" || fail "the workload does not begin"
rm "$tmp/prog"
echo "something else" >"$tmp/prog"
run 0 "$DA" record -e cpu-clock:u -c 250000 -o "$f" -p "$work" --duration 1s
kill -9 "$work"
wait "$work" 2>/dev/null
report_of "$f"
check "$f.json" 'd["counters"]["valid"] > 0' \
	'd["ledger"]["sample"]["drops"].get("no_code", 0) * 50 <= d["counters"]["callback"]'
read -r start end < <(sed 's/.* \(0x[0-9a-f]*\)-\(0x[0-9a-f]*\)$/\1 \2/' "$tmp/announced")
check "$f.json" "inside('cpu-clock', $start, $end) > 0"
value "$f.json" '"deleted program: %(valid)d of %(callback)d samples have an address" % d["counters"]'
