#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh FOLDER TARGET...: run each libFuzzer target RUNS times, and print executions and seconds of each. New
# inputs go to FOLDER/corpus, an input that fails to FOLDER/. `make fuzz-run` calls it.
#
# A run's cost is its input's length, so that is bounded where short inputs hold all there is. What the
# address sanitizer keeps of freed memory and of call stacks is kept small for speed: run an input that failed
# again without ASAN_OPTIONS to see more.
cd "$(dirname "$0")/../.." || exit 1
out=$1
shift
export ASAN_OPTIONS="${ASAN_OPTIONS:-quarantine_size_mb=2:malloc_context_size=2}"
status=0
for target; do
	name=${target##*/fuzz_}
	mkdir -p "$out/corpus/$name"
	seeds=tests/fuzz/corpus/$name
	[ -d "$seeds" ] || seeds=
	case $name in
	spe) max=256 ;;
	own) max=512 ;;
	pebs | sample) max=1024 ;;
	tracepoint) max=2048 ;;
	*) max=0 ;; # as libFuzzer chooses from the seeds
	esac
	begun=$(date +%s)
	if "$target" -runs="${RUNS:-100000}" -max_len=$max -print_final_stats=1 -artifact_prefix="$out/$name-" \
		"$out/corpus/$name" $seeds >"$out/$name.log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$name.log")
		echo "$name: $runs executions in $(($(date +%s) - begun)) s"
	else
		status=1
		echo "$name: FAILED after $(($(date +%s) - begun)) s"
		tail -n 40 "$out/$name.log"
	fi
done
exit $status
