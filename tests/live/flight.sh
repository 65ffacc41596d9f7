#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# The output goes on in other files: no sample is lost or doubled, each file stands alone, also for perf, and a
# sampler that falls silent is told, and its files kept.
. "$(dirname "$0")/lib.sh"
need python3
need_sampling user

# samples FILE: sample records in it
samples() { "$DA" report -i "$1" --format=json 2>/dev/null | python3 -c \
	'import json, sys; print(sum(e["samples"] for e in json.load(sys.stdin)["events"]))'; }

# By age. The program is gone when the files are read: each has the workload's comm, mappings and code.
cp "$DA" "$tmp/prog"
work=("$tmp/prog" workload --pattern hotcold --size 16m)
run 0 "$DA" record -F 2000 --switch-output=400ms -e cpu-clock -o "$tmp/a.data" -- "${work[@]}" --duration 2s
rm "$tmp/prog"
all=$(sed -n 's/^damon-attrs: samples=\([0-9]*\) .*/\1/p' "$tmp/err")
files=("$tmp"/a.data.*)
[ ${#files[@]} -ge 4 ] || fail "${#files[@]} files of 2 s by 400 ms"
[ ! -e "$tmp/a.data" ] || fail "the last file kept its first name"
sum=0 number=0
for f in "${files[@]}"; do
	n=$(samples "$f")
	sum=$((sum + n)) number=$((number + 1))
	run 0 "$DA" diagnose -i "$f"
	grep -q "^VERDICT: FULLY INTEGRATED.*file $number of a run" "$tmp/out" || fail "not file $number: $(head -1 "$tmp/out")"
	if [ "$n" -ge 100 ]; then
		run 0 "$DA" report -i "$f" --format=json -o "$tmp/r.json"
		check "$tmp/r.json" 'd["spaces"][0]["comm"] == "prog"' \
			'd["counters"]["valid"] > d["counters"]["callback"] / 2'
	fi
	if command -v perf >/dev/null; then
		perf script -i "$f" >"$tmp/script" 2>"$tmp/err" || fail "perf script of file $number"
		[ "$(grep -c cpu-clock "$tmp/script")" = "$n" ] || fail "perf sees other samples in file $number"
	fi
done
[ "$sum" = "$all" ] || fail "$sum samples in the files, $all recorded"
echo "by age: $all samples in ${#files[@]} files"

work[0]=$DA
# by size, the last two kept; and on SIGUSR2
run 0 "$DA" record -F 4000 --switch-output=20K --switch-max-files=2 -e cpu-clock -o "$tmp/b.data" -- "${work[@]}" --duration 1s
files=("$tmp"/b.data.*)
[ ${#files[@]} = 2 ] || fail "${#files[@]} files kept, not 2"
[ "$(grep -c "^damon-attrs: '.*b.data" "$tmp/err")" -ge 3 ] || fail "20 KiB were never full"
# shellcheck disable=SC2016
run 0 "$DA" record -e cpu-clock --switch-output -o "$tmp/c.data" -- sh -c 'for i in 1 2; do sleep 0.3; kill -USR2 $PPID; sleep 0.1; done'
files=("$tmp"/c.data.*)
[ ${#files[@]} = 3 ] || fail "two signals made ${#files[@]} files"
echo "by size and signal"

# the fake sampler stops 1.5 s after the beginning, the clock beside it goes on
run 0 "$DA" record -e fake/fail=stall,after=1500,rate=1k/ --flight=500ms --switch-max-files=1 -o "$tmp/d.data" -- \
	"$DA" workload --pattern seq --size 8m --duration 5s
grep -q "warning: fake fell silent on CPU [0-9]* 1\.[45].* s after the beginning" "$tmp/err" || fail "no warning of the silence"
kept=$(grep -c "^damon-attrs: '.*, kept\$" "$tmp/err")
files=("$tmp"/d.data.*)
[ ${#files[@]} -ge 3 ] && [ ${#files[@]} -le 5 ] || fail "${#files[@]} files: one and those of the moment"
told=0
for f in "${files[@]}"; do
	"$DA" diagnose -i "$f" >"$tmp/out" 2>"$tmp/err"
	! grep -q 'stopped sampling after 1\.5' "$tmp/out" || told=$((told + 1))
done
[ "$told" -ge 1 ] || fail "no file says when the sampler stopped"
# its moment is in one of them, with samples before it
first=$(samples "${files[0]}")
[ "$first" -gt 500 ] || fail "the file before the moment has $first samples"
echo "flight: told, ${#files[@]} files left ($kept kept while written)"

# it stops so late that only the last look can find it, when all files have their names
run 0 "$DA" record -e fake/fail=stall,after=1300,rate=1k/ --flight -o "$tmp/g.data" -- "$DA" workload --pattern seq --size 8m --duration 1700ms
grep -q "fell silent .*kept: '.*g.data\.[0-9]*'" "$tmp/err" || fail "no warning of a silence at the end"
[ "$(grep -c 'fake fell silent on CPU 0' "$tmp/err")" -le 1 ] || fail "the silence is told twice"
echo "flight: a silence at the end"

# a sampler that was silent from the beginning: a check fails; in a healthy run none does
run 0 "$DA" record -e fake/fail=silent/ --flight=200ms --switch-max-files=1 -o "$tmp/h.data" -- "$DA" workload --pattern seq --size 8m --duration 1s
grep -q 'warning: fake: sample\.callback fails: ' "$tmp/err" || fail "no failing check is said"
files=("$tmp"/h.data.*)
[ ${#files[@]} = 2 ] || fail "${#files[@]} files kept for a failing check, not 2"
run 0 "$DA" record -e page-faults --flight -o "$tmp/i.data" -- "$DA" workload --pattern seq --size 8m --duration 1s
if grep -qE 'fails:|fell silent' "$tmp/err"; then fail "a healthy run is blamed"; fi
echo "flight: failing checks"

for bad in 3x 0s; do run 2 "$DA" record --switch-output=$bad -o "$tmp/e.data" -- true; done
run 2 "$DA" record --switch-output=1s -o - -- true
run 2 "$DA" record --switch-max-files=3 -o "$tmp/e.data" -- true
run 1 "$DA" record -e spe/simulate,rate=1000000,count=200000/ --switch-output=100ms -o "$tmp/e.data" -- sleep 0.5
grep -q 'AUX' "$tmp/err" || fail "AUX: not said why"
