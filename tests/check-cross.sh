#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Builds damon-attrs for arm64 and for s390x, whose byte order is the other one, static, with what
# `.ci/setup cross` unpacked, and runs unit tests there under qemu's user emulation: on arm64 what a recording
# goes through on its way to a report, on s390x the reader and the decoders. An emulated kernel has no
# perf events, so nothing is recorded; `make check-guest` does that.
#
# Skipped where compiler, emulator or libraries cannot be had: they come from Debian's archive.
cd "$(dirname "$0")/.." || exit 1
make=${MAKE:-make}
jobs=-j$(nproc)
[ -n "${TALLY:-}" ] || { own=1 TALLY=$(mktemp); export TALLY; trap 'rm -f "$TALLY"' EXIT; }

# What depends on the machine, and what a recording passes through; short ones, for emulation is slow.
both="cursor insn_arm64 insn_arm64_capstone spe spe_report ibs_dumps pebs perfrec perfside perfdata_read
	perfdata_modes perfdata_damage own own_json writer cross offline session"
arm64="error stage pipeline rbuf fake pmu verdict render_verdict"
big="insn_x86 ibs"

# machine TRIPLET EMULATOR TEST...
machine() {
	local triplet=$1 emulator=$2 pattern
	shift 2
	.ci/setup cross "$triplet"
	case $? in
	0) ;;
	77)
		echo "SKIP cross/$triplet: compiler, emulator or libraries cannot be had (see above)"
		echo "0 0 1" >>"$TALLY"
		return
		;;
	*)
		echo "FAIL cross/$triplet: .ci/setup"
		echo "0 1 0" >>"$TALLY"
		return
		;;
	esac
	if ! $make --no-print-directory "$jobs" CROSS="$triplet-" O="build/$triplet" CFLAGS="${CROSS_CFLAGS--O1}" \
		TESTS="$*" some-tests; then
		echo "FAIL cross/$triplet: does not build"
		echo "0 1 0" >>"$TALLY"
		return
	fi
	pattern=$(printf '|unit/test_%s' "$@")
	# emulation is slow: fewer words, more time
	DA_WORDS=100000 CK_DEFAULT_TIMEOUT=120 RUNNER=$emulator O=build/$triplet T="@(${pattern#|})" \
		tests/run-tests.sh unit | sed "s|^\\([A-Z]* \\)unit/|\\1$triplet/|"
}

# shellcheck disable=SC2086
machine aarch64-linux-gnu qemu-aarch64-static $both $arm64
# shellcheck disable=SC2086
machine s390x-linux-gnu qemu-s390x-static $both $big

[ -z "${own:-}" ] || awk '{ p += $1; f += $2; s += $3 }
	END { printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f > 0 }' "$TALLY"
