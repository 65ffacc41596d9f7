#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What the ledger costs: report of the same recordings by this program and by one that is built the same way but
# with its counters compiled out (-DDA_NO_COUNT), in turns on one thread; CPU time as a ratio. The regions of both
# must be the same, and the second must count no sample (of match it still counts what regions are sorted by).
# SAMPLES=N sets the size (2000000), ROUNDS=N the turns (7). A difference below the spread of a line is noise.
. "${DA_SRC:?run this through make bench}/tests/bench/common.bash"
samples=${SAMPLES:-2000000}

# Both are built here: the program to measure may have been built with other flags.
build() { # NAME CPPFLAGS
	make -s -C "$DA_SRC" O="$tmp/$1" SAN= TSAN= CPPFLAGS="$2" "$tmp/$1/damon-attrs" >"$tmp/out" 2>&1 ||
		{ tail -n 20 "$tmp/out"; exit 1; }
}
build on ''
build off -DDA_NO_COUNT
generator addr
generator spe
"$tmp/gen_addr" "$tmp/addr" "$samples" >/dev/null || exit 1
"$tmp/gen_spe" "$tmp/spe" $((samples >> 14)) >/dev/null || exit 1 # MiB of records of some 64 bytes

python3 - "$tmp" "${ROUNDS:-7}" <<'PY' || exit 1
import json, os, subprocess, sys
folder, rounds = sys.argv[1], int(sys.argv[2])
on, off = (os.path.join(folder, w, "damon-attrs") for w in ("on", "off"))

def report(program, path, form):
    return subprocess.run((program, "report", "-q", "--threads", "1", "--format=" + form, "-i", path),
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout

def cpu_time(program, path):
    p = subprocess.Popen((program, "report", "-q", "--threads", "1", "-i", path, "-o", "/dev/null"),
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, use = os.wait4(p.pid, 0)
    p.returncode = 0
    if status:
        sys.exit("report of %s failed" % path)
    return use.ru_utime + use.ru_stime

for name in "addr", "spe":
    path = os.path.join(folder, name)
    counted, not_counted = (json.loads(report(p, path, "json"))["counters"] for p in (on, off))
    n = counted["callback"]
    if not n or not_counted["callback"] or not_counted["reports"]:
        sys.exit("%s: %s counted, without counters %s" % (name, counted, not_counted))
    if report(on, path, "csv") != report(off, path, "csv"):
        sys.exit("%s: without counters the regions are others" % name)
    times = [(cpu_time(on, path), cpu_time(off, path)) for _ in range(rounds)]
    with_, without = (min(t[i] for t in times) for i in (0, 1))
    spread = max(max(t[i] for t in times) / min(t[i] for t in times) for i in (0, 1))
    print("%-4s %d samples: CPU time with the ledger / without: %.3f (best of %d each; slowest / best %.2f)" %
          (name, n, with_ / without, rounds, spread))
PY
