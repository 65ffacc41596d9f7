#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# The kernel's own pipeline, live: no kernel here has its tracepoints, so uprobes of their names stand in for them, on a
# program that calls them as a kdamond would. From there on all is as it will be: tracefs, format, session, decode,
# verdict; perf's recording of the same; --kernel-vs-user with each of its outcomes; a kernel without them.
. "$(dirname "$0")/lib.sh"
need python3 gcc nm readelf
need_root
: "${DA_SRC:?run this through tests/run-tests.sh live}"
T=/sys/kernel/tracing
case $(uname -m) in
x86_64) args=(%di %si %dx) ;;
aarch64) args=(%x0 %x1 %x2) ;;
*) skip "no names of argument registers for $(uname -m)" ;;
esac

# without the tracepoints: one line, no failure; and what was asked for cannot be done
if ! [ -e $T/events/damon/damon_perf_sample ]; then
	run 0 "$DA" diagnose -e page-faults
	grep -q "^kernel's own pipeline: " "$tmp/out" || fail "nothing says that there is no pipeline in the kernel"
	run 0 "$DA" diagnose -e page-faults --format=json
	cp "$tmp/out" "$tmp/d.json"
	check "$tmp/d.json" 'd["kernel"] is None' 'd["kernel_note"]' 'len(d["events"]) == 1' 'd["summary"]["passed"] == 27'
	run 1 "$DA" diagnose --kernel-vs-user -e page-faults
	grep -q 'error: --kernel-vs-user: ' "$tmp/err" || fail "it does not say why it cannot"
	echo "without tracepoints: said so, status 1 for --kernel-vs-user"
else
	skip "this kernel has the tracepoints themselves: uprobes cannot take their names"
fi
[ -w $T/uprobe_events ] || skip "no uprobes in tracefs here"

gcc -O1 -pie -o "$tmp/kdamond" "$DA_SRC/tests/live/kernel_pipeline.c" 2>"$tmp/err" || fail "cannot build the program"
# where a symbol is in the file
place() {
	local at seg_off seg_addr
	at=$((16#$(nm "$tmp/kdamond" | sed -n "s/ T $1\$//p")))
	read -r seg_off seg_addr < <(readelf -lW "$tmp/kdamond" | awk '$1 == "LOAD" && / R E / {print $2, $3; exit}')
	printf '0x%x' $((at - seg_addr + seg_off))
}
made=()
restore+=('for e in "${made[@]}"; do echo "-:damon/$e" >>$T/uprobe_events; done')
probe() { # NAME SYMBOL FIELD...
	local e=$1
	echo "p:damon/$1 $tmp/kdamond:$(place "$2") ${*:3}" >>$T/uprobe_events || skip "this kernel takes no uprobe of that name"
	made+=("$e")
}
probe damon_perf_sample kp_sample "addr=${args[0]}:x64" "cpu=${args[1]}:u32" "period=${args[2]}:u64"
probe damon_perf_report_missed kp_missed "count=${args[0]}:u64"
probe damon_perf_drain kp_drain "drained=${args[0]}:u32" "matched=${args[1]}:u32" "updated=${args[2]}:u32"

kdamond() { # starts it anew with these numbers
	[ -z "${kd-}" ] || { kill -9 "$kd"; wait "$kd"; } 2>/dev/null
	kd=
	[ $# = 0 ] || { start "$tmp/kdamond" "$@"; kd=$pid; }
}
causes='{k["id"] for e in d["events"] if e["name"] == "kernel pipeline" for l in e.get("layers", d["layers"]) for c in l["checks"] + l["notes"] for k in c["causes"]}'
level='[e["verdict"] for e in d["events"] if e["name"] == "kernel pipeline"]'
diagnose() { # STATUS ARGUMENT...
	run "$1" "$DA" diagnose --format=json "${@:2}"
	cp "$tmp/out" "$tmp/d.json"
}

kdamond 10 0 10
diagnose 0 -e page-faults
check "$tmp/d.json" "$level == ['FULLY INTEGRATED']" "not $causes" 'd["verdict"] == "FULLY INTEGRATED"' \
	'd["summary"]["passed"] == 27' 'len(d["events"]) == 2' 'd["kernel"]["records"]["damon_perf_sample"] > 100' \
	'abs(d["kernel"]["ledger"]["ring"]["out"] - d["kernel"]["ledger"]["sample"]["in"]) <= 10' \
	'd["kernel"]["ledger"]["match"]["out"] * 10 == d["kernel"]["ledger"]["match"]["in"] * 9' \
	'[c["cpu"] for c in d["kernel"]["cpus"] if c["samples"]] == [0, 1, 2, 3]'
run 0 "$DA" diagnose -e page-faults
sed -n "/^kernel's own/,\$p" "$tmp/out"
echo "beside our own run: fully integrated"

# the program runs on one CPU at a time, and its samples name four
kdamond 10 5 5
run 0 taskset -pc 0 "$kd"
diagnose 0 -e page-faults
check "$tmp/d.json" "$causes == {'kernel_fan_in'}" 'd["kernel"]["ledger"]["ring"]["missed"] > 50'
kdamond 10 0 -
diagnose 0 -e page-faults --duration 2s
check "$tmp/d.json" "$level == ['BROKEN AT ring']" "$causes == {'kernel_drain_stalled'}" 'd["exit_status"] == 0'
kdamond 0 0 0
diagnose 0 -e page-faults
check "$tmp/d.json" "$level == ['UNUSABLE']" "$causes == {'kernel_no_samples'}"
echo "fan-in, no drain, no samples: each named"

# user space beside it
diagnose 12 --kernel-vs-user -e page-faults
check "$tmp/d.json" 'd["verdict"] == "BROKEN AT sample"' "'kernel_path' in $causes" \
	'any("DAMON'"'"'s path" in n for n in d["notes"])'
diagnose 11 --kernel-vs-user -e fake/fail=silent/
check "$tmp/d.json" "'kernel_pmu' in $causes" 'any("the PMU is at fault" in n for n in d["notes"])'
kdamond 10 0 10
diagnose 11 --kernel-vs-user -e fake/fail=silent/
check "$tmp/d.json" "$causes == {'user_path'}"
diagnose 0 --kernel-vs-user -e page-faults
check "$tmp/d.json" "not $causes" 'any("both have samples" in n for n in d["notes"])' \
	'd["kernel"]["user"]["samples"] > 0'
run 1 "$DA" diagnose --kernel-vs-user # the samples name a period and no PMU
grep -q 'name it with -e' "$tmp/err" || fail "it does not say what to do"
if ! [ -e /sys/bus/event_source/devices/arm_spe_0 ]; then # an event that user space cannot even open
	diagnose 11 --kernel-vs-user -e spe
	check "$tmp/d.json" "$causes == {'user_path'}" 'd["kernel"]["records"]["damon_perf_drain"] > 50'
fi
kdamond
diagnose 13 --kernel-vs-user -e alignment-faults -- true
check "$tmp/d.json" "not $causes"
echo "kernel against user space: both, one, the other, none, nothing due"

# what perf records of them
if command -v perf >/dev/null; then
	kdamond 10 0 10
	run 0 perf record -q -a -e 'damon:damon_perf_*' -o "$tmp/perf.data" -- sleep 1
	diagnose 0 -i "$tmp/perf.data"
	n=$(perf script -i "$tmp/perf.data" -F event 2>/dev/null | grep -c damon_perf_sample)
	check "$tmp/d.json" "d['kernel']['records']['damon_perf_sample'] == $n" "$level == ['FULLY INTEGRATED']"
	echo "perf's recording: $n samples, as perf counts them"
fi
kdamond
