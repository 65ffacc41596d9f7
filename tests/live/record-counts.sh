#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# What record writes is a perf.data: perf counts the same samples in it as we do, and its evlist, report,
# script and inject work on it, also after inject.
. "$(dirname "$0")/lib.sh"
need perf python3
need_sampling user

f=$tmp/f.data
run 0 "$DA" record -e cpu-clock -c 100000 -o "$f" -- "$DA" workload --pattern random --duration 1s
report_of "$f"
ours=$(value "$f.json" 'sum(e["samples"] for e in d["events"])')
[ "$ours" -gt 0 ] || fail "no samples"

perf script -i "$f" -F ip,iregs >"$tmp/script" 2>"$tmp/err" || fail "perf script"
lines=$(wc -l <"$tmp/script")
[ "$lines" = "$ours" ] || fail "perf script shows $lines samples, we count $ours"
[ "$(grep -c 'ABI:' "$tmp/script")" = "$ours" ] || fail "some samples have no registers"
check "$f.json" 'd["counters"]["callback"] == '"$lines" 'd["input"]["mode"] == "file"' 'not d["input"]["damaged"]' \
	'd["input"]["messages"] == []' 'd["schema_version"] == 1 and d["tool"] == "damon-attrs"'

perf evlist -v -i "$f" >"$tmp/evlist" 2>"$tmp/err" || fail "perf evlist -v"
grep -q 'cpu-clock.*sample_period.*100000' "$tmp/evlist" || fail "perf evlist shows: $(cat "$tmp/evlist")"
perf report --stdio -i "$f" >"$tmp/report" 2>"$tmp/err" || fail "perf report"
grep -q '%.*damon-attrs' "$tmp/report" || fail "perf report does not know the command: $(head -n 30 "$tmp/report")"
grep -qiE 'wl_loop_random|damon-attrs +\[\.\]' "$tmp/report" || fail "perf report has no symbol of the command"
perf inject -i "$f" -o "$tmp/g" 2>"$tmp/err" || fail "perf inject"
perf script -i "$tmp/g" -F ip,iregs >"$tmp/script2" 2>"$tmp/err" || fail "perf script after perf inject"
cmp -s "$tmp/script" "$tmp/script2" || fail "perf inject changed the samples"
run 0 "$DA" report -i "$tmp/g"

echo "$ours samples: as many in perf script, before and after perf inject"
