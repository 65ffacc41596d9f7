#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# Report buffers by name: registers decoded behind the buffer (decode=late) give the accesses that decoding
# the file gives, and lead to the same regions as decoding before the buffer; keep=latest counts what it
# overwrites.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user

f=$tmp/f.data
run 0 "$DA" record -o "$f" -c 250000 --buffer early:slots=4K --buffer late:slots=8K,decode=late,scope=global \
	-e cpu-clock/buffer=early,name=early/,cpu-clock/buffer=late,name=late/ \
	-- "$DA" workload --pattern hotcold --duration 2s --size 16m
report_of "$f"
check "$f.json" 'conserves(d["recorded_ledger"])' 'conserves(d["ledger"])' \
	'total("late") > 500' 'total("early") > 500' \
	'd["recorded_ledger"]["ring"]["in"] == d["recorded_ledger"]["ring"]["out"]'
# Behind the buffer, what gives no address is dropped there: as many as the file decode finds.
late=$(value "$f.json" '[e["id"] for e in d["events"] if e["name"] == "late"][0]')
offline=$(value "$f.json" "sum(sum(v or 0 for v in l['ledger']['sample']['drops'].values()) for l in d['ledger_by'] if l['event'] == $late)")
live=$(value "$f.json" 'd["recorded_ledger"]["match"]["drops"]["no_address"]')
[ "$live" = "$offline" ] || fail "$live registers gave no address behind the buffer, $offline in the file"
check "$f.json" 'd["recorded_ledger"]["match"]["out"] == d["ledger"]["match"]["out"]'
# The same regions, early and late: shares of the hottest one differ by no more than their errors say.
check "$f.json" '(lambda s: abs(s[0]["share"] - s[1]["share"]) <= 2 * (s[0]["error"] + s[1]["error"]))(max((sorted((b for b in r["by_event"] if b["event"] < 2), key=lambda b: b["event"]) for s in virtual for r in s["regions"] if len(r["by_event"]) > 1), key=lambda l: l[0]["samples"]))'

g=$tmp/g.data
run 0 "$DA" record -o "$g" --buffer slots=16,keep=latest -e fake/rate=300000,count=60000/ -- sleep 0.5
report_of "$g"
check "$g.json" 'conserves(d["recorded_ledger"])' 'd["recorded_ledger"]["ring"]["drops"]["overwritten"] > 0' \
	'd["recorded_ledger"]["ring"]["drops"]["overflow"] == 0' 'd["recorded_ledger"]["ring"]["drops"]["resident"] == 0'

run 2 "$DA" record -o "$g" --buffer x:slots=1 -e fake -- true
run 2 "$DA" record -o "$g" --buffer x:keep=some -e fake -- true
run 2 "$DA" record -o "$g" -e fake/buffer=x/ -- true
echo "late and early agree: $live of $(value "$f.json" 'sum(e["samples"] for e in d["events"] if e["name"].startswith("late"))') registers without an address, in the run and in the file"
