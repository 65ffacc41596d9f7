#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# diagnose --list and --coverage: what opens here is what record opens; the shares of the loops are what the loops
# do; a mail fits 72 columns of ASCII.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user

run 0 "$DA" diagnose --list --format=json
cp "$tmp/out" "$tmp/list.json"
check "$tmp/list.json" '{s["name"]: s["opens"] for s in d["sources"]}["page-faults"]' \
	'all(s["note"] for s in d["sources"])'
while read -r name opens; do
	"$DA" record -q -e "$name" -o "$tmp/x.data" -- true >/dev/null 2>&1
	[ $? = "$opens" ] || fail "--list is wrong about $name"
done < <(python3 -c "import json
for s in json.load(open('$tmp/list.json'))['sources']: print(s['name'], 0 if s['opens'] else 1)")
run 0 "$DA" diagnose --list
python3 -c "import sys; sys.exit(any(len(l) > 81 for l in open('$tmp/out')))" || fail "--list is wider than 80 columns"

run 0 "$DA" diagnose --coverage -e page-faults,cpu-clock --duration 400ms --format=json
check "$tmp/out" 'len(d["rows"]) == 6' \
	'all(r["inside"] <= r["valid"] <= r["samples"] for r in d["rows"])' \
	'all(r["address_pct"] == 100 for r in d["rows"] if r["source"] == "page-faults")' \
	'[r for r in d["rows"] if r["loop"] == "random" and r["source"] == "cpu-clock:u"][0]["inside"] > 0' \
	'all(r["inside_pct"] > 50 and r["stores"] > 0.9 * r["inside"] for r in d["rows"] if r["source"] == "page-faults")' \
	'[r for r in d["rows"] if r["loop"] == "random" and r["source"] == "cpu-clock:u"][0]["loads"] > 0'
run 0 "$DA" diagnose --coverage -e page-faults --duration 100ms --format=mail
python3 - "$tmp/out" <<'END' || fail "no mail: $(cat "$tmp/out")"
import platform, sys
text = open(sys.argv[1], encoding="ascii").read()
assert all(len(l) <= 72 for l in text.split("\n")), [l for l in text.split("\n") if len(l) > 72]
assert platform.release() in text and "--coverage -e page-faults" in text
END
# a source that is not there is an error, not a table
[ -e /sys/bus/event_source/devices/arm_spe_0 ] || run 1 "$DA" diagnose --coverage -e spe
run 2 "$DA" diagnose --coverage -e page-faults -- true
run 2 "$DA" diagnose --list --coverage
run 2 "$DA" diagnose --list --format=tap
run 2 "$DA" diagnose -e page-faults --format=mail
