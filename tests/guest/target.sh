#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Judges target.in: each recording is whole, its ledger conserves, live and now; the exec's and all 1,000 children's
# samples are there, by the kernel's own numbers.
. "$(dirname "$0")/libjudge.sh"

for f in exits execs forks ends; do
	report_of $f.data
	check $f.data.json 'not d["input"]["damaged"]' 'd["input"]["messages"] == []' 'conserves(d["ledger"])' \
		'conserves(d["recorded_ledger"])' 'd["recorded_ledger"]["sample"]["in"] == d["counters"]["callback"]' \
		'd["counters"]["callback"] > 0'
	echo "$f: $(value $f.data.json 'd["counters"]["callback"]') samples"
done
python3 - execs.data.json execs.out forks.data.json <<'PY' || fail "see above"
import json, sys
d = json.load(open(sys.argv[1]))
text = open(sys.argv[2]).read()
truth = json.loads(text[text.index("{"):])
r = truth["ranges"][0]
a, b = int(r["start"], 16), int(r["end"], 16)
n = sum(e["samples"] for s in d["spaces"] for g in s["regions"] for e in g["by_event"]
        if a <= int(g["start"], 16) and int(g["end"], 16) <= b)
print("execs: %d faults in the workload's range, %d expected" % (n, r["faults_expected"]))
ok = n == r["faults_expected"]
pids = {s["pid"] for s in json.load(open(sys.argv[3]))["spaces"] if s["kind"] == "virtual"}
print("forks: %d processes sampled" % len(pids))
ok = ok and len(pids) == 1001
sys.exit(not ok)
PY
