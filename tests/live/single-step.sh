#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 600
# The decoder against the processor: real programs and one of odd instructions, one instruction at a time.
# tests/live/single_step.c says what is compared and what it cannot see.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/libbuild.sh"
[ "$(uname -m)" = x86_64 ] || skip "single-stepping is compared on x86-64 only"
build single_step.c
stepper=$built
"${CC:-gcc}" -O1 -o "$tmp/odd" "$DA_SRC/tests/live/odd_insns.c" || fail "cannot compile odd_insns.c"

# steps N COMMAND...: its own output is thrown away, and what we say of it is the last line
steps() {
	local status
	"$stepper" "$@" >"$tmp/said" 2>"$tmp/err"
	status=$?
	[ $status != 77 ] || skip "$(tail -n 1 "$tmp/said")"
	grep -aE "contradictions\$|^(register|memory|mov|the next|accessed|not decoded)" "$tmp/said"
	[ $status = 0 ] || fail "contradictions in $2"
}

cd "$tmp" || exit 1
seq 3000 | sed 's/$/ some words to squeeze/' >text
steps 1000000 ./odd
steps 200000 gzip -k -9 text
for c in sort perl python3; do
	command -v $c >/dev/null || continue
	case $c in
	sort) steps 60000 sort -o sorted text ;;
	perl) steps 60000 perl -e 'my %n; $n{$_ % 7} .= "x$_" for 1 .. 2000; print length join ",", %n' ;;
	python3) steps 60000 python3 -S -c 'print(sum(i * i for i in range(1000)))' ;;
	esac
done
