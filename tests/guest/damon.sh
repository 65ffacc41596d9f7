#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Judges damon.in: the kdamond's regions and our heat map of the same run point at the same hot range (overlap.py),
# and do not where a cold range is called the hot one, nor if the kdamond found nothing.
. "$(dirname "$0")/libjudge.sh"
overlap() { python3 "$DA_SRC/tests/guest/overlap.py" data.json "$@"; }

report_of data
report_of damon.data
run 0 "$DA" report -i damon.data --format=samples -F time,trace
cp "$tmp/out" snapshots
overlap snapshots truth || fail "see above"
! overlap snapshots truth 1 >"$tmp/out" || fail "so they do at a cold range: $(cat "$tmp/out")"
sed 's/nr_accesses=[0-9]*/nr_accesses=1/' snapshots >even
! overlap even truth >"$tmp/out" || fail "so they do without a kdamond's help: $(cat "$tmp/out")"
check damon.data.json 'd["damon"][0]["snapshots"] >= 10'
check data.json 'conserves(d["ledger"])' 'conserves(d["recorded_ledger"])'
