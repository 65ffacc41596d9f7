#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SPE bytes to a heat map: damon-attrs with one thread and with all against perf script of the same recording, one
# after the other; with regions that are the mappings and with those cut by density; peak memory of each; how our
# time grows with the file; and where a target is missed, the profile of what stands in the way. MIB=N sets the size
# (256). Read the ratios of CPU time where the machine has other work.
. "${DA_SRC:?run this through make bench}/tests/bench/common.bash"
mib=${MIB:-256}
generator spe
records=$("$tmp/gen_spe" "$tmp/file" "$mib") || exit 1
echo "$mib MiB of SPE, $records records, $(nproc) CPUs"
run_head
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
	"$tmp/gen_spe" "$tmp/file" "$n" >/dev/null || exit 1
	run "  $n MiB, 1 thread" "$DA" report -q -i "$tmp/file" --threads 1 -o /dev/null
done
