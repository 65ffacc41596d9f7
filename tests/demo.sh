#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The three commands, one after the other, on a program of known truth. `make demo` runs it.
cd "$(dirname "$0")/.." || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
failed=

show() {
	printf '\n=== %s\n\n' "$*"
	"$@" || { failed=1; echo "demo: exit status $? from: $*" >&2; }
}

show ./damon-attrs record -o "$tmp/demo.data" -- ./damon-attrs workload --pattern hotcold --duration 3s
show ./damon-attrs report -i "$tmp/demo.data"
show ./damon-attrs diagnose
[ -z "$failed" ]
