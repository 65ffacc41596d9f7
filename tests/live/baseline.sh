#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# diagnose --baseline: a run against a verdict in JSON and against a recording; the exit status stays the run's.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user
cd "$tmp" || exit 1

run 0 "$DA" diagnose -e page-faults --format=json -o faults.json
run 10 "$DA" diagnose -e cpu-clock --no-regs --baseline faults.json --format=json -o now.json
check now.json 'd["baseline"]["verdict"] == "worse"' \
	'd["baseline"]["was"]["callback"] > 0 and d["baseline"]["is"]["valid"] == 0' \
	'{s["name"]: s["change"] for s in d["baseline"]["shares"]}["valid of callbacks"] == "worse"'
run 0 "$DA" diagnose -e cpu-clock --no-regs --baseline faults.json --require=plumbing
grep -q '^compared with faults.json' "$tmp/out" || fail "no comparison in text"

run 0 "$DA" record -q -e page-faults -c 1 -o faults.data -- "$DA" workload --pattern seq --duration 200ms --size 16m
run 0 "$DA" diagnose -i faults.data --baseline faults.data --format=json -o same.json
check same.json 'd["baseline"]["verdict"] == "same"' 'd["baseline"]["was"]["callback"] == d["baseline"]["is"]["callback"]' \
	'all(s["change"] in ("same", "unknown") for s in d["baseline"]["shares"])'
# what was written with a baseline is a baseline
run 0 "$DA" diagnose -i faults.data --baseline same.json

run 1 "$DA" diagnose -i faults.data --baseline missing.json
echo '{"verdict": "FULLY INTEGRATED"' >cut.json
run 1 "$DA" diagnose -i faults.data --baseline cut.json
grep -q 'cut.json' "$tmp/err" || fail "the message does not name the file"
run 2 "$DA" diagnose -i faults.data --baseline faults.json --format=junit
