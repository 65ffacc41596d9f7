#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# diagnose --what-if on real recordings: every report is replayed, a healthy run blames nothing, the verdict's
# note and the experiment name the same cause, more slots do better, and wrong models are refused.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user
cd "$tmp" || exit 1

run 0 "$DA" record -q -e page-faults -c 1 -o healthy.data -- \
	"$DA" workload --pattern seq --duration 300ms --size 16m
run 0 "$DA" diagnose -i healthy.data --what-if --format=json -o healthy.json
check healthy.json 'd["what_if"]["cause"] is None and d["what_if"]["recorded_drops"] == 0' \
	'd["what_if"]["models"][0]["offered"] == d["counters"]["reports"]' \
	'all(m["offered"] == m["enqueue"] + m["overflow"] + m["nested"] for m in d["what_if"]["models"])' \
	'all(m["enqueue"] == m["dequeue"] + m["overwritten"] for m in d["what_if"]["models"])' \
	'all(m["offered"] == d["counters"]["reports"] for m in d["what_if"]["models"] if m["period_times"] == 1)'
echo "healthy: nothing blamed"

run 0 "$DA" record -q -e fake/rate=2m/ --buffer slots=64 -o flood.data -- sleep 0.5
run 0 "$DA" diagnose -i flood.data --what-if --what-if=slots=16777216,wake=0,cost=0 --format=json -o flood.json
check flood.json 'd["what_if"]["recorded_drops"] > 0 and d["what_if"]["models"][-1]["overflow"] == 0' \
	'd["what_if"]["models"][-1]["offered"] == d["counters"]["reports"]' \
	'not d["what_if"]["cause"] or any(c["id"] == d["what_if"]["cause"] for l in d["layers"] for n in l["notes"] for c in n["causes"])'
run 0 "$DA" diagnose -i flood.data --what-if
grep -q '^what if: ' "$tmp/out" || fail "no table of experiments"
python3 -c "import json; w = json.load(open('flood.json'))['what_if']
print('flood:', w['recorded_drops'], 'dropped, model', w['models'][0]['overflow'], w['cause'], '-', w['evidence'])"

for bad in --what-if=slots=0 --what-if=colour=red --what-if=period=2; do
	run 2 "$DA" diagnose -i flood.data "$bad"
done
run 2 "$DA" diagnose --what-if
run 2 "$DA" diagnose -i - --what-if
run 2 "$DA" diagnose -i flood.data --what-if --format=tap
