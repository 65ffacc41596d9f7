#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 60
# A target in a pid namespace of its own: ids are global, also in probes, and it is shown with both.
. "$(dirname "$0")/lib.sh"
need python3 unshare
need_root
need_sampling user
unshare --pid --fork true 2>/dev/null || skip "no pid namespace can be made here"

f=$tmp/f.data
run 0 "$DA" record -o "$f" -e page-faults/period=1/ -- unshare --pid --fork "$DA" workload --pattern random --duration 1s --size 1m --format json
inner=$(value "$tmp/out" 'd["pid"]')
report_of "$f"
check "$f.json" "[s.get('ns_pid') for s in virtual if s['comm'] == 'damon-attrs'] == [$inner]" \
	"all(s['pid'] != $inner for s in virtual)"
pid=$(value "$f.json" '[s["pid"] for s in d["spaces"] if s["comm"] == "damon-attrs"][0]')
run 0 "$DA" report -i "$f" --no-heatmap --probe "in:pids=$pid,weight=0"
grep -q "^Process $pid ($inner in its namespace) damon-attrs: page-faults" "$tmp/out" || fail "not shown with both ids: $(cat "$tmp/out")"
run 0 "$DA" report -i "$f" --format=json --probe "in:pids=$pid,weight=0" --probe "other:pids=$inner,weight=0"
cp "$tmp/out" "$tmp/g.json"
check "$tmp/g.json" 'sum(r["probes"]["in"]["reports"] for s in virtual for r in s["regions"]) >= 256' \
	'sum(r["probes"]["other"]["reports"] for s in virtual for r in s["regions"]) == 0'
echo "process $pid is $inner in its namespace"
