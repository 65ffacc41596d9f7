#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPE bytes to a report: damon-attrs with one thread and with all against perf script of the same recording, one
# after the other; peak memory of each; and how our time grows with the file. MIB=N sets the size (256). Read
# the ratios, not the times.
set -u
: "${DA:?the program to measure: run this through make bench}"
: "${DA_SRC:?run this through make bench}"
mib=${MIB:-256}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
"${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -I"$DA_SRC/include" -I"$DA_SRC/tests" -o "$tmp/gen" \
	"$DA_SRC/tests/bench/gen_spe_data.c" "$DA_SRC/tests/perfgen.c" || exit 1

# run NAME COMMAND...: elapsed and CPU seconds, peak KiB, into the variables elapsed, cpu, peak; best of $rounds
run() {
	local name=$1
	shift
	python3 - "${rounds:-3}" "$@" >"$tmp/out" 2>"$tmp/err" <<'PY' || { echo "failed: $*"; cat "$tmp/err"; exit 1; }
import os, subprocess, sys, time
best = None
for i in range(int(sys.argv[1])):
    t = time.monotonic()
    p = subprocess.Popen(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, use = os.wait4(p.pid, 0)
    p.returncode = 0
    t = time.monotonic() - t
    if status:
        sys.exit("exit status %d" % status)
    got = (t, use.ru_utime + use.ru_stime, use.ru_maxrss)
    best = got if best is None or got < best else best
print("%.3f %.3f %d" % best)
PY
	read -r elapsed cpu peak <"$tmp/out"
	printf '%-34s %9s s %9s s %9s MiB\n' "$name" "$elapsed" "$cpu" "$((peak / 1024))"
}

records=$("$tmp/gen" "$tmp/file" "$mib") || exit 1
echo "$mib MiB of SPE, $records records, $(nproc) CPUs"
printf '%-34s %11s %11s %13s\n' "" elapsed CPU "peak memory"
run "damon-attrs report, 1 thread" "$DA" report -q -i "$tmp/file" --threads 1 -o /dev/null
one=$elapsed one_cpu=$cpu
run "damon-attrs report, all" "$DA" report -q -i "$tmp/file" -o /dev/null
all=$elapsed
if command -v perf >/dev/null; then
	rounds=1 run "perf script --itrace=M -F addr" perf script --itrace=M -F addr -i "$tmp/file"
	awk "BEGIN { printf \"perf / damon-attrs: %.1f with 1 thread (CPU time %.1f), %.1f with all\n\", \
		$elapsed / $one, $cpu / $one_cpu, $elapsed / $all }"
else
	echo "perf is not installed: nothing to compare with"
fi
rm -f "$tmp/file"

echo "as the file grows:"
for n in 50 100 200 400; do
	"$tmp/gen" "$tmp/file" "$n" >/dev/null || exit 1
	run "  $n MiB, 1 thread" "$DA" report -q -i "$tmp/file" --threads 1 -o /dev/null
done
