#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run.sh [--update] [NAME...]: golden tests, all or those named. A case is a folder:
#
#	cmd	bash, run in an empty folder with the program as $DA
#	out	what it must write to standard output; err, if there: to standard error
#	exit	its status, if not 0
#	make	if there: run before, in the same folder, with this folder as $GOLDEN (makes the input)
#
# Prints a line a case and last the tally. --update writes out, err and exit anew and shows what changed;
# look at it as you would at any change.
cd "$(dirname "$0")" || exit 1
GOLDEN=$PWD
DA=$(realpath -m "${DA:-../../build/gcc/damon-attrs}")
export DA GOLDEN LC_ALL=C.UTF-8 TZ=UTC PAGER=cat TERM=dumb
unset NO_COLOR COLUMNS LESS
[ -x "$DA" ] || { echo "not ok - no program at $DA"; exit 1; }
update=
[ "${1-}" != --update ] || { update=1; shift; }
[ $# -gt 0 ] || set -- */
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
passed=0 failed=0 skipped=0

# same WHAT EXPECTED GOT: compares, or replaces
same() {
	if diff -u --label "$1 expected" --label "$1 got" "$2" "$3" >"$tmp/diff" 2>&1; then return 0; fi
	if [ -n "$update" ]; then
		cat "$tmp/diff"
		cp "$3" "$2"
	else
		sed 's/^/#   /' "$tmp/diff"
		return 1
	fi
}

for name; do
	name=${name%/}
	case=$GOLDEN/$name
	[ -e "$case/cmd" ] || { echo "not ok - $name: no such case"; failed=$((failed + 1)); continue; }
	rm -rf "$tmp/dir" && mkdir "$tmp/dir" && cd "$tmp/dir" || exit 1
	if [ -e "$case/make" ] && ! "$case/make" >"$tmp/out" 2>&1; then
		sed 's/^/#   /' "$tmp/out"
		echo "not ok - $name: make failed"
		failed=$((failed + 1))
		continue
	fi
	bash "$case/cmd" >"$tmp/out" 2>"$tmp/err" </dev/null
	echo $? >"$tmp/exit"
	# without a file of its own: nothing on standard error, status 0
	[ -e "$case/err" ] && err=$case/err || { err=$tmp/no_err; : >"$err"; }
	[ -e "$case/exit" ] && exit=$case/exit || { exit=$tmp/no_exit; echo 0 >"$exit"; }
	[ -e "$case/out" ] || [ -z "$update" ] || : >"$case/out"
	if [ -n "$update" ]; then
		[ ! -s "$tmp/err" ] || err=$case/err
		[ "$(cat "$tmp/exit")" = 0 ] || exit=$case/exit
		touch "$err" "$exit"
	fi
	ok=1
	same out "$case/out" "$tmp/out" || ok=
	same err "$err" "$tmp/err" || ok=
	same exit "$exit" "$tmp/exit" || ok=
	if [ -n "$ok" ]; then
		echo "ok - $name"
		passed=$((passed + 1))
	else
		echo "not ok - $name"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
