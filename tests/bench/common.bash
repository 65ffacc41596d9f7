# SPDX-License-Identifier: GPL-2.0-only
# For the benches that measure whole commands: a folder of their own in $tmp, generated recordings, and a
# command's time and memory. To be sourced.
set -u
: "${DA:?the program to measure: run this through make bench}"
: "${DA_SRC:?run this through make bench}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# generator KIND: builds gen_KIND_data.c as $tmp/gen_KIND
generator() {
	"${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -I"$DA_SRC/include" -I"$DA_SRC/tests" -o "$tmp/gen_$1" \
		"$DA_SRC/tests/bench/gen_$1_data.c" "$DA_SRC/tests/perfgen.c" || exit 1
}

run_head() { printf '%-38s %10s %10s %10s\n' "" elapsed CPU peak; }

# run NAME COMMAND...: elapsed and CPU seconds and peak KiB, each the best of ROUNDS (3), into the variables
# elapsed, cpu and peak, and as a line below run_head's
run() {
	local name=$1
	shift
	python3 - "${ROUNDS:-3}" "$@" >"$tmp/out" 2>"$tmp/err" <<'PY' || { echo "failed: $*"; cat "$tmp/err"; exit 1; }
import os, subprocess, sys, time
best = None
for i in range(int(sys.argv[1])):
    t = time.monotonic()
    p = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, use = os.wait4(p.pid, 0)
    p.returncode = 0
    got = (time.monotonic() - t, use.ru_utime + use.ru_stime, use.ru_maxrss)
    if status:
        sys.exit("exit status %d" % status)
    best = got if best is None else tuple(min(a, b) for a, b in zip(best, got))
print("%.3f %.3f %d" % best)
PY
	read -r elapsed cpu peak <"$tmp/out"
	printf '%-38s %8s s %8s s %6s MiB\n' "$name" "$elapsed" "$cpu" "$((peak / 1024))"
}

# profile OPTIONS...: who uses the time of a report of $tmp/file with one thread
profile() {
	perf record -q -e cpu-clock -F 4999 -o "$tmp/profile" -- "$DA" report -q -i "$tmp/file" --threads 1 \
		-o /dev/null "$@" >/dev/null 2>&1 || { echo "  no profile: perf record failed"; return; }
	perf report -i "$tmp/profile" --stdio --no-children -g none --percent-limit 2 2>/dev/null |
		awk '/^ +[0-9]/ { printf "  %s %s\n", $1, $NF }'
	rm -f "$tmp/profile"
}
