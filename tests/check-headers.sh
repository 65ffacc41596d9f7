#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every header compiles alone, without a warning, under gcc and clang.
# The header is included by a one-line file: as a main file clang would warn of unused inline functions.
cd "$(dirname "$0")/.." || exit 1
compilers=
for cc in gcc clang; do
	if command -v $cc >/dev/null; then compilers="$compilers $cc"; else echo "no $cc: headers not tried with it"; fi
done
status=0
n=0
for h in include/*.h src/*.h decoders/*.h cmd/*.h; do
	[ -e "$h" ] || continue
	case $h in src/libperf_*) continue ;; esac # needs libperf's headers
	n=$((n + 1))
	for cc in $compilers; do
		# shellcheck disable=SC2086
		echo "#include \"${h##*/}\"" | $cc -std=c17 -D_GNU_SOURCE ${WARNINGS:--Wall -Wextra} -Werror -Iinclude \
			-I"${h%/*}" -x c -fsyntax-only - || { echo "$h: does not compile alone ($cc)"; status=1; }
	done
done
echo "$n headers, with$compilers"
[ "$n" -gt 0 ] && exit $status
