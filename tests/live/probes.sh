#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 150
# Probes on a live workload: per-CPU write-only monitoring tells apart what CPUs 0 and 1 write to; scores are
# weight x hits; page faults beside a weighted probe are not in the score, and the output says so.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user
[ -d /sys/devices/system/cpu/cpu1 ] || skip "only one CPU"
taskset -c 1 true 2>/dev/null || skip "CPU 1 is not to be had"

# As a user would type it. Each CPU writes to a half of its own.
f=$tmp/f.data
run 0 "$DA" record -o "$f" -e cpu-clock:u,page-faults/period=1/u --probe cpu0:write,cpus=0,weight=3 --probe cpu1:write,cpus=1 \
	-- "$DA" workload --pattern split --cpus 0,1 --writes 50 --duration 3s --format json
cp "$tmp/out" "$tmp/truth.json"
report_of "$f"
for i in 0 1; do
	read -r "start$i" "end$i" < <(value "$tmp/truth.json" '"%(start)s %(end)s" % d["ranges"]['$i']')
done
probe='lambda name, lo, hi: [sum(r["probes"][name][k] for s in virtual for r in s["regions"] if int(r["start"], 16) >= lo and int(r["end"], 16) <= hi) for k in ("hits", "reports")]'
# shellcheck disable=SC2154
check "$f.json" 'conserves(d["ledger"])' 'conserves(d["recorded_ledger"])' 'd["scoring"] == "probes"' \
	'[p["weight"] for p in d["probes"]] == [3, 1]' \
	"($probe)('cpu0', $start0, $end0)[0] > 20" "($probe)('cpu1', $start1, $end1)[0] > 20" \
	"($probe)('cpu0', $start1, $end1) == [0, 0]" "($probe)('cpu1', $start0, $end0) == [0, 0]" \
	'all(p["hits"] <= p["reports"] for s in virtual for r in s["regions"] for p in r["probes"].values())' \
	'all(r["score"] == 3 * r["probes"]["cpu0"]["hits"] + r["probes"]["cpu1"]["hits"] for s in virtual for r in s["regions"])' \
	'd["ledger"]["match"]["drops"]["miss_probe"] == d["recorded_ledger"]["match"]["drops"]["miss_probe"] > 0' \
	'sum(b["samples"] for s in virtual for r in s["regions"] for b in r["by_event"] if b["event"] == 1) == 0'
run 0 "$DA" report -i "$f" --no-heatmap
tr -s ' \n' ' ' <"$tmp/out" | grep -q "not in the score: [0-9,]* of [0-9,]* of page-faults:u (page faults have no hit count)" ||
	fail "the output does not say that page faults are not in the score: $(cat "$tmp/out")"
run 0 "$DA" report -i "$f" --format=csv
head -n 1 "$tmp/out" | grep -q 'share,error,.*hits:cpu0,reports:cpu0,hits:cpu1,reports:cpu1,score$' ||
	fail "columns of the csv: $(head -n 1 "$tmp/out")"

# Twice the same filter: hits are equal, and scores are in the proportion of the weights.
run 0 "$DA" report -i "$f" --format=json --probe three:write,weight=3 --probe one:write,weight=1
cp "$tmp/out" "$tmp/g.json"
check "$tmp/g.json" 'all(r["probes"]["three"] == r["probes"]["one"] for s in virtual for r in s["regions"])' \
	'all(r["score"] == 4 * r["probes"]["one"]["hits"] for s in virtual for r in s["regions"])' \
	'sum(r["score"] for s in virtual for r in s["regions"]) > 0'

# All weights zero: one access rate, and the output says so; no probes at all: none of it.
run 0 "$DA" report -i "$f" --no-heatmap --probe w:write,weight=0
tr -s ' \n' ' ' <"$tmp/out" | grep -q "all weights are 0: all sources feed one access rate" || fail "weight 0: $(cat "$tmp/out")"
run 0 "$DA" report -i "$f" --format=json --probe w:write,weight=0
cp "$tmp/out" "$tmp/g.json"
check "$tmp/g.json" 'd["ledger"]["match"]["drops"]["miss_probe"] == 0' 'd["scoring"] == "access_rate"'
run 0 "$DA" report -i "$f" --format=json --probe none
cp "$tmp/out" "$tmp/g.json"
check "$tmp/g.json" '"scoring" not in d' 'd["ledger"]["match"]["drops"]["miss_probe"] == 0'
run 2 "$DA" report -i "$f" --probe w:wrte
run 2 "$DA" report -i "$f" --probe w:producer=nobody
run 2 "$DA" record -o "$f" --probe w:buffer=nowhere -e fake -- true
echo "hits in the half of CPU 0: $(value "$f.json" 'sum(r["probes"]["cpu0"]["hits"] for s in d["spaces"] for r in s["regions"])') by cpu0, 0 by cpu1; of CPU 1: $(value "$f.json" 'sum(r["probes"]["cpu1"]["hits"] for s in d["spaces"] for r in s["regions"])') by cpu1, 0 by cpu0"
