#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# record --damon: the regions of this machine's own kdamond, only listened to, beside the samples of one command;
# report --regions=kernel counts our samples in them, and diagnose still judges the samples alone.
. "$(dirname "$0")/lib.sh"
need python3
need_root
[ -r /sys/kernel/tracing/events/damon/damon_aggregated/id ] ||
	skip "this kernel has no damon:damon_aggregated, or tracefs is not mounted"

run 0 "$DA" record --damon --phys-data -e minor-faults -o "$tmp/f.data" \
	"$DA" workload --pattern hotcold --size 64m --duration 11s
run 0 "$DA" diagnose -i "$tmp/f.data"
grep -q 'FULLY INTEGRATED' "$tmp/out" || fail "the tracepoint decides the verdict: $(head -n 1 "$tmp/out")"
"$DA" report -i "$tmp/f.data" --regions=kernel --format=json >"$tmp/json" 2>"$tmp/err"
case $? in
0) ;;
1) skip "no aggregation of a kdamond within 11 s: DAMON does not run here" ;;
*) fail "report --regions=kernel" ;;
esac
python3 - "$tmp/json" <<'PY' || fail "see above"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["regions"] == "kernel"
def n(s): return sum(b["samples"] for r in s["regions"] for b in r["by_event"])
known = [[(r["start"], r["end"], r["nr_accesses"], r["age"]) for r in t["regions"]] for t in d["damon"]]
if not any(known):
    print("no complete snapshot: nothing to count in")
    sys.exit(0)
took = [s for s in d["spaces"] if any("nr_accesses" in r for r in s["regions"])]
if not took:
    print("this kdamond watches other memory than the samples lie in")
    sys.exit(0)
for s in took:
    mine = [(r["start"], r["end"], r["nr_accesses"], r["age"]) for r in s["regions"] if "nr_accesses" in r]
    assert mine in known, "these are not the regions that the kernel published"
    inside = sum(b["samples"] for r in s["regions"] if "nr_accesses" in r for b in r["by_event"])
    print("%s: %d of %d samples in %d regions of the kernel's" % (s["kind"], inside, n(s), len(mine)))
    assert inside > 0
for kind in "virtual", "physical":
    assert sum(n(s) for s in d["spaces"] if s["kind"] == kind) > 16384
PY
cat "$tmp/out" >/dev/null
# without --damon there is nothing to show
run 0 "$DA" record -e minor-faults -o "$tmp/g.data" true
run 1 "$DA" report -i "$tmp/g.data" --regions=kernel
grep -q 'record --damon' "$tmp/err" || fail "it does not say what would help"
