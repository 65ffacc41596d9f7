#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What matching a report costs, from one region to a million, and where bisection beats a linear walk. CPU time of
# one thread; read how it grows.
set -u
: "${DA:?the program to measure: run this through make bench}"
: "${DA_SRC:?run this through make bench}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
# The Makefile's link line is not at hand: what libda.a needs of libraries for this is libc and threads.
"${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -I"$DA_SRC/include" -o "$tmp/bench_match" \
	"$DA_SRC/tests/bench/bench_match.c" "$(dirname "$DA")/libda.a" -lpthread -lm || exit 1
"$tmp/bench_match"
