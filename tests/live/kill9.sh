#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# kill -9 of record at ten random moments, the last ones inside a burst of faults: what is left opens in report
# and in perf script, holds at least what the last progress line showed, and still decodes, with the program
# gone, from the code bytes in the file.
. "$(dirname "$0")/lib.sh"
need perf python3
need_root

# Samples of the last whole progress line
shown() { tr '\r' '\n' <"$tmp/progress" | grep -o 'samples=[0-9]* .*' | tail -n 1 | sed 's/samples=\([0-9]*\).*/\1/'; }
going() { [ "$(shown)" -gt 0 ] 2>/dev/null; }

killed() { # NAME RECORD-OPTION... -- WORKLOAD-OPTION...
	local f=$tmp/$1.data options=() target pid n status
	shift
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	cp "$DA" "$tmp/prog"
	"$tmp/prog" workload --duration 1000s "$@" >/dev/null &
	target=$!
	started+=("$target")
	: >"$tmp/progress"
	"$DA" record --progress -o "$f" "${options[@]}" -p "$target" >/dev/null 2>"$tmp/progress" &
	pid=$!
	started+=("$pid")
	wait_for 60 going || { cp "$tmp/progress" "$tmp/err"; fail "no progress line with a sample"; }
	sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
	kill -9 "$pid"
	n=$(shown)
	wait "$pid" 2>/dev/null
	kill -9 "$target"
	wait "$target" 2>/dev/null
	rm "$tmp/prog"

	"$DA" report -i "$f" --format=json >"$f.json" 2>"$tmp/err"
	status=$?
	[ $status = 0 ] || [ $status = 5 ] || fail "report of the killed $f: exit status $status"
	check "$f.json" 'd["counters"]["callback"] >= '"$n" 'd["counters"]["valid"] > 0' 'conserves(d["ledger"])' \
		'd["ledger"]["sample"]["drops"].get("no_code", 0) * 100 <= d["counters"]["callback"]'
	perf script -i "$f" -F ip >"$tmp/script" 2>"$tmp/err" || fail "perf script of the killed $f"
	[ "$(wc -l <"$tmp/script")" -ge "$n" ] ||
		fail "$(wc -l <"$tmp/script") samples for perf script, progress had shown $n"
	echo "killed at $n shown: $(value "$f.json" '"%(callback)d in the file, %(valid)d with an address" % d["counters"]'), report exits $status"
	rm "$f" "$f.json"
}

for i in 1 2 3 4 5 6; do killed "clock$i" -e cpu-clock -c 250000 -- --pattern random; done
for i in 7 8; do killed "both$i" -e cpu-clock,page-faults/period=1/ -- --pattern touch --size 1m; done
for i in 9 10; do killed "burst$i" -e page-faults -c 1 -- --pattern touch --size 16m --threads 2; done
