#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What one instruction costs: decoding, looking it up cold and warm. CPU time of one thread; read the
# ratios, not the times.
set -u
: "${DA:?the program to measure: run this through make bench}"
: "${DA_SRC:?run this through make bench}"
[ "$(uname -m)" = x86_64 ] || { echo "insn: measured on x86-64 only"; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2046
"${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -I"$DA_SRC/include" -o "$tmp/bench_insn" \
	"$DA_SRC/tests/bench/bench_insn.c" "$(dirname "$DA")/libda.a" -Wl,--as-needed \
	$(pkg-config --libs capstone libelf) -lpthread || exit 1
"$tmp/bench_insn"
