#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Wrong names and files that are no recordings: one clear line each, the right exit status, no usage text.
. "$(dirname "$0")/lib.sh"
cd "$tmp" || exit 1

refused() { # STATUS PATTERN COMMAND...
	local want=$1 pattern=$2
	shift 2
	run "$want" "$@" </dev/null
	[ "$(wc -l <"$tmp/err")" = 1 ] || fail "$(wc -l <"$tmp/err") lines instead of one from: $*"
	grep -q '^damon-attrs' "$tmp/err" || fail "the line does not begin with our name: $*"
	grep -qiE -- "$pattern" "$tmp/err" || fail "the line does not say '$pattern': $*"
	[ ! -s "$tmp/out" ] || fail "something on stdout from: $*"
	echo "$want $(cat "$tmp/err")"
}

# A bad option: argp adds where to find help, but no list of options.
bad_option() { # PATTERN COMMAND...
	local pattern=$1
	shift
	run 2 "$@" </dev/null
	head -n 1 "$tmp/err" | grep -qiE -- "^damon-attrs.*($pattern)" || fail "the first line does not say '$pattern': $*"
	[ "$(wc -l <"$tmp/err")" -le 3 ] || fail "$(wc -l <"$tmp/err") lines from: $*"
	if grep -q 'Usage:' "$tmp/err"; then fail "usage text from: $*"; fi
	[ ! -s "$tmp/out" ] || fail "something on stdout from: $*"
	echo "2 $(head -n 1 "$tmp/err")"
}

mkdir folder
: >empty
head -c 65536 /dev/zero >zeros
echo "just some words, longer than a header would be; just some words, longer than a header would be; 1234" >text
head -c 104 text >"text104"

# ---- names and syntax: 2 ----
refused 2 'nosuch-event' "$DA" record -e nosuch-event -- true
refused 2 'cpu-clokc.*cpu-clock' "$DA" record -e cpu-clokc -- true
refused 2 'nosuchterm' "$DA" record -e cpu-clock/nosuchterm=1/ -- true
refused 2 'nosuch' "$DA" nosuch
bad_option 'abc' "$DA" record -e cpu-clock -c abc -- true
bad_option 'nosuch-option' "$DA" record --nosuch-option -- true
bad_option 'nosuch-option' "$DA" report --nosuch-option
bad_option 'nosuch-option' "$DA" diagnose --nosuch-option
bad_option 'nosuch-option' "$DA" workload --nosuch-option
bad_option 'xml' "$DA" report --format=xml -i empty
bad_option 'xml' "$DA" diagnose --format=xml
bad_option 'bogus' "$DA" report --regions=bogus -i empty
bad_option 'bogus' "$DA" record -p bogus
bad_option "'damon' .wanted: vma" "$DA" record --regions=damon -- true
bad_option 'bogus' "$DA" workload --pattern bogus

# ---- what is not there or no recording: 1 ----
for command in report diagnose; do
	refused 1 "missing.data.*(no such file|not exist)" "$DA" $command -i missing.data
	refused 1 "folder.*directory" "$DA" $command -i folder
	refused 1 "empty.*empty" "$DA" $command -i empty
	refused 1 "zeros" "$DA" $command -i zeros
	refused 1 "text" "$DA" $command -i text
	refused 1 "text104" "$DA" $command -i text104
done
refused 1 'no-such-folder' "$DA" record -e fake -o no-such-folder/x -- true
refused 1 "missing.json': no such file or directory\$" "$DA" diagnose --baseline=missing.json
refused 1 '999999999|no such (process|task)' "$DA" record -e cpu-clock -p 999999999
