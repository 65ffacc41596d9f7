#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Speed of the SPE decoder alone on generated streams: packet walk against record layouts. Numbers, no
# judgement; `make bench` calls it. MIB=N sets the size of each stream (256).
: "${DA_SRC:=$(dirname "$0")/../..}"
cd "$DA_SRC" || exit 1
tmp=$(mktemp -d "${TMPDIR:-/tmp}/spe.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
"${CC:-cc}" -std=c17 -D_GNU_SOURCE -O2 -Iinclude -Idecoders -o "$tmp/bench" tests/bench/bench_spe.c decoders/spe*.c &&
	"$tmp/bench" "${MIB:-256}"
