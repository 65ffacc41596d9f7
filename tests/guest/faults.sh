#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Judges faults.in: the decoder against the kernel, as tests/live/ground-truth.sh does for this machine.
. "$(dirname "$0")/libjudge.sh"
. "$DA_SRC/tests/live/libbuild.sh"
build ground_truth.c
"$built" ./*.data || fail "the decoder does not agree with the kernel"
