#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run-tests.sh GROUP...: run groups of tests, print a line a test and last the tally,
#	N passed, N failed, N skipped
# `make check` calls it with the groups layers headers docs unit golden replay live, `make check-guest` with
# guest. Exit status 1 if a test failed or none ran.
#
# Environment: O, the build folder (build/gcc); O_ARM64, that of the program for arm64 guests; T, a pattern: only the tests whose GROUP/NAME it matches;
# TEST_TIMEOUT, seconds a test may take (300), which a test changes for itself by a comment "timeout: N"
# in its first 30 lines; SAN, non-empty in a build with sanitizers; TALLY, a file that gets "passed
# failed skipped" added instead of the last line; RUNNER, an emulator for programs of another machine
# (unit, replay).
#
# A test gets DA (the program), DA_SRC (this checkout), DA_SHARED (../shared beside it, if there is one) and
# a TMPDIR of its own. A script's status: 0 passed, 77 skipped (the reason is the last line of its stdout),
# else failed. Of a Check program and of tests/golden/run.sh each case counts: see unit() and golden().

# Sanitizers of this age cannot live with as many random address bits as newer kernels have.
if [ -n "${SAN:-}" ] && [ "$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 0)" -gt 28 ] &&
	[ -z "${DA_NO_ASLR:-}" ] && setarch -R true 2>/dev/null; then
	DA_NO_ASLR=1 exec setarch -R "$0" "$@"
fi

cd "$(dirname "$0")/.." || exit 1
shopt -s nullglob
O=${O:-build/gcc}
unset DA_SHARED
[ ! -d ../shared ] || DA_SHARED=$(realpath ../shared)
DA=$(realpath -m "$O/damon-attrs")
DA_SRC=$PWD
export DA DA_SRC ${DA_SHARED+DA_SHARED}
export CK_DEFAULT_TIMEOUT=${CK_DEFAULT_TIMEOUT:-60}
# abort: a sanitizer's exit status must not look like one of ours
export ASAN_OPTIONS=abort_on_error=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export UBSAN_OPTIONS=abort_on_error=1:print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}
ulimit -c 0

passed=0 failed=0 skipped=0 pid=
tmp=$(mktemp -d "${TMPDIR:-/tmp}/da-tests.XXXXXX") || exit 1
chmod 755 "$tmp"
trap 'rm -rf "$tmp"' EXIT
trap '[ -z "$pid" ] || kill "$pid"; echo "interrupted"; exit 130' INT TERM HUP

# what a test printed; of much, the beginning and the end
excerpt() {
	[ -s "$1" ] || return 0
	awk '{ line[NR] = $0 }
		END { for (i = 1; i <= NR; i++) {
			if (NR > 80 && i == 41) { print "     | ..."; i = NR - 39 }
			print "     | " line[i]
		} }' "$1"
}

pass() { passed=$((passed + 1)); echo "PASS $*"; }
skip() { skipped=$((skipped + 1)); echo "SKIP $*"; }
fail() {
	failed=$((failed + 1))
	echo "FAIL $*"
	excerpt "$tmp/out"
	excerpt "$tmp/err"
}

wanted() {
	# shellcheck disable=SC2053
	[[ $1 == ${T:-*} ]]
}

