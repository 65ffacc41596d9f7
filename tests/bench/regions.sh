#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# How far regions by DAMON's algorithm, by density and of fixed size are from the truth, on the same streams of
# samples: a table. The streams are made, not recorded, so only the CPU times differ from run to run.
set -u
: "${DA:?the program to measure: run this through make bench}"
: "${DA_SRC:?run this through make bench}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2046
"${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -I"$DA_SRC/include" -o "$tmp/bench_regions" \
	"$DA_SRC/tests/bench/bench_regions.c" "$(dirname "$DA")/libda.a" -Wl,--as-needed \
	$(pkg-config --libs capstone libelf libzstd json-c zlib) -lpthread -lm || exit 1
"$tmp/bench_regions"
