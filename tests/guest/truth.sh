#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Judges truth.in: of the addresses decoded, on this machine, from the guest's recording 95 % lie in the ranges
# that the workload named, and its hot range has the most; the rest is shown. diagnose said FULLY INTEGRATED.
. "$(dirname "$0")/libjudge.sh"

report_of data
python3 - data.json truth <<'PY' || fail "see above"
import json, sys
d = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
ranges = json.loads(text[:text.index("\n")])["ranges"] # as announced
ranges = [(r["name"], int(r["start"], 16), int(r["end"], 16)) for r in ranges]
hits = {n: 0 for n, a, b in ranges}
rest = {}
for s in d["spaces"]:
    for r in s["regions"]:
        n = sum(e["samples"] for e in r["by_event"])
        a, b = int(r["start"], 16), int(r["end"], 16)
        name = next((name for name, x, y in ranges if x <= a and b <= y), None)
        if name:
            hits[name] += n
        else:
            if n:
                rest[r["label"]] = rest.get(r["label"], 0) + n
c = d["counters"]
inside, all = sum(hits.values()), sum(hits.values()) + sum(rest.values())
print("%d samples, %d valid, %d matched; in the workload's ranges %d = %.1f %%: %s; elsewhere: %s" % (
    c["callback"], c["valid"], c["match"], inside, 100.0 * inside / max(all, 1), hits, rest or "none"))
drops = {k: v for k, v in d["ledger"]["sample"]["drops"].items() if v}
print("no address: %s" % drops)
ok = True
def must(what, true):
    global ok
    if not true:
        print("not true: " + what)
        ok = False
must("at least 100 decoded addresses", all >= 100)
must("95 % of them in the workload's ranges", inside >= 0.95 * all)
must("da-workload-0 is the hottest", hits["da-workload-0"] == max(hits.values()))
must("the rest of the samples is explained", set(drops) <= {"not_memory", "kernel_ip", "unresolved", "no_code"})
must("a tenth of the instructions access memory", all >= 0.1 * c["callback"])
sys.exit(not ok)
PY
check data.json 'not d["input"]["damaged"]' 'conserves(d["ledger"])' 'conserves(d["recorded_ledger"])' \
	'd["recorded_ledger"]["sample"]["in"] == d["counters"]["callback"]'
check verdict.json 'd["verdict"] == "FULLY INTEGRATED"'
echo "diagnose in the guest: $(value verdict.json 'd["verdict"]')"
