#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# damon:damon_aggregated of this machine's own kdamond, only listened to: perf can decode our file, our
# regions are those of perf's text, through a file, a pipe and a killed recording.
. "$(dirname "$0")/lib.sh"
need python3 perf
need_root
events=/sys/kernel/tracing/events
[ -r $events/damon/damon_aggregated/id ] || skip "this kernel has no damon:damon_aggregated, or tracefs is not mounted"

f=$tmp/f.data
run 0 "$DA" record -e damon:damon_aggregated -a --duration 11s -o "$f"
run 0 "$DA" report -i "$f"
cp "$tmp/out" "$tmp/text"
report_of "$f"
n=$(value "$f.json" 'sum(e["samples"] for e in d["events"])')
[ "$n" -gt 0 ] || skip "no aggregation of a kdamond within 11 s: DAMON does not run here"

perf script -i "$f" -F tid,time,event,trace >"$tmp/perf" 2>"$tmp/err" || fail "perf script does not read it"
# compare JSON PERF-TEXT: the last complete snapshot of each kdamond and target, and the numbers of snapshots
compare() {
	python3 - "$@" <<'PY' || fail "see above"
import json, re, sys
line = re.compile(r"^\s*(\d+)\s+([\d.]+):\s+damon:damon_aggregated:\s+target_id=(\d+) nr_regions=(\d+) (\d+)-(\d+): (\d+)(?: (\d+))?\s*$")
begun, last, count, records = {}, {}, {}, 0
for text in open(sys.argv[2]):
    m = line.match(text)
    if not m:
        sys.exit("perf printed: " + text)
    records += 1
    tid, target, nr, start, end, hits, age = (int(m[i]) if m[i] else None for i in (1, 3, 4, 5, 6, 7, 8))
    key = tid, target
    s = begun.setdefault(key, [])
    if s and (s[-1][0] != nr or start < s[-1][2]):
        s.clear()
    s.append((nr, start, end, hits, age))
    if len(s) == nr:
        last[key] = [r[1:] for r in s]
        count[key] = count.get(key, 0) + 1
        begun[key] = []
ours = json.load(open(sys.argv[1]))["damon"]
if sum(t["records"] for t in ours) != records:
    sys.exit("%d records, perf has %d" % (sum(t["records"] for t in ours), records))
for t in ours:
    key = t["kdamond"], t["target_id"]
    regions = [(int(r["start"], 16), int(r["end"], 16), r["nr_accesses"], r["age"]) for r in t["regions"]]
    if regions != last.get(key, []) or t["snapshots"] != count.get(key, 0):
        sys.exit("kdamond %d target %d: %d regions, %d snapshots; perf's text has %d and %d" % (
            key + (len(regions), t["snapshots"], len(last.get(key, [])), count.get(key, 0))))
    print("kdamond %d target %d: %d snapshots, %d incomplete, %d regions as perf prints them" % (
        key + (t["snapshots"], t["incomplete"], len(regions))))
PY
}
compare "$f.json" "$tmp/perf"
grep -q '^DAMON regions (damon:damon_aggregated)' "$tmp/text" || fail "the text has no section of DAMON's regions"

# ---- through a pipe ----
"$DA" record -e damon:damon_aggregated -a --duration 6s -o - >"$tmp/pipe.data" 2>"$tmp/err" || fail "record -o -"
perf script -i - -F tid,time,event,trace <"$tmp/pipe.data" >"$tmp/perf" 2>"$tmp/err" || fail "perf script -i -"
if [ -s "$tmp/perf" ]; then
	run 0 "$DA" report -i - --format=json <"$tmp/pipe.data"
	cp "$tmp/out" "$tmp/pipe.json"
	compare "$tmp/pipe.json" "$tmp/perf"
else
	echo "no aggregation while the pipe was recorded"
fi

# ---- killed: the feature was never written, our own record was ----
start "$DA" record -e damon:damon_aggregated -a -o "$tmp/k.data" 2>"$tmp/err"
sleep 7
kill -9 "$pid"
wait "$pid" 2>/dev/null
"$DA" report -i "$tmp/k.data" --format=json >"$tmp/k.json" 2>"$tmp/err"
case $? in 0 | 5) ;; *) fail "report of a killed recording" ;; esac
python3 -m json.tool "$tmp/k.json" >/dev/null || fail "no JSON of a killed recording"
if [ "$(value "$tmp/k.json" 'sum(e["samples"] for e in d["events"])')" -gt 0 ]; then
	check "$tmp/k.json" 'sum(t["records"] for t in d["damon"]) == sum(e["samples"] for e in d["events"])' \
		'not any("decoded" in m for m in d["input"]["messages"])'
	echo "killed recording: decoded"
else
	echo "no aggregation before the kill"
fi
