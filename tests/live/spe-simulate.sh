#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Recordings of the simulated Arm SPE device: what perf decodes of the file is what our report decodes,
# sample by sample, also where the AUX area was too small; the live ledger is that of the file; without an
# AUX area the producer is UNUSABLE. Needs no Arm machine; perf for the comparison.
# timeout: 180
. "$(dirname "$0")/lib.sh"

# time, CPU, thread, IP, address, latency, data source
ours() {
	"$DA" report -i "$1" --format=samples -F time,cpu,tid,ip,addr,weight,data_src >"$tmp/out" 2>"$tmp/err" ||
		fail "report --format=samples"
	awk '{ print $1, $2, $3, $4, $5, $6, $7 }' "$tmp/out" | sort
}
# perf's own order: TID [CPU] TIME: ADDR DATASRC |what it means| LATENCY IP
perfs() {
	perf script -i "$1" --itrace=M --ns -F tid,time,cpu,ip,addr,data_src,weight 2>"$tmp/perf.err" |
		sed 's/|OP.*BLK *N.A/ /; s/[]:[]/ /g' |
		awk '{ print $3, $2, $1, $7, $4, $6, $5 }' | sort
}

# both NAME TERMS OPTIONS...: records, and both decodes must agree
both() {
	local name=$1 terms=$2
	shift 2
	run 0 "$DA" record -e "spe/simulate,$terms/" -o "$tmp/$name" "$@" -- sleep 1
	cp "$tmp/err" "$tmp/$name.err"
	report_of "$tmp/$name"
	check "$tmp/$name.json" 'd["ledger"]["sample"] == d["recorded_ledger"]["sample"]' \
		'conserves(d["ledger"])' 'conserves(d["recorded_ledger"])' 'total("spe/simulate/") > 1000' \
		'd["counters"]["valid"] == d["counters"]["callback"]'
	if command -v perf >/dev/null; then
		ours "$tmp/$name" >"$tmp/ours"
		perfs "$tmp/$name" >"$tmp/perfs"
		diff "$tmp/perfs" "$tmp/ours" >"$tmp/diff" ||
			{ head -6 "$tmp/diff"; fail "$name: perf (<) and our report (>) differ"; }
		echo "$name: $(wc -l <"$tmp/ours") samples, perf and report agree"
	else
		echo "$name: $(value "$tmp/$name.json" 'd["counters"]["valid"]') samples; perf is not installed"
	fi
}

both whole rate=100000,count=20000
check "$tmp/whole.json" 'd["lost"]["aux_truncated"] == 0 and d["lost"]["aux_off_ns"] == 0'
both small rate=500000,count=250000,collide=500 -m 32,4
check "$tmp/small.json" 'd["lost"]["aux_truncated"] > 0' 'd["lost"]["aux_collisions"] > 0' \
	'd["lost"]["aux_off_ns"] > 0'
grep -q 'AUX: .* truncated' "$tmp/small.err" || fail "the summary does not say what AUX lost"
both wide rate=50000,count=20000,phys=1,pattern=random -m ,64 --drain=single

# a pipe
"$DA" record -q -e spe/simulate,rate=20000,count=5000/ -o - -- sleep 0.5 >"$tmp/pipe" || fail "record -o -"
run 0 "$DA" report -i - --format=json <"$tmp/pipe"
cp "$tmp/out" "$tmp/pipe.json"
check "$tmp/pipe.json" "d['counters']['valid'] == 5000 * $(getconf _NPROCESSORS_ONLN)"

# without AUX: enabled, and silent
run 11 "$DA" diagnose -e spe/simulate/ --no-aux --duration=1s -- sleep 1
grep -q 'UNUSABLE' "$tmp/out" || fail "no UNUSABLE"
grep -q -- 'AUX' "$tmp/out" || fail "AUX is not named"
run 0 "$DA" diagnose -e spe/simulate,rate=20000/ --duration=1s -- sleep 1
grep -q 'FULLY INTEGRATED' "$tmp/out" || fail "not FULLY INTEGRATED"
grep -q '27 passed' "$tmp/out" || fail "not 27 checks"

# what SPE refuses
run 1 "$DA" record -e spe/simulate/ -F 1000 -o "$tmp/x" -- true
grep -q 'period' "$tmp/err" || fail "the refusal of -F does not name the way out"
