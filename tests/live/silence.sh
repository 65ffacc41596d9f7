#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A sampler that stops midway is found against a reference that goes on, with its time; a healthy run, one that
# sleeps and one whose target ends early blame nobody.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user
stopped='[c for l in d["layers"] for n in l["notes"] if n["id"] == "sample.silence" for c in n["causes"]]'
work=("$DA" workload --pattern seq --duration 2s --size 8m)

# the reference is a clock on the same CPU
run 0 "$DA" diagnose -e fake/fail=stall,after=5000,rate=10k/,cpu-clock --format=json -o "$tmp/d.json" -- "${work[@]}"
check "$tmp/d.json" "len($stopped) == 1 and ${stopped}[0][\"id\"] == \"sampler_stopped\""
# the facts travel with the recording
run 0 "$DA" record -q -e fake/fail=stall,after=5000,rate=10k/,cpu-clock -o "$tmp/s.data" -- "${work[@]}"
run 0 "$DA" diagnose -i "$tmp/s.data" --format=json -o "$tmp/d.json"
check "$tmp/d.json" "len($stopped) == 1"
echo "stall: found"

for e in cpu-clock,page-faults cpu-clock,fake minor-faults; do
	run 0 "$DA" diagnose -e $e --format=json -o "$tmp/d.json" -- "${work[@]}"
	check "$tmp/d.json" "not $stopped"
done
# works, then sleeps: a clock of its own time stops with it
run 0 "$DA" diagnose -e cpu-clock,page-faults --format=json -o "$tmp/d.json" -- \
	sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; sleep 1.5'
check "$tmp/d.json" "not $stopped"
echo "healthy: nobody blamed"
