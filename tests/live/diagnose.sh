#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# The three configurations of the kernel series, with their tallies and exit statuses, live and again from a
# file; the overall verdict of several events; --require and the machine formats.
. "$(dirname "$0")/lib.sh"
need python3
need_root

verdict() { # STATUS SUMMARY DIAGNOSE-ARGUMENT...
	local want=$1 summary=$2
	shift 2
	run "$want" "$DA" diagnose "$@"
	grep -qxF "SUMMARY: $summary" "$tmp/out" || { cat "$tmp/out"; fail "no line 'SUMMARY: $summary' from: $*"; }
	echo "diagnose $*: $summary, exit $want"
}

work=("$DA" workload --pattern seq --duration 1s)
verdict 0 '27 passed, 0 failed, 0 skipped (FULLY INTEGRATED)' -e page-faults
verdict 0 '27 passed, 0 failed, 0 skipped (FULLY INTEGRATED)' -e page-faults -c 1 -- "$DA" workload --pattern touch
verdict 0 '27 passed, 0 failed, 0 skipped (FULLY INTEGRATED)' -e cpu-clock -- "${work[@]}"
verdict 10 '22 passed, 0 failed, 3 skipped (PLUMBING-ONLY)' -e cpu-clock --no-regs
verdict 10 '22 passed, 0 failed, 3 skipped (PLUMBING-ONLY)' -e cpu-clock --no-regs -- "${work[@]}"
verdict 11 '19 passed, 1 failed, 5 skipped (UNUSABLE)' -e fake/fail=silent/
verdict 11 '19 passed, 1 failed, 5 skipped (UNUSABLE)' -e fake/fail=silent/ -- "${work[@]}"

run 0 "$DA" diagnose -e page-faults
grep -qE '^callback=[0-9]+, valid=[0-9]+, enqueue=[0-9]+, dequeue=[0-9]+, overflow=[0-9]+, match=[0-9]+, update=[0-9]+$' \
	"$tmp/out" || fail "no line of counters in the form of the series"
grep -q '/' "$tmp/out" || true
[ "$(grep -cE '\[?(PASS)\]?' "$tmp/out")" -ge 27 ] || fail "fewer than 27 PASS lines"

run 0 "$DA" diagnose --require=plumbing -e cpu-clock --no-regs -- "${work[@]}"
run 10 "$DA" diagnose -e page-faults -e cpu-clock --no-regs -- "${work[@]}"
run 0 "$DA" diagnose --any -e page-faults -e cpu-clock --no-regs -- "${work[@]}"

for case in "0 page-faults" "11 fake/fail=silent/"; do
	run "${case%% *}" "$DA" diagnose -e "${case#* }" --format=json
	cp "$tmp/out" "$tmp/d.json"
	check "$tmp/d.json" 'd["exit_status"] == '"${case%% *}" 'd["schema_version"] == 1' 'conserves(d["ledger"])' \
		'[l["name"] for l in d["layers"]][-7:] == ["create", "bind", "enable", "sample", "ring", "match", "update"] or {"create", "bind", "enable", "sample", "ring", "match", "update"} <= {l["name"] for l in d["layers"]}' \
		'all(c["id"] and c["result"] in ("PASS", "FAIL", "SKIP", "UNKNOWN") and c["evidence"] for l in d["layers"] for c in l["checks"])' \
		'all(c["causes"] and all(x["evidence"] and x["fix"] for x in c["causes"]) for l in d["layers"] for c in l["checks"] if c["result"] == "FAIL")'
done

# ---- from a file: the same, from what the run stored ----
f=$tmp/f.data
run 0 "$DA" record -e page-faults -c 1 -o "$f" -- "$DA" workload --pattern touch --size 1m
verdict 0 '27 passed, 0 failed, 0 skipped (FULLY INTEGRATED)' -i "$f"
run 0 "$DA" record -e cpu-clock --no-regs -o "$f" -- "${work[@]}"
verdict 10 '22 passed, 0 failed, 3 skipped (PLUMBING-ONLY)' -i "$f"
run 0 "$DA" record -e fake/fail=silent/ -o "$f" -- "${work[@]}"
verdict 11 '19 passed, 1 failed, 5 skipped (UNUSABLE)' -i "$f"
