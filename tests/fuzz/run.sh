#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run.sh FOLDER TARGET...: run each libFuzzer target RUNS times. New inputs go to FOLDER/corpus, an
# input that fails to FOLDER/. `make fuzz-run` calls it.
cd "$(dirname "$0")/../.." || exit 1
out=$1
shift
status=0
for target; do
	name=${target##*/fuzz_}
	mkdir -p "$out/corpus/$name"
	seeds=tests/fuzz/corpus/$name
	[ -d "$seeds" ] || seeds=
	if "$target" -runs="${RUNS:-100000}" -artifact_prefix="$out/$name-" "$out/corpus/$name" $seeds \
		>"$out/$name.log" 2>&1; then
		echo "$name: $(tail -n 1 "$out/$name.log")"
	else
		status=1
		echo "$name: FAILED"
		tail -n 40 "$out/$name.log"
	fi
done
exit $status
