#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# Physical addresses (--phys-data): what minor-faults samples carry, and what is looked up for cpu-clock
# samples, is what the program's own pagemap says. For a user who may not know them they are invalid, not 0.
. "$(dirname "$0")/lib.sh"
need python3 "${CC:-cc}" setpriv
need_root

cat >"$tmp/phys.c" <<'C'
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long pages = atol(argv[1]), i, page = sysconf(_SC_PAGESIZE);
	time_t end = time(NULL) + (argc > 2 ? atol(argv[2]) : 0);
	volatile char *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/pagemap", O_RDONLY);

	madvise((void *)p, pages * page, MADV_NOHUGEPAGE);
	for (i = 0; i < pages; i++) /* a load would map the page of zeros first, which has no address of its own */
		p[i * page + i % page] = 1;
	do {
		for (i = 0; i < pages; i++)
			p[i * page + i % page]++;
	} while (time(NULL) < end);
	for (i = 0; i < pages; i++) {
		uint64_t e = 0;
		if (pread(fd, &e, 8, ((uintptr_t)p / page + i) * 8) != 8)
			return 1;
		printf("%lx %lx\n", (uintptr_t)p / page + i, e & ((1ul << 55) - 1));
	}
	return 0;
}
C
"${CC:-cc}" -O1 -o "$tmp/phys" "$tmp/phys.c" || fail "the test program does not compile"
chmod 755 "$tmp"

compare() { # MIN-SAMPLES MIN-PERCENT
	cp "$tmp/out" "$tmp/truth"
	run 0 "$DA" report -i "$f" --format=samples -F addr,phys_addr
	python3 - "$tmp/out" "$tmp/truth" "$@" <<'PY' || fail "see above"
import sys
truth = dict(tuple(int(x, 16) for x in line.split()) for line in open(sys.argv[2]))
same = other = unknown = zero = 0
for line in open(sys.argv[1]):
    w = line.split()
    if len(w) != 2 or line.startswith("#"):
        continue
    try:
        phys = int(w[1], 16)
    except ValueError:
        phys = None
    zero += phys == 0
    addr = int(w[0], 16)
    if addr >> 12 not in truth:
        continue
    if phys is None:
        unknown += 1
    elif phys >> 12 == truth[addr >> 12] and phys & 4095 == addr & 4095:
        same += 1
    else:
        other += 1
n = same + other + unknown
print("%d samples of these pages: %d as pagemap says, %d other, %d unknown" % (n, same, other, unknown))
if zero:
    sys.exit("%d samples claim the physical address 0" % zero)
if n < int(sys.argv[3]) or other or same * 100 < n * int(sys.argv[4]):
    sys.exit("not as it should be")
PY
}

f=$tmp/f.data
run 0 "$DA" record --phys-data -e minor-faults:u -c 1 -o "$f" -- "$tmp/phys" 2000
compare 2000 99
report_of "$f"
check "$f.json" 'any(s["kind"] == "physical" and s["regions"] for s in d["spaces"])' 'conserves(d["ledger"])'
if [ "$(uname -m)" = x86_64 ]; then
	run 0 "$DA" record --phys-data -e cpu-clock:u -c 250000 -o "$f" -- "$tmp/phys" 2000 2
	compare 1 90
fi

# ---- as an ordinary user ----
id nobody >/dev/null 2>&1 || skip "there is no user nobody"
level=$(cat /proc/sys/kernel/perf_event_paranoid)
restore+=("echo $level >/proc/sys/kernel/perf_event_paranoid")
echo 2 >/proc/sys/kernel/perf_event_paranoid || skip "perf_event_paranoid cannot be set"
cp "$DA" "$tmp/prog"
mkdir "$tmp/home"
chown nobody "$tmp/home"
nobody=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups)
cd "$tmp/home" || exit 1
run 0 "${nobody[@]}" "$tmp/prog" record --phys-data -e minor-faults:u -c 1 -o user -- "$tmp/phys" 100
grep -qi phys "$tmp/err" || fail "no word about the physical addresses that this user cannot have"
run 0 "${nobody[@]}" "$tmp/prog" report -i user --format=samples -F addr,phys_addr
[ -s "$tmp/out" ] || fail "no samples as an ordinary user"
if grep -v '^#' "$tmp/out" | awk '{ print $2 }' | grep -qE '^(0x)?[0-9a-f]+$'; then
	head -n 5 "$tmp/out"
	fail "physical addresses for an ordinary user"
fi
run 0 "${nobody[@]}" "$tmp/prog" report -i user --format=json
cp "$tmp/out" user.json
check user.json 'not any(s["kind"] == "physical" and s["regions"] for s in d["spaces"])'
echo "ordinary user: no physical address, and none that is 0"
