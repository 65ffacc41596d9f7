#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# The report buffer, which needs nothing else of the project, under ThreadSanitizer: 10^6 reports of eight
# threads and of signal handlers that interrupt their writes, three readers; no race, no report unaccounted for.
. "$(dirname "$0")/lib.sh"
cc=${CC:-cc}
need "$cc"
echo 'int main(void) { return 0; }' >"$tmp/no.c"
"$cc" -fsanitize=thread -o "$tmp/no" "$tmp/no.c" 2>/dev/null || skip "$cc has no ThreadSanitizer"
alone=()
setarch -R true 2>/dev/null && alone=(setarch -R) # it cannot live with as many random address bits as newer kernels have
"${alone[@]}" "$tmp/no" 2>/dev/null || skip "ThreadSanitizer does not run here"
"$cc" -std=c17 -D_GNU_SOURCE -O1 -g -fsanitize=thread -I"$DA_SRC/include" -I"$DA_SRC/tests" -o "$tmp/storm" \
	"$DA_SRC/tests/bench/bench_rbuf.c" "$DA_SRC/tests/rbuf_storm.c" "$DA_SRC/src/rbuf.c" -lpthread ||
	fail "the report buffer does not compile alone"
run 0 "${alone[@]}" "$tmp/storm" 1000000
grep -q WARNING "$tmp/err" && fail "a race"
grep -c '^  reader [0-9]: .* torn 0, out of order 0$' "$tmp/out" | grep -qx 12 || fail "$(cat "$tmp/out")"
sed -n 2,3p "$tmp/out"
