#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# damon-attrs diagnose as a kernel selftest: KTAP on stdout, exit status 0 passed, 1 failed, 4 skipped.
#
#	kselftest.sh [DIAGNOSE-OPTION...] [-- COMMAND [ARG...]]
#
# It takes the options of the DAMON selftest (--pmu NAME --config N --freq 0|1 --sample-freq N --period N) and
# all others of diagnose. Skipped is what this machine cannot do: no such PMU, no rights, no perf events, or
# nothing that occurred. DA names the program; without it, ./damon-attrs, then the one in PATH.
if [ -z "${DA:-}" ]; then
	DA=./damon-attrs
	[ -x "$DA" ] || DA=damon-attrs
fi
command -v "$DA" >/dev/null || { echo "1..0 # SKIP $DA is not here"; exit 4; }
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
"$DA" diagnose --format=tap "$@" >"$out"
status=$?
cat "$out"
# refused before anything was created: by the machine, not by the pipeline
if grep -qE '^not ok [0-9]+ - environment\.(pmu|privilege|perf_event_open)' "$out"; then
	exit 4
fi
case $status in
0) exit 0 ;;
13) exit 4 ;;
*) exit 1 ;;
esac
