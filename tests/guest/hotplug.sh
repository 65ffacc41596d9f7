#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Judges hotplug.in: the samples of the CPU stop while it is away and go on when it is back; the ledger of create, bind
# and enable counts its events again, and conserves; enable names the CPU; perf knows every id in the file.
. "$(dirname "$0")/libjudge.sh"
cpu=$(cat cpu)

report_of data
check data.json 'not d["input"]["damaged"]' 'd["input"]["messages"] == []' 'conserves(d["ledger"])' \
	'conserves(d["recorded_ledger"])' 'd["recorded_ledger"]["sample"]["in"] == d["counters"]["callback"]' \
	'd["recorded_ledger"]["create"]["in"] == d["recorded_ledger"]["create"]["out"]' \
	'd["recorded_ledger"]["create"]["in"] == d["recorded_ledger"]["enable"]["out"]'
run 0 "$DA" diagnose -i data --format=json
cp "$tmp/out" verdict.json
check verdict.json "d['verdict'] == 'FULLY INTEGRATED'" \
	"any(n['id'] == 'enable.hotplug' and 'CPU $cpu went 2, came back 2' in n['evidence'] for l in d['layers'] for n in l['notes'])"
"$DA" diagnose -i data | grep -A3 -i offline

run 0 "$DA" report -i data --format=samples -F time,cpu
python3 - "$tmp/out" "$cpu" <<'PY' || fail "see above"
import sys
times = [float(l.split()[0].rstrip(":")) for l in open(sys.argv[1]) if l.split()[1].strip("[]").isdigit() and int(l.split()[1].strip("[]")) == int(sys.argv[2])]
times.sort()
gaps = sorted((b - a, a - times[0]) for a, b in zip(times, times[1:]))
print("CPU %s: %d samples, longest gaps: %s" % (sys.argv[2], len(times), ["%.1f s at %.1f s" % g for g in gaps[-3:]]))
sys.exit(not (gaps and gaps[-1][0] >= 0.9)) # it was away for a second, and samples go on after it
PY
if command -v perf >/dev/null; then
	perf script -i data -F cpu,event >"$tmp/script" 2>"$tmp/err" || fail "perf script"
	n=$(grep -c cpu-clock "$tmp/script")
	[ "$n" = "$(value data.json 'd["counters"]["callback"]')" ] || fail "perf script sees $n samples"
	echo "perf script sees all of them"
fi
report_of late.data
check late.data.json 'conserves(d["recorded_ledger"])' 'd["counters"]["callback"] > 0'
run 0 "$DA" report -i late.data --format=samples -F cpu
grep -q "$cpu" "$tmp/out" || fail "-C: CPU $cpu was offline at first and gave no sample later"
