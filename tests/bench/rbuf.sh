#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Report buffers under a storm: 10^8 reports of eight threads and of signal handlers that interrupt their
# writes (REPORTS=N for another number), each accounted for by every reader; then costs as ratios.
set -u
: "${DA:?the program to measure: run this through make bench}"
: "${DA_SRC:?run this through make bench}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
# The buffer is a library of its own: nothing else of the project is linked.
"${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -I"$DA_SRC/include" -I"$DA_SRC/tests" -o "$tmp/bench_rbuf" \
	"$DA_SRC/tests/bench/bench_rbuf.c" "$DA_SRC/tests/rbuf_storm.c" "$DA_SRC/src/rbuf.c" -lpthread || exit 1
"$tmp/bench_rbuf" "${REPORTS:-100000000}"
