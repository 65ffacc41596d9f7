#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# SIGUSR2 to a recording: the ledger on stderr, all seven layers, in = out + drops in each, and it goes on.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user

start "$DA" record -e page-faults -c 1 -o "$tmp/look.data" -- \
	"$DA" workload --pattern seq --duration 3s --size 8m 2>"$tmp/look.err"
looks() { [ "$(grep -c '^damon-attrs: ledger after' "$tmp/look.err")" -ge "$1" ]; }
# it takes the signal once it waits for its target
asked() { kill -USR2 "$pid" 2>/dev/null; looks "$1"; }
sleep 1
wait_for 5 asked 1 || fail "no ledger"
wait_for 5 asked 2 || fail "no second ledger"
finish 0 "$pid"
python3 - "$tmp/look.err" <<'END' || fail "the ledger does not add up: $(cat "$tmp/look.err")"
import sys
layers = "create bind enable sample ring match update".split()
found = 0
for line in open(sys.argv[1]):
    w = line.split()
    if w and w[0] in layers:
        assert int(w[1]) == int(w[2]) + sum(map(int, w[4::2])), line
        found += 1
assert found >= 14 and found % 7 == 0, found
END
run 0 "$DA" report -i "$tmp/look.data" --no-heatmap
