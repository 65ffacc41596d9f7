#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The workload's options and its arithmetic, no sampling needed: totals fit the limits, shares fit the pattern,
# ranges have a page without access on both sides, every way to end prints the truth. workload-truth.sh checks
# the counts against the machine.
. "$(dirname "$0")/lib.sh"
need python3

truth() { # WORKLOAD-ARGUMENT...: to $tmp/out
	run 0 "$DA" workload --format json "$@"
}
made='sum(r["loads"] + r["stores"] for r in d["ranges"])'
pages='sum(r["pages_touched"] for r in d["ranges"])'

# ---- --ops is met exactly, whatever the pattern and the number of threads; first touches come on top ----
for pattern in seq random hotcold stairs zigzag zipf; do
	for threads in 1 3; do
		truth --pattern $pattern --ops 200001 --threads $threads --ranges 3 --size 1m --writes 30
		check "$tmp/out" "$made == 200001 + $pages" "$pages == 3 * 256" 'd["pattern"] == "'$pattern'"' \
			'all(r["faults_expected"] == r["pages_touched"] for r in d["ranges"])' 'd["threads"] == '$threads \
			"200001 * 30 // 100 - $threads <= sum(r['stores'] for r in d['ranges']) - $pages <= 200001 * 30 // 100" \
			'd["ended_by"] == "limit"' 'abs(sum(r["weight"] for r in d["ranges"]) - 1) < 1e-5'
	done
done
truth --pattern chase --ops 100k --size 1m --writes 50
check "$tmp/out" 'd["ranges"][0]["loads"] == 50000' 'd["ranges"][0]["stores"] == 50000 + 2**20 // 64'
truth --pattern touch --size 1m --ranges 2 --repeat 3 --threads 3
check "$tmp/out" 'all((r["pages_touched"], r["faults_expected"], r["stores"], r["loads"]) == (256, 768, 768, 0) for r in d["ranges"])'
truth --pattern touch --size 1m --ops 100 --writes 0
check "$tmp/out" '[(r["pages_touched"], r["faults_expected"], r["loads"], r["stores"]) for r in d["ranges"]] == [(100, 100, 100, 0)]'
truth --size 5000 --ops 1
check "$tmp/out" 'int(d["ranges"][0]["end"], 16) - int(d["ranges"][0]["start"], 16) == 2 * d["page_bytes"]'

# ---- shares ----
truth --pattern hotcold --ops 5m --size 64k
check "$tmp/out" 'len(d["ranges"]) == 4' "abs(d['ranges'][0]['loads'] / sum(r['loads'] for r in d['ranges']) - 0.9) < 0.02"
truth --pattern zipf --ops 5m --size 64k
check "$tmp/out" 'len(d["ranges"]) == 8' \
	"all(abs(r['loads'] / sum(q['loads'] for q in d['ranges']) - r['weight']) < 0.03 for r in d['ranges'])" \
	"all(abs(r['weight'] * (i + 1) - d['ranges'][0]['weight']) < 1e-4 for i, r in enumerate(d['ranges']))"
cp "$tmp/out" "$tmp/first"
counts='[(r["loads"], r["stores"]) for r in d["ranges"]]'
truth --pattern zipf --ops 5m --size 64k
[ "$(value "$tmp/out" "$counts")" = "$(value "$tmp/first" "$counts")" ] || fail "the same seed gives other counts"
truth --pattern zipf --ops 5m --size 64k --seed 2
[ "$(value "$tmp/out" "$counts")" != "$(value "$tmp/first" "$counts")" ] || fail "another seed gives the same counts"

# ---- children ----
truth --ops 1000 --size 64k --fork 3
check "$tmp/out" 'len(d["children"]) == 3' 'len({p["pid"] for p in d["children"] + [d]}) == 4' \
	'all(sum(r["loads"] + r["stores"] for r in p["ranges"]) == 1016 for p in d["children"] + [d])'

# ---- every way to end ----
truth --duration 50ms
check "$tmp/out" 'd["duration_ns"] >= 50000000'
for signal in TERM INT HUP; do
	start "$DA" workload --duration 1000s --fork 1 --threads 2 --announce >"$tmp/announced"
	wait_for 60 eval '[ "$(grep -c range "$tmp/announced")" = 2 ]' || fail "no ranges announced"
	for range in $(sed -n "s/^pid $pid range [^ ]* \(.*\)/\1/p" "$tmp/announced"); do
		python3 - "/proc/$pid/maps" "${range/-/ }" <<-'PY' || fail "range $range"
		import sys
		start, end = (int(x, 16) for x in sys.argv[2].split())
		maps = [l.split() for l in open(sys.argv[1])]
		maps = [[int(x, 16) for x in m[0].split("-")] + [m[1]] for m in maps]
		i = [m[:2] for m in maps].index([start, end])
		assert maps[i][2] == "rw-p" and maps[i - 1][1:] == [start, "---p"] and maps[i + 1][0::2] == [end, "---p"], maps
		PY
	done
	kill -$signal "$pid"
	finish 0 "$pid"
	[ "$(grep -c ^pattern "$tmp/announced")" = 2 ] || fail "SIG$signal: not the truth of both processes"
done
echo "limits, shares, seeds, children and signals are as they should be"
