#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPE bytes to a heat map: damon-attrs with one thread and with all against perf script of the same recording, one
# after the other; with regions that are the mappings and with those cut by density; peak memory of each; how our
# time grows with the file; and where a target is missed, the profile of what stands in the way. MIB=N sets the size
# (256). Read the ratios of CPU time where the machine has other work.
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
report() { # NAME OPTIONS...
	local name=$1
	shift
	run "$name" "$DA" report -q -i "$tmp/file" -o /dev/null "$@"
}
report "mappings, 1 thread" --regions=vma --threads 1
one=$elapsed one_cpu=$cpu
report "mappings, all CPUs" --regions=vma
all=$elapsed all_cpu=$cpu
report "density, 1 thread" --threads 1
cut_one=$elapsed cut_one_cpu=$cpu
report "density, all CPUs"
cut_all=$elapsed cut_all_cpu=$cpu

# profile OPTIONS...: who uses the time
profile() {
	perf record -q -e cpu-clock -F 5000 -o "$tmp/profile" "$DA" report -q -i "$tmp/file" --threads 1 \
		-o /dev/null "$@" >/dev/null 2>&1 || { echo "  no profile: perf record failed"; return; }
	perf report -i "$tmp/profile" --stdio --no-children --percent-limit 2 2>/dev/null |
		awk '/^ +[0-9]/ { printf "  %s %s\n", $1, $NF }'
}

# ratios NAME ELAPSED CPU ELAPSED_ALL CPU_ALL: perf's time over ours; and whether all threads together need more
ratios() {
	awk -v name="$1" -v e="$2" -v c="$3" -v ea="$4" -v ca="$5" -v pe="$perf" -v pc="$perf_cpu" 'BEGIN {
		printf "%s: perf / damon-attrs is %.1f of CPU time with 1 thread (target 4), %.1f elapsed; ", name, pc / c, pe / e
		printf "%.1f elapsed with all CPUs (target 10); threads cost %+.0f %% CPU\n", pe / ea, (ca / c - 1) * 100
		exit !(pc / c < 4 || pe / ea < 10) }'
}

if command -v perf >/dev/null; then
	run "perf script --itrace=M -F addr" perf script --itrace=M -F addr -i "$tmp/file"
	perf=$elapsed perf_cpu=$cpu
	if ratios mappings "$one" "$one_cpu" "$all" "$all_cpu"; then
		echo "what stands in the way, in % of the time with 1 thread:"
		profile --regions=vma
	fi
	if ratios density "$cut_one" "$cut_one_cpu" "$cut_all" "$cut_all_cpu"; then
		echo "what stands in the way, in % of the time with 1 thread:"
		profile
	fi
else
	echo "perf is not installed: nothing to compare with"
fi
rm -f "$tmp/file"

echo "as the file grows:"
for n in 50 100 200 400; do
	"$tmp/gen" "$tmp/file" "$n" >/dev/null || exit 1
	run "  $n MiB, 1 thread" "$DA" report -q -i "$tmp/file" --threads 1 -o /dev/null
done
