# SPDX-License-Identifier: GPL-2.0-only
# Sourced after lib.sh by the live tests that have a C program of their own. No test by itself.
# shellcheck shell=bash disable=SC2154

# build SOURCE: compiles tests/live/SOURCE with the library that lies beside $DA, as that was compiled. Its
# path is in $built.
build() {
	local lib flags=()
	lib=$(dirname "$DA")/libda.a
	built=$tmp/${1%.c}
	[ -e "$lib" ] || skip "no libda.a beside $DA"
	command -v "${CC:-gcc}" >/dev/null || skip "no compiler"
	if nm "$lib" 2>/dev/null | grep -q __asan_init; then flags=(-fsanitize=address,undefined); fi
	if nm "$lib" 2>/dev/null | grep -q __tsan_init; then flags=(-fsanitize=thread); fi
	# shellcheck disable=SC2046
	"${CC:-gcc}" -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra "${flags[@]}" -I"$DA_SRC/include" -o "$built" \
		"$DA_SRC/tests/live/$1" "$lib" -Wl,--as-needed \
		$(make -s --no-print-directory -C "$DA_SRC" print-ldlibs) ||
		fail "cannot compile $1"
}
