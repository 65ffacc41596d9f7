#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# Several events at once in perf's grammar: commas outside slashes, options inside, modifiers, -e repeated. Each
# keeps its own numbers, for us and for perf.
. "$(dirname "$0")/lib.sh"
need perf python3
need_root

f=$tmp/f.data
run 0 "$DA" record -e 'cpu-clock/period=500000,name=hot/u,page-faults/period=1/' -e minor-faults:u -c 2 \
	-o "$f" -- "$DA" workload --pattern touch --size 4m --duration 1s --format json
cp "$tmp/out" "$tmp/truth.json"
report_of "$f"
check "$f.json" 'len(ev) == 3' 'named("hot")["period"] == 500000' 'named("page-faults")["period"] == 1' \
	'named("minor-faults")["period"] == 2' 'all(e["samples"] > 0 for e in ev.values())' 'conserves(d["ledger"])' \
	'{l["event"] for l in d["ledger_by"]} >= {e["id"] for e in ev.values()}' \
	'named("hot")["unit"] == "ns"' \
	'all(abs(sum(b["share"] or 0 for r in s["regions"] for b in r["by_event"] if b["event"] == e["id"]) - 1) < 1e-4 for e in ev.values() for s in virtual if sum(b["samples"] for r in s["regions"] for b in r["by_event"] if b["event"] == e["id"]))'
read -r start end n < <(value "$tmp/truth.json" '"%(start)s %(end)s %(faults_expected)d" % d["ranges"][0]')
check "$f.json" "inside('page-faults', $start, $end) == $n" "abs(inside('minor-faults', $start, $end) * 2 - $n) <= 4"

perf evlist -v -i "$f" >"$tmp/evlist" 2>"$tmp/err" || fail "perf evlist"
for name in hot page-faults minor-faults; do
	grep -q "^$name" "$tmp/evlist" || fail "perf evlist does not show $name: $(cat "$tmp/evlist")"
	ours=$(value "$f.json" 'sum(e["samples"] for e in d["events"] if e["name"].split(":")[0] == "'$name'")')
	perfs=$(perf script -i "$f" -F event 2>/dev/null | grep -c "^ *$name:")
	[ "$ours" = "$perfs" ] || fail "$name: $ours samples for us, $perfs for perf"
done
echo "three events: $(value "$f.json" '", ".join("%s %d" % (e["name"], e["samples"]) for e in d["events"])')"
