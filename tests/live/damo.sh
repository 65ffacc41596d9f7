#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 180
# Records of damo. Ours, by --format=damo of a live recording, keeps the rules of damo's reader and reads the same
# again; real ones (the fixtures, if they are there) read as an independent reader in Python has them, and the
# two forms of one record are the same regions.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user
rules=$(dirname "$0")/damo_rules.py

run 0 "$DA" record -o "$tmp/f.data" "$DA" workload --pattern hotcold --size 16m --duration 2s
run 0 "$DA" report -i "$tmp/f.data" --format=damo -o "$tmp/ours"
run 0 "$DA" report -i "$tmp/ours" --format=json
cp "$tmp/out" "$tmp/ours.json"
run 0 python3 "$rules" "$tmp/ours" "$tmp/ours.json" strict
cat "$tmp/out"
grep -q ': target [0-9]*, [1-9][0-9]* snapshots' "$tmp/out" || fail "no snapshots"
# the last snapshot is what --regions=damon shows
run 0 "$DA" report -i "$tmp/f.data" --regions=damon --format=json
python3 - "$tmp/out" "$tmp/ours.json" <<'PY' || fail "--regions=damon and --format=damo differ"
import json, sys
shown = [[(r["start"], r["end"], r["nr_accesses"], r["age"]) for r in s["regions"] if "age" in r]
         for s in json.load(open(sys.argv[1]))["spaces"]]
for t in json.load(open(sys.argv[2]))["damon"]:
    assert [(r["start"], r["end"], r["nr_accesses"], r["age"]) for r in t["regions"]] in shown
PY
run 0 "$DA" report -i "$tmp/ours"
grep -q 'wss, percentile' "$tmp/out" || fail "no working set"
run 1 "$DA" report -i "$tmp/ours" --format=samples
run 13 "$DA" diagnose -i "$tmp/ours"
grep -q 'a record of damo (json_compressed)' "$tmp/out" || fail "diagnose does not say what it is"
run 2 "$DA" report -i "$tmp/f.data" --format=damo --regions=vma
head -c 3000 "$tmp/ours" >"$tmp/cut"
run 5 "$DA" report -i "$tmp/cut"

fixtures=${DA_SHARED:-$(dirname "$0")/../../../shared}/fixtures
n=0
for f in "$fixtures"/damo--damo--*[0-9a-f]; do
	[ -e "$f" ] || continue
	run 0 "$DA" report -i "$f" --format=json
	cp "$tmp/out" "$tmp/json"
	run 0 python3 "$rules" "$f" "$tmp/json"
	cat "$tmp/out"
	n=$((n + 1))
done
if [ $n = 0 ]; then
	echo "the fixtures are not here: only our own record was read"
	exit 0
fi
# without what differs by nature: where it is, its size and its form
same() { run 0 "$DA" report -i "$1" --format=csv; cp "$tmp/out" "$2"; }
same "$fixtures"/damo--damo--damon.data-321c06 "$tmp/a"
same "$fixtures"/damo--damo--damon.data.json_compressed-2dcf9f "$tmp/b"
[ "$(wc -l <"$tmp/a")" -gt 10 ] && cmp "$tmp/a" "$tmp/b" || fail "the two forms differ"
tp=$(echo "$fixtures"/damon-tp--damo--perf.data-0e4903)
if command -v perf >/dev/null && [ -e "$tp" ]; then
	perf script -i "$tp" >"$tmp/script" 2>/dev/null
	run 0 "$DA" report -i "$tmp/script" --format=json
	cp "$tmp/out" "$tmp/script.json"
	run 0 "$DA" report -i "$tp" --format=json
	python3 - "$tmp/out" "$tmp/script.json" <<'PY' || fail "perf.data and its text differ"
import json, sys
a, b = (json.load(open(f))["damon"] for f in sys.argv[1:])
for t in a + b:
    t["time"] = [x // 1000 for x in t["time"]]  # the text has microseconds
assert a == b and a[0]["snapshots"] > 500
print("perf.data and perf script: %d snapshots" % a[0]["snapshots"])
PY
fi
