#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# diagnose --watch: a line an interval with the rates of the seven counters, then the verdict; a CPU that falls
# silent is named; machine formats stay clean.
. "$(dirname "$0")/lib.sh"
need python3

run 0 "$DA" diagnose --watch=200ms -e fake/fail=stall,after=3000,rate=5k/,fake/rate=1k/ -C 0 -- sleep 2
python3 - "$tmp/out" <<'END' || fail "$(cat "$tmp/out")"
import sys
lines = open(sys.argv[1]).read().split("\n")
assert lines[0].split() == "callback/s valid enqueue dequeue overflow match update silent".split(), lines[0]
rows = []
for l in lines[1:]:
    w = l.split()
    if len(w) != 8 or not w[0].isdigit(): break
    assert len(l) <= 80, l
    rows.append([int(x) for x in w[:7]] + [w[7]])
assert 4 <= len(rows) <= 10, rows
assert max(r[0] for r in rows) > 2000 and rows[-1][0] < 2500, rows # 6000 a second, then 1000
assert lines[-2].startswith("SUMMARY: "), lines[-2]
END
run 0 "$DA" diagnose --watch=200ms -e fake/fail=stall,after=500,rate=5k/ -C 0 -- sleep 1
grep -qE '^ +0( +0){6} 0$' "$tmp/out" || fail "the silent CPU is not named: $(cat "$tmp/out")"
run 0 "$DA" diagnose --watch=200ms -e fake --format=json -- sleep 0.5
check "$tmp/out" 'd["summary"]["failed"] == 0'
grep -q '^callback/s' "$tmp/err" || fail "no lines beside the JSON"
# Ctrl-C ends the built-in workload, which would run for a day
start "$DA" diagnose --watch=100ms -e fake >"$tmp/w.out"
wait_for 10 grep -q '^callback/s' "$tmp/w.out" || fail "no line"
kill -INT "$pid"
finish 0 "$pid"
tail -n 1 "$tmp/w.out" | grep -q '^SUMMARY: ' || fail "no verdict after Ctrl-C"
run 2 "$DA" diagnose --watch=1ms -e fake -- true
