#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# -v tells each step of a session's life, in their order, and only -v does.
. "$(dirname "$0")/lib.sh"
need_sampling user

run 0 "$DA" record -v -e page-faults,fake -c 1 -o "$tmp/v.data" -- "$DA" workload --pattern seq --duration 300ms
steps=$(grep -oE '^damon-attrs: (create|bind|enable|running|disable|drain|release):' "$tmp/err" | cut -d' ' -f2 | uniq | tr -d '\n')
[ "$steps" = create:bind:enable:running:disable:drain:release: ] || fail "steps: $steps"
[ "$(grep -c '^damon-attrs: create: ' "$tmp/err")" = 2 ] || fail "a line for each event"
run 0 "$DA" record -e page-faults -c 1 -o "$tmp/v.data" -- true
if grep -qE '^damon-attrs: (create|bind|release):' "$tmp/err"; then fail "steps without -v"; fi