# run FILE COMMAND...: run the command within the time that FILE allows. Sets status and took; its output is
# in $tmp/out and $tmp/err.
run() {
	local limit start=$EPOCHREALTIME
	limit=$(head -n 30 "$1" | grep -a -m 1 -o 'timeout: [0-9]*') || limit="timeout: ${TEST_TIMEOUT:-300}"
	limit=${limit#timeout: }
	shift
	mkdir "$tmp/dir" && chmod 755 "$tmp/dir"
	TMPDIR=$tmp/dir timeout -k 10 "$limit" "$@" </dev/null >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	{ wait $pid; } 2>/dev/null
	status=$?
	pid=
	rm -rf "$tmp/dir"
	took=$(((${EPOCHREALTIME/[.,]/} - ${start/[.,]/}) / 100000))
	took="${took%?}.${took: -1} s" took=${took/#./0.}
	if [ $status = 124 ] || [ $status = 137 ]; then took="$took; the limit is $limit s"; fi
}

last_line() { grep -v '^[[:space:]]*$' "$tmp/out" | tail -n 1; }

# judge NAME: one case from the status of the command that ran
judge() {
	case $status in
	0)
		pass "$1 ($took)"
		# what a guest measured is to be seen
		case $1 in guest/*/boot) ;; guest/*) excerpt "$tmp/out" ;; esac
		;;
	77) skip "$1: $(last_line)" ;;
	*) fail "$1: status $status ($took)" ;;
	esac
}

script() { # NAME FILE
	! wanted "$1" || { run "$2" "$2"; judge "$1"; }
}

layers() { script layers tests/check-layers.sh; }
headers() { script headers tests/check-headers.sh; }
docs() { script docs tests/check-docs.sh; }

# A Check program ends with "100%: Checks: 12, Failures: 0, Errors: 0"; it may run several runners.
unit() {
	local src name bin line n bad
	for src in tests/test_*.c; do
		name=$(basename "$src" .c)
		bin=$O/tests/$name
		wanted "unit/$name" || continue
		if [ ! -x "$bin" ]; then
			skip "unit/$name: not built, libcheck is not installed"
			continue
		fi
		# shellcheck disable=SC2086
		run "$src" ${RUNNER:-} "$bin"
		line=$(grep -E '^[0-9]+%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+$' "$tmp/out")
		n=$(sed 's/.*Checks: \([0-9]*\).*/\1/' <<<"$line" | awk '{ s += $1 } END { print s + 0 }')
		bad=$(sed 's/.*Failures: \([0-9]*\), Errors: /\1 /' <<<"$line" | awk '{ s += $1 + $2 } END { print s + 0 }')
		if [ $status = 77 ] && [ "$n" = 0 ]; then
			skip "unit/$name: $(last_line)"
		elif [ "$n" = 0 ]; then
			fail "unit/$name: no test ran, status $status ($took)"
		elif [ "$bad" = 0 ] && [ $status != 0 ]; then
			passed=$((passed + n))
			fail "unit/$name: status $status after ${line//$'\n'/; } ($took)"
		elif [ "$bad" != 0 ]; then
			passed=$((passed + n - bad)) failed=$((failed + bad - 1))
			fail "unit/$name: ${line//$'\n'/; } ($took)"
		else
			passed=$((passed + n - 1))
			pass "unit/$name: ${line//$'\n'/; } ($took)"
		fi
	done
}

# tests/golden/run.sh prints a line a case, beginning with PASS, FAIL or SKIP (or TAP's ok, not ok); what
# else it prints is shown. Its status must be non-zero if a case failed.
golden() {
	local p f s
	[ -e tests/golden/run.sh ] && wanted golden || return 0
	run tests/golden/run.sh tests/golden/run.sh
	s=$(grep -cE '^(SKIP|ok .*# SKIP)' "$tmp/out")
	p=$(grep -E '^(PASS|ok)\b' "$tmp/out" | grep -cv '# SKIP')
	f=$(grep -cE '^(FAIL|not ok)\b' "$tmp/out")
	if [ $((p + f + s)) = 0 ]; then
		judge golden
		return
	fi
	grep -vE '^([a-z]+: )?[0-9]+ passed, [0-9]+ failed' "$tmp/out" | sed -E 's/^(PASS|FAIL|SKIP) /\1 golden\//'
	cat "$tmp/err"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	rm -f "$tmp/out" "$tmp/err" # shown already
	if [ $status != 0 ] && [ "$f" = 0 ]; then fail "golden: status $status ($took)"; fi
}

replay() {
	local src name corpus
	for src in tests/fuzz/fuzz_*.c; do
		name=$(basename "$src" .c)
		name=${name#fuzz_}
		wanted "replay/$name" || continue
		corpus=tests/fuzz/corpus/$name
		[ -d "$corpus" ] || corpus=
		# shellcheck disable=SC2086
		run "$src" ${RUNNER:-} "$O/tests/fuzz/fuzz_${name}_replay" $corpus
		if [ $status = 0 ]; then pass "replay/$(last_line) ($took)"; else judge "replay/$name"; fi
	done
}

live() {
	local f
	for f in tests/live/[a-z0-9]*.sh; do
		case $f in */lib*.sh) continue ;; esac # sourced by the others
		script "live/$(basename "$f" .sh)" "$f"
	done
}

# A guest of each architecture boots once, runs NAME.in of all its tests, and brings back what they left. Then
# NAME.sh, if there is one, judges it here, with our program of this machine; else the status in the guest does.
guest() {
	local arch o name names judge
	for arch in x86_64 aarch64; do
		o=$O
		[ "$arch" = "$(uname -m)" ] || o=${O_ARM64:-build/aarch64-linux-gnu-gcc}
		names=()
		for name in tests/guest/*.in; do
			head -n 5 "$name" | grep -q 'arch: ' && ! head -n 5 "$name" | grep -q "arch: $arch" && continue
			name=$(basename "$name" .in)
			! wanted "guest/$arch/$name" || names+=("$name")
		done
		[ ${#names[@]} -gt 0 ] || continue
		rm -rf "$tmp/guest"
		mkdir "$tmp/guest"
		DA=$(realpath -m "$o/damon-attrs") run tests/guest/boot.sh tests/guest/boot.sh $arch "$tmp/guest" "${names[@]}"
		judge "guest/$arch/boot"
		for name in "${names[@]}"; do
			judge=tests/guest/$name.sh
			[ -e "$judge" ] || judge=tests/guest/judge
			if [ -e "$tmp/guest/$name/status" ]; then
				GUEST=$tmp/guest/$name GUEST_ARCH=$arch script "guest/$arch/$name" "$judge"
			elif [ "$status" != 77 ]; then
				fail "guest/$arch/$name: the guest brought nothing back"
			fi
		done
	done
}

for group; do
	case $group in
	layers | headers | docs | unit | golden | replay | live | guest) $group ;;
	*) echo "run-tests.sh: no group '$group'"; exit 1 ;;
	esac
done

if [ -n "${TALLY:-}" ]; then
	echo "$passed $failed $skipped" >>"$TALLY"
else
	echo "$passed passed, $failed failed, $skipped skipped"
fi
[ $((passed + failed)) -gt 0 ] || { echo "no test ran"; exit 1; }
[ "$failed" = 0 ]
