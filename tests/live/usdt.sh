#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The probe points of a running record, watched by perf through uprobes: as many hits of sample, report_missed and
# drain as the ledger has, and the fields of the reports.
. "$(dirname "$0")/lib.sh"
need python3 perf readelf
need_root
readelf -n "$DA" | grep -q 'Provider: damon_attrs' || skip "built without <sys/sdt.h> (systemtap-sdt-dev)"
trace=/sys/kernel/tracing
[ -w $trace/uprobe_events ] || skip "no uprobes in this kernel, or tracefs is not mounted"
export HOME=$tmp # perf's cache of build ids
forget() { perf probe -q -d 'sdt_damon_attrs:*' >/dev/null 2>&1; }
if grep -q sdt_damon_attrs $trace/uprobe_events; then skip "somebody else watches the probe points"; fi
restore+=(forget)
run 0 perf buildid-cache --add "$DA"
perf probe -q -x "$DA" 'sdt_damon_attrs:*' >"$tmp/out" 2>"$tmp/err" || skip "perf cannot add the probes: $(tail -n 1 "$tmp/err")"

# every report in a region, then none; nothing is dropped
want=0
for e in fake/rate=2k,seed=7/ fake/rate=2k,seed=7,fail=miss/; do
	run 0 perf record -q -m 4096 -e 'sdt_damon_attrs:*' -o "$tmp/perf.data" -- \
		"$DA" record -q -e $e -o "$tmp/f.data" -- sleep 0.5
	run 0 perf script -i "$tmp/perf.data" -F event,trace
	cp "$tmp/out" "$tmp/hits"
	run $want "$DA" diagnose -i "$tmp/f.data" --format=json -o "$tmp/d.json"
	want=12 # BROKEN AT match
	run 0 "$DA" report -i "$tmp/f.data" --format=samples -F cpu,tid,addr
	cp "$tmp/out" "$tmp/samples"
	python3 - "$tmp" <<'END' || fail "probe points and ledger differ"
import collections, json, re, sys
t = sys.argv[1]
d = json.load(open(t + "/d.json"))["counters"]
hits, drained, seen = collections.Counter(), 0, collections.Counter()
for line in open(t + "/hits"):
    m = re.match(r"\s*sdt_damon_attrs:(\w+): \(\w+\) (.*)", line)
    args = [int(a.split("=")[1], 0) for a in m[2].split()]
    hits[m[1]] += 1
    if m[1] == "drain":
        drained += args[1]
    if m[1] == "sample":
        seen[(args[0], args[1], args[2])] += 1
print(dict(hits), d)
assert hits["sample"] == d["reports"] > 100
assert hits["report_missed"] == d["miss"]
assert drained == d["dequeue"]
assert sum(seen.values()) == sum(1 for l in open(t + "/samples") if l.strip() and not l.startswith("#"))
END
done
# nobody attached: the same program, no hits, nothing breaks
forget
run 0 "$DA" record -q -e fake/rate=2k/ -o "$tmp/f.data" -- sleep 0.2
