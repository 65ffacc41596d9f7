#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 150
# record --adapt on a rate ten times too high for its report buffer: it ends with drops under 1 %, says each
# step, and the shares that it estimates agree with those of an event beside it that was not stepped.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user

f=$tmp/f.data
run 0 "$DA" record -o "$f" --adapt --force --buffer small:slots=64 -e cpu-clock/period=25000,buffer=small,name=fast/u \
	-e cpu-clock/period=500000,name=slow/u -- "$DA" workload --pattern hotcold --duration 8s --size 4m --format json
grep -q 'period of fast.* 25000 -> [0-9]*: [0-9.]* % dropped or lost' "$tmp/err" || fail "the first step is not said"
grep -q 'period of fast.* at the end' "$tmp/err" || fail "the end is not said"
report_of "$f"
check "$f.json" 'conserves(d["recorded_ledger"])' 'len(named("fast")["steps"]) >= 2' \
	'named("fast")["steps"][0]["from"] == 25000' \
	'all(a["to"] == b["from"] for a, b in zip(named("fast")["steps"], named("fast")["steps"][1:]))' \
	'named("fast")["steps"][-1]["to"] >= 50000' \
	'named("slow")["steps"][-1]["from"] == named("slow")["steps"][-1]["to"] == 500000' \
	'float(named("fast")["steps"][-1]["why"].split()[0]) < 1'
# Accesses are periods: what both events say of the whole is the same time, if each sample has its own period.
check "$f.json" '(lambda a: abs(a[0] / a[1] - 1) < 0.2)([sum(b["accesses"] for s in virtual for r in s["regions"] for b in r["by_event"] if b["event"] == named(n)["id"]) for n in ("fast", "slow")]) or named("fast")["steps"][0]["why"]'
run 0 "$DA" report -i "$f" --format=json --regions vma
cp "$tmp/out" "$tmp/g.json"
python3 - "$tmp/g.json" <<'PY' || fail "see above"
import json, sys
d = json.load(open(sys.argv[1]))
fast, slow = (next(e["id"] for e in d["events"] if e["name"].startswith(n)) for n in ("fast", "slow"))
bad = n = 0
for s in d["spaces"]:
    for r in s["regions"]:
        b = {x["event"]: x for x in r["by_event"]}
        if s["kind"] != "virtual" or fast not in b or slow not in b or b[slow]["samples"] < 50:
            continue
        a, c = b[fast], b[slow]
        far = abs(a["share"] - c["share"])
        n += 1
        print("%s: fast %.3f +-%.3f, slow %.3f +-%.3f" % (r["label"], a["share"], a["error"], c["share"], c["error"]))
        # both are estimates: twice the error of their difference
        bad += far > 2 * (a["error"] ** 2 + c["error"] ** 2) ** 0.5
sys.exit(bad > 0 or n == 0)
PY
run 0 "$DA" report -i "$f" --no-heatmap
grep -q 'period 25,000 -> ' "$tmp/out" || fail "report does not show the steps"
run 2 "$DA" record -o "$f" --adapt -F 100 -e cpu-clock -- true
run 2 "$DA" record -o "$f" --adapt=-1 -e fake -- true

# Without a PMU: the generator, stepped.
run 0 "$DA" record -o "$f" --adapt --buffer slots=64 -e fake/rate=100000/ -- sleep 3
report_of "$f"
check "$f.json" 'named("fake")["steps"][0]["from"] == 1' 'named("fake")["steps"][-1]["to"] > 1' 'd["counters"]["match"] > 0'
echo "ended at $(value "$f.json" 'd["events"][0]["steps"][-1]["to"]') times the generator's period"
