# SPDX-License-Identifier: GPL-2.0-only
# Sourced by NAME.sh, which judges on the host what NAME.in left in $GUEST: first what the test itself said, then
# the tools of the live tests. No test by itself.
# shellcheck shell=bash
"$DA_SRC/tests/guest/judge" || exit
. "$DA_SRC/tests/live/lib.sh"
cd "$GUEST" || exit 1
need python3
