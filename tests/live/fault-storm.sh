#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Every page fault of programs on two CPUs is a sample. With default rings none is lost, and file, ledger and
# perf script agree with the truth. With rings of 4 pages what was lost is counted: samples + LOST of the
# event = its count; the LOST records may say less, and the difference is called pending at stop.
. "$(dirname "$0")/lib.sh"
need perf python3
need_root
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"

storm() { # RECORD-OPTION...
	run 0 "$DA" record -e page-faults -c 1 -o "$f" "$@" -- \
		"$DA" workload --pattern touch --size 64m --repeat 8 --fork 1 --cpus 0,1 --format json
	cp "$tmp/out" "$tmp/truth.json"
}

# ---- default rings ----

f=$tmp/f.data
storm
rate=$(value "$tmp/truth.json" \
	'sum(int(sum(r["faults_expected"] for r in p["ranges"]) * 1e9 / p["duration_ns"]) for p in [d] + d["children"])')
report_of "$f"
ours=$(value "$f.json" 'sum(e["samples"] for e in d["events"])')
perfs=$(perf script -i "$f" -F ip 2>/dev/null | wc -l)
[ "$ours" = "$perfs" ] || fail "perf script shows $perfs samples, we count $ours"
check "$f.json" 'd["lost"]["counter"] == 0' 'not d["lost"]["records"]' 'd["counters"]["callback"] == '"$perfs" \
	'conserves(d["ledger"])' 'all(conserves(l["ledger"]) for l in d["ledger_by"])' \
	'len({l["cpu"] for l in d["ledger_by"] if l["ledger"]["sample"]["in"]}) >= 2' \
	'd["recorded_ledger"]["sample"]["in"] == '"$perfs" 'conserves(d["recorded_ledger"])'
python3 - "$f.json" "$tmp/truth.json" <<'PY' || fail "see above"
import json, sys
d, truth = (json.load(open(p)) for p in sys.argv[1:])
for p in [truth] + truth["children"]:
    for t in p["ranges"]:
        start, end = int(t["start"], 16), int(t["end"], 16)
        n = sum(b["samples"] for s in d["spaces"] if s["kind"] == "virtual" and s["pid"] == p["pid"]
                for r in s["regions"] if start <= int(r["start"], 16) and int(r["end"], 16) <= end
                for b in r["by_event"])
        if n != t["faults_expected"]:
            sys.exit("pid %d %s: %d samples, %d faults" % (p["pid"], t["name"], n, t["faults_expected"]))
PY
echo "default rings: $ours samples, none lost, at $rate faults/s"

# ---- rings of 4 pages ----

f=$tmp/small.data
storm -m 4
report_of "$f"
check "$f.json" 'd["lost"]["counter"] > 0' '(d["lost"]["records"] or 0) <= d["lost"]["counter"]' \
	'd["lost"]["pending"] == d["lost"]["counter"] - (d["lost"]["records"] or 0)' 'conserves(d["ledger"])' \
	'sum(e["samples"] for e in ev.values()) == d["counters"]["callback"]'
# What the event itself counted was read when it had been disabled, and is stored in the file.
python3 - "$f" "$f.json" <<'PY' || fail "see above"
import json, re, sys
read = {}
for m in re.finditer(rb'\{"event":0,"cpu":(\d+),[^{}]*"count":(\d+),"lost":(\d+),', open(sys.argv[1], "rb").read()):
    read[m[1]] = int(m[2]), int(m[3])
count, lost = (sum(v[i] for v in read.values()) for i in (0, 1))
d = json.load(open(sys.argv[2]))
if not count or count != d["counters"]["callback"] + lost or lost != d["lost"]["counter"]:
    sys.exit("the event counted %d; samples %s, lost %d, report says %s" % (count, d["counters"], lost, d["lost"]))
PY
perfs=$(perf script -i "$f" -F ip 2>/dev/null | wc -l)
check "$f.json" 'd["counters"]["callback"] == '"$perfs"
value "$f.json" '"rings of 4 pages: %d samples + %d lost = the event'"'"'s count; LOST records say %d, %d pending" % (
	d["counters"]["callback"], d["lost"]["counter"], d["lost"]["records"] or 0, d["lost"]["pending"])'
