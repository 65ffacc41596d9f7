#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 200
# Recordings made here, cut at places all over them: the command never crashes or hangs; status 1 before an attr can
# be read, else 5 with what precedes the cut, and 0 only for a pipe that ends between two records. Every 64th byte of
# made files: unit/test_cuts.
. "$(dirname "$0")/lib.sh"
need python3

# cuts FILE: each cut through the command, from the end to the beginning
cuts() {
	python3 - "$DA" "$1" <<'PY' || fail "see above"
import json, os, struct, subprocess, sys
da, path = sys.argv[1:]
data = open(path, "rb").read()
pipe = struct.unpack_from("<Q", data, 8)[0] == 16
ends = set()
if pipe:
    at = 16
    while at < len(data):
        ends.add(at)
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == 64 and not any(e < 0 for e in ends):
            readable = at + size
            ends.add(-1)
        at += size
else:
    asize, attrs = struct.unpack_from("<2Q", data, 16)
    readable = attrs + asize
def report(cut):
    os.truncate(path, cut)
    p = subprocess.run([da, "report", "-q", "-i", path, "--format=json"], capture_output=True, timeout=60)
    if b"Sanitizer" in p.stderr or b"runtime error" in p.stderr:
        sys.exit("cut at %d: %s" % (cut, p.stderr.decode(errors="replace")))
    return p.returncode, json.loads(p.stdout)["input"]["sample_records"] if p.stdout else 0
status, last = report(len(data))
whole = last
if status or whole < 10:
    sys.exit("whole: status %d, %d samples" % (status, whole))
step = max(len(data) // 24, 1)
places = {c // 64 * 64 for c in range(0, len(data), step)} | {0, 8, 64, readable - 8, readable, len(data) - 1}
some = 0
for cut in sorted(places, reverse=True):
    status, n = report(cut)
    want = {1} if cut < readable else {5, 0} if pipe and cut in ends else {5}
    if status not in want or n > last or (status == 1 and n):
        sys.exit("cut at %d of %d: status %d, %d samples, %d at the next cut" % (cut, len(data), status, n, last))
    some += 0 < n < whole
    last = n
if some < 8:
    sys.exit("only %d cuts left some of the samples" % some)
print("%s: %d samples, %d cuts" % (os.path.basename(path), whole, len(places)))
PY
}

prog=("$DA" workload --pattern stairs --duration 0.2s --size 4m)
run 0 "$DA" record -q -e fake -c 5000 -o "$tmp/fake.data" -- "${prog[@]}"
cuts "$tmp/fake.data"
"$DA" record -q -e fake -c 5000 -o - -- "${prog[@]}" >"$tmp/pipe.data" 2>"$tmp/err" || fail "record into a pipe"
cuts "$tmp/pipe.data"
need_sampling user
run 0 "$DA" record -q -e cpu-clock:u,page-faults:u -o "$tmp/clock.data" -- "${prog[@]}"
cuts "$tmp/clock.data"
