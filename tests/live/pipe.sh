#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# record -o - is a perf.data in pipe mode: report -i - and perf script -i - read it as it comes, and saved to a
# file it is read too.
. "$(dirname "$0")/lib.sh"
need perf python3
need_sampling user

# COMMAND's own output must not get into the data: it goes to stderr.
recording() { "$DA" record -e cpu-clock:u -c 500000 -o - -- "$DA" workload --pattern seq --duration 1s; }

recording 2>"$tmp/err" | "$DA" report -i - --format=json >"$tmp/live.json" 2>"$tmp/err2"
[ "${PIPESTATUS[*]}" = "0 0" ] || fail "record | report: ${PIPESTATUS[*]} $(cat "$tmp/err2")"
check "$tmp/live.json" 'd["input"]["mode"] == "pipe"' 'not d["input"]["damaged"]' 'd["counters"]["valid"] > 0' \
	'conserves(d["ledger"])' 'd["recorded_ledger"]["sample"] == d["ledger"]["sample"]'

recording 2>"$tmp/err" >"$tmp/pipe.data" || fail "record -o -"
n=$(perf script -i - -F ip <"$tmp/pipe.data" 2>"$tmp/err" | wc -l)
[ "$n" -gt 0 ] || fail "perf script -i - shows nothing"
report_of "$tmp/pipe.data"
check "$tmp/pipe.data.json" 'd["counters"]["callback"] == '"$n" 'd["input"]["mode"] == "pipe"'
n=$(recording 2>"$tmp/err" | perf script -i - -F ip 2>/dev/null | wc -l)
[ "$n" -gt 0 ] || fail "record | perf script -i - shows nothing"

# A reader that goes away ends the recording, without noise.
( recording 2>"$tmp/err3"; echo $? >"$tmp/status" ) | head -c 100 >/dev/null
[ "$(grep -c '^damon-attrs' "$tmp/err3")" -le 1 ] || { cat "$tmp/err3"; fail "noise after the reader went away"; }
echo "pipe mode: $(value "$tmp/live.json" 'd["counters"]["callback"]') samples through report, $n through perf script"
