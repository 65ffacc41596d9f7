#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Arm SPE packets against perf: the packets that perf prints of random streams must be those that our
# decoder sees, byte for byte. Needs perf, not an Arm machine. spe_packets.c says where perf is known to
# walk wrongly and does as it does there.
# timeout: 600
set -u
: "${DA_SRC:?run this through tests/run-tests.sh live}"
streams=24 bytes=16384 least=40000

command -v perf >/dev/null || { echo "perf is not installed"; exit 77; }
command -v "${CC:=cc}" >/dev/null || { echo "no compiler for the lister"; exit 77; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/spe.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$DA_SRC" || exit 1
"$CC" -std=c17 -D_GNU_SOURCE -O2 -Iinclude -Idecoders -Itests -o "$tmp/list" tests/live/spe_packets.c \
	decoders/spe_pkt.c || exit 1

# perf's lines to ours: names of bits are left out, they differ from version to version
perf_packets() {
	perf script -D -i "$1" 2>/dev/null | sed -n '/ARM SPE data/,/^[^.]/p' |
		sed -nE 's/^\.  ([0-9a-f]{8}):  (([0-9a-f]{2} )+) *(.*[^ ]) *$/\1|\2|\4/p' | awk -F'|' '{
			n = split($2, bytes, " ")
			text = $3
			if (text ~ /^Bad/) text = "BAD"
			else if (text ~ /^(ADDR|PBT)/) text = "ADDR"
			else if (text ~ /^LAT/) sub(/^LAT [0-9]+/, "&|", text)
			else if (text ~ /^EV/) text = "EV"
			else if (text !~ /^(PC|TGT|VA|PA|CONTEXT|TS|DATA-SOURCE|END|PAD)/) text = "OP"
			sub(/\|.*/, "", text)
			printf "%s %d %s\n", $1, n, text
		}'
}

packets=0 differences=0
for seed in $(seq 1 $streams); do
	"$tmp/list" "$seed" "$tmp/data" $bytes >"$tmp/ours" || { echo "FAIL: cannot make stream $seed"; exit 1; }
	perf_packets "$tmp/data" >"$tmp/perf"
	packets=$((packets + $(wc -l <"$tmp/ours")))
	if ! diff "$tmp/perf" "$tmp/ours" >"$tmp/diff"; then
		differences=$((differences + 1))
		echo "stream $seed (perf <, ours >):"
		head -n 6 "$tmp/diff"
	fi
done
kinds=$(cut -d' ' -f3 "$tmp/ours" | sort -u | tr '\n' ' ')
echo "$packets packets in $streams streams, $differences streams differ; kinds: $kinds"
[ "$packets" -ge $least ] || { echo "FAIL: fewer than $least packets"; exit 1; }
[ "$differences" = 0 ]
