#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The truth that `damon-attrs workload` prints, against two oracles that are not ours: a hardware data
# breakpoint (perf stat -e mem:) counts the accesses to one word, perf's page-fault samples the first touches
# of each range. It does not use our own record.
. "$(dirname "$0")/lib.sh"
need perf setarch python3
need_sampling user

# ---- loads and stores: 512 words, each gets its 1/512 part of the accesses of a sequential pass ----

first_word() { sed -n 's/.* range da-workload-0 \(0x[0-9a-f]*\)-.*/\1/p'; }

base=$(setarch -R "$DA" workload --pattern seq --size 4k --ops 1 --announce | first_word)
[ -n "$base" ] || fail "no range announced"
if ! perf stat -x, -o "$tmp/stat" -e "mem:$base/8:rw:u" -- true 2>/dev/null || grep -q 'not supported' "$tmp/stat"; then
	echo "NOTE: no hardware breakpoints here, loads and stores not checked"
else
	# watched WORKLOAD-ARGUMENT...: how often word 0 was accessed; the workload's output is in $tmp/out
	watched() {
		setarch -R perf stat -x, -o "$tmp/stat" -e "mem:$base/8:rw:u" -- \
			"$DA" workload --size 4k --announce "$@" >"$tmp/out"
		[ "$(first_word <"$tmp/out")" = "$base" ] || skip "addresses are random even under setarch -R"
		n=$(grep 'mem:' "$tmp/stat" | cut -d, -f1)
	}
	# Something else may be at this address before the range is (sanitizers): one pass more or less is what counts.
	for pct in 0 25 100; do
		watched --pattern seq --ops 512 --writes $pct
		one=$n
		watched --pattern seq --ops 512000 --writes $pct
		[ $((n - one)) = 999 ] || fail "seq, $pct % writes: 999 passes more accessed word 0 $((n - one)) times more"
		[ -n "${SAN:-}" ] || [ "$one" = 2 ] || fail "seq: a pass and a first touch accessed word 0 $one times"
		read -r loads stores < <(awk '$1 == "da-workload-0" { print $5, $6 }' "$tmp/out")
		[ "$stores" = $((512000 * pct / 100 + 1)) ] && [ "$loads" = $((512000 * (100 - pct) / 100)) ] ||
			fail "seq, $pct % writes: $loads loads and $stores stores"
	done
	# A chase comes to each of the 64 lines once a turn.
	watched --pattern chase --ops 64 --writes 0
	one=$n
	watched --pattern chase --ops 64000 --writes 0
	[ $((n - one)) = 999 ] || fail "chase: 999 turns more accessed word 0 $((n - one)) times more"
	echo "loads and stores of one word: as counted by a hardware breakpoint"
fi

# ---- first touches ----

for args in "--pattern touch --repeat 3 --threads 2" "--pattern touch --ops 1000 --writes 0" \
	"--pattern random --ops 10k" "--pattern chase --ops 10k" "--pattern stairs --ops 100k --threads 3"; do
	# shellcheck disable=SC2086
	perf record -q -e page-faults:u -c 1 -d -m 1024 -o "$tmp/data" -- \
		"$DA" workload $args --size 1m --ranges 3 --format json >"$tmp/truth.json" 2>"$tmp/err" || fail "perf record"
	perf script -i "$tmp/data" -F addr >"$tmp/addr" 2>"$tmp/err" || fail "perf script"
	python3 - "$tmp/truth.json" "$tmp/addr" "$args" <<'PY' || fail "see above"
import json, sys
truth = json.load(open(sys.argv[1]))
addrs = [int(a, 16) for a in open(sys.argv[2]).read().split()]
for r in truth["ranges"]:
    mine = [a for a in addrs if int(r["start"], 16) <= a < int(r["end"], 16)]
    pages = len({a // truth["page_bytes"] for a in mine})
    if len(mine) != r["faults_expected"] or pages != r["pages_touched"]:
        sys.exit("%s: %d faults on %d pages seen, but %s" % (sys.argv[3], len(mine), pages, r))
PY
done
echo "first touches: as sampled by perf"
