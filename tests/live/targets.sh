#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# What record can be pointed at (a command, -p, -t, -a, -C, children), how it begins (-D) and every way it can
# end: each leaves a complete file, and the exit status is the one that was promised.
. "$(dirname "$0")/lib.sh"
need perf python3
need_root
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"
f=$tmp/f.data

complete() { # the file is whole, for us and for perf
	report_of "$f"
	check "$f.json" 'not d["input"]["damaged"]' 'd["input"]["messages"] == []' 'conserves(d["ledger"])' \
		'conserves(d["recorded_ledger"])' 'd["recorded_ledger"]["sample"]["in"] == d["counters"]["callback"]'
	perf script -i "$f" -F pid,tid,cpu,ip >"$tmp/script" 2>"$tmp/err" || fail "perf script"
	[ "$(wc -l <"$tmp/script")" = "$(value "$f.json" 'd["counters"]["callback"]')" ] || fail "perf script counts otherwise"
}
some() { check "$f.json" 'd["counters"]["callback"] > 0'; }
pids() { sed 's|^ *\([0-9]*\)/.*|\1|' "$tmp/script" | sort -un | tr '\n' ' '; }
tids() { sed 's|^ *[0-9]*/\([0-9]*\) .*|\1|' "$tmp/script" | sort -un | tr '\n' ' '; }
cpus() { sed 's|.*\[\([0-9]*\)\].*|\1|' "$tmp/script" | sort -un | tr '\n' ' '; }

# A workload that runs on its own, begun when this returns; its pid is in $work.
begin_work() {
	: >"$tmp/announced"
	"$DA" workload --duration 1000s --announce "$@" >"$tmp/announced" 2>&1 &
	work=$!
	started+=("$work")
	wait_for 60 grep -q range "$tmp/announced" || fail "the workload does not begin"
}
end_work() {
	kill -9 "$work"
	wait "$work" 2>/dev/null
}

# ---- -p, -t ----
begin_work --threads 2 --cpus 0,1
run 0 "$DA" record -e cpu-clock -c 500000 -o "$f" -p "$work" --duration 1s
complete && some
[ "$(pids)" = "$work " ] || fail "-p $work sampled pids $(pids)"
[ "$(tids | wc -w)" = 2 ] || fail "-p $work sampled threads $(tids), not both"
for thread in "/proc/$work/task/"*; do
	thread=${thread##*/}
	[ "$thread" = "$work" ] || break
done
run 0 "$DA" record -e cpu-clock -c 500000 -o "$f" -t "$thread" --duration 1s
complete && some
[ "$(tids)" = "$thread " ] || fail "-t $thread sampled threads $(tids)"
echo "-p: all threads of $work; -t: thread $thread alone"

# ---- -a, -C ----
run 0 "$DA" record -a -e cpu-clock -c 500000 -o "$f" --duration 1s
complete && some
[ "$(cpus | wc -w)" = "$(getconf _NPROCESSORS_ONLN)" ] || fail "-a sampled CPUs $(cpus)"
run 0 "$DA" record -a -C 1 -e cpu-clock -c 500000 -o "$f" --duration 1s
complete && some
[ "$(cpus)" = "001 " ] || fail "-C 1 sampled CPUs $(cpus)"
end_work
echo "-a: all CPUs; -C 1: that one"

# ---- the target of -p ends ----
begin_work
( sleep 1; kill -TERM "$work" ) &
run 0 "$DA" record -e cpu-clock -c 500000 -o "$f" -p "$work"
wait "$work"
complete && some
echo "-p: ends with its target"

# ---- children ----
for option in "" --no-inherit; do
	run 0 "$DA" record $option -e cpu-clock -c 500000 -o "$f" -- "$DA" workload --fork 2 --duration 1s --format json
	parent=$(value "$tmp/out" 'd["pid"]')
	children=$(value "$tmp/out" '" ".join(str(c["pid"]) for c in d["children"])')
	complete
	for p in $parent $children; do
		if [ -z "$option" ] || [ "$p" = "$parent" ]; then
			pids | grep -qw "$p" || fail "pid $p is not among $(pids)($option)"
		fi
	done
	[ -z "$option" ] || [ "$(pids)" = "$parent " ] || fail "$option: pids $(pids)beside $parent"
done
echo "children: sampled, with --no-inherit not"

# ---- -D ----
run 0 "$DA" record -e page-faults -c 1 -D 100000 -o "$f" -- "$DA" workload --pattern touch --size 1m
complete
check "$f.json" 'd["counters"]["callback"] == 0'
run 0 "$DA" record -e cpu-clock -c 500000 -D 300 -o "$f" -- "$DA" workload --duration 2s
complete && some
echo "-D: nothing before it is over, samples after"

# ---- exit statuses of COMMAND ----
for want in 0 42; do
	run $want "$DA" record -e cpu-clock -c 500000 -o "$f" -- sh -c "$DA workload --duration 200ms; exit $want"
	complete && some
done
# shellcheck disable=SC2016
run 137 "$DA" record -e cpu-clock -c 500000 -o "$f" -- sh -c "$DA workload --duration 200ms; kill -9 \$\$"
complete && some
# shellcheck disable=SC2016
run 143 "$DA" record -e cpu-clock -c 500000 -o "$f" sh -c "$DA workload --duration 200ms; kill -TERM \$\$"
complete && some
"$DA" record -e cpu-clock -o "$tmp/none" -- "$tmp/no-such-program" >"$tmp/out" 2>"$tmp/err" && fail "no such program, but status 0"
grep -q '^damon-attrs: error: .*no-such-program' "$tmp/err" || fail "no message about the program that is missing"
echo "COMMAND's status: 0, 42, 137 and 143 come back"

# ---- --duration, signals, --keep ----
run 0 "$DA" record -e cpu-clock -c 500000 --duration 500ms -o "$f" -- "$DA" workload --duration 1000s --format json
check "$tmp/out" 'd["ended_by"] == "signal"' # COMMAND got SIGTERM and had time to say so
complete && some
going() { grep -q 'samples=[1-9]' "$tmp/progress"; }
for signal in INT TERM HUP; do
	: >"$tmp/progress"
	start "$DA" record --progress -e cpu-clock -c 500000 -o "$f" -- "$DA" workload --duration 1000s --format json \
		>"$tmp/truth.json" 2>"$tmp/progress"
	wait_for 60 going || fail "no sample before SIG$signal"
	kill -$signal "$pid"
	finish 0 "$pid"
	check "$tmp/truth.json" 'd["ended_by"] == "signal"'
	complete && some
done
run 0 "$DA" record --keep -e cpu-clock -c 500000 --duration 500ms -o "$f" -- \
	sh -c "echo \$\$ >$tmp/kept; exec $DA workload --duration 1000s >/dev/null"
kept=$(cat "$tmp/kept")
started+=("$kept")
kill -0 "$kept" || fail "--keep: the command is gone"
complete && some
kill -9 "$kept"
echo "--duration, SIGINT, SIGTERM, SIGHUP: status 0, COMMAND stopped; with --keep left alone"

# ---- an existing file ----
run 0 "$DA" record -e fake -o "$f" -- true
[ -s "$f.old" ] || fail "the existing file did not become .old"
[ "$(stat -c %a "$f")" = 600 ] || fail "the file has mode $(stat -c %a "$f"), not 600"
