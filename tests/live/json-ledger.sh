#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# report --format=json against the truth of the workload: the ledger conserves at every layer and fits the
# counters, fault samples per range are exactly the first touches. For cpu-clock the estimated shares are
# printed beside the true ones and not judged: samples land behind slow accesses, which is a known bias.
. "$(dirname "$0")/lib.sh"
need python3
need_root

ledger_holds() { # JSON
	check "$1" 'all(conserves(l["ledger"]) for l in d["ledger_by"])' 'conserves(d["ledger"])' \
		'conserves(d["recorded_ledger"])' \
		'list(d["ledger"])[:7] == ["create", "bind", "enable", "sample", "ring", "match", "update"]' \
		'd["ledger"]["sample"]["in"] == d["counters"]["callback"]' \
		'd["ledger"]["sample"]["out"] == d["counters"]["valid"]' \
		'd["ledger"]["match"]["out"] == d["ledger"]["update"]["in"] == d["counters"]["match"]' \
		'd["ledger"]["update"]["out"] == d["counters"]["update"]' \
		'sum(e["samples"] for e in d["events"]) == d["counters"]["callback"]' \
		'all(sum(l["ledger"][s]["in"] for l in d["ledger_by"]) == d["ledger"][s]["in"] for s in ("sample", "match", "update"))' \
		'd["recorded_ledger"]["sample"] == d["ledger"]["sample"]' \
		'd["recorded_ledger"]["create"]["in"] > 0 and d["recorded_ledger"]["enable"]["out"] > 0' \
		'd["recorded_ledger"]["ring"]["drops"].get("resident", 0) == 0'
}

# ---- faults: exact ----

f=$tmp/faults.data
for args in "--pattern touch --repeat 2 --threads 2" "--pattern stairs --ops 100k"; do
	# shellcheck disable=SC2086
	run 0 "$DA" record -e page-faults -c 1 -o "$f" -- "$DA" workload $args --size 4m --ranges 3 --format json
	cp "$tmp/out" "$tmp/truth.json"
	report_of "$f"
	ledger_holds "$f.json"
	check "$f.json" 'd["counters"]["valid"] > 0' 'd["lost"]["counter"] == 0'
	for i in 0 1 2; do
		read -r start end n < <(value "$tmp/truth.json" \
			'"%(start)s %(end)s %(faults_expected)d" % d["ranges"]['$i']')
		check "$f.json" "inside('page-faults', $start, $end) == $n"
	done
	# Fixed-size regions hold the same samples.
	run 0 "$DA" report -i "$f" --regions=fixed=4k --format=json
	cp "$tmp/out" "$f.json"
	check "$f.json" "inside('page-faults', $start, $end) == $n" 'conserves(d["ledger"])'
done
echo "fault samples per range: as many as first touches"

# ---- cpu-clock: beside the truth ----

f=$tmp/clock.data
run 0 "$DA" record -e cpu-clock -c 250000 -o "$f" -- \
	"$DA" workload --pattern zipf --ranges 6 --size 16m --duration 3s --format json
cp "$tmp/out" "$tmp/truth.json"
report_of "$f"
ledger_holds "$f.json"
check "$f.json" 'd["counters"]["valid"] > 0'
python3 - "$f.json" "$tmp/truth.json" <<'PY' || fail "see above"
import json, sys
d, truth = (json.load(open(p)) for p in sys.argv[1:])
def mine(t):
    start, end = int(t["start"], 16), int(t["end"], 16)
    return [b for s in d["spaces"] if s["kind"] == "virtual" and s["pid"] == truth["pid"] for r in s["regions"]
            if start <= int(r["start"], 16) and int(r["end"], 16) <= end for b in r["by_event"]]
total = sum(b["samples"] for t in truth["ranges"] for b in mine(t))
made = sum(t["loads"] + t["stores"] for t in truth["ranges"])
c = d["counters"]
print("cpu-clock: %d of %d samples have an address (%.1f %%), %d of them in the ranges" %
      (c["valid"], c["callback"], 100 * c["valid"] / c["callback"], total))
print("range           true   estimated   true writes   estimated writes")
for t in truth["ranges"]:
    b = mine(t)
    n, w, r = (sum(x[k] for x in b) for k in ("samples", "writes", "reads"))
    print("%-14s %5.1f %%   %5.1f %%   %9.1f %%   %9s" %
          (t["name"], 100 * (t["loads"] + t["stores"]) / made, 100 * n / total if total else 0,
           100 * t["stores"] / (t["loads"] + t["stores"]), "%.1f %%" % (100 * w / (w + r)) if w + r else "-"))
PY
