#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# diagnose -i on every recording of other projects in DA_SHARED/fixtures, which are no part of this project:
# a verdict, or a message why not; the exit status by the table of doc/stages.md; never a signal; and verdict,
# SUMMARY, checks and exit status say the same, in text too.
. "$(dirname "$0")/lib.sh"
need python3
[ -d "${DA_SHARED:-}/fixtures" ] || skip "no ../shared/fixtures beside this checkout"

python3 - "$DA" "$DA_SHARED/fixtures" "$tmp/out" <<'PY' || fail "see above"
import collections, json, os, re, subprocess, sys

program, folder, out = sys.argv[1:]
exits = {"FULLY INTEGRATED": 0, "PLUMBING-ONLY": 10, "UNUSABLE": 11, "UNKNOWN": 13}
kinds = "passed", "failed", "skipped", "unknown"
found, bad, nr = collections.Counter(), 0, 0

def diagnose(path, *options):
    p = subprocess.run((program, "diagnose", "-i", path) + options, stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return p.returncode, p.stdout.decode(), p.stderr.decode(errors="replace")

def wrong(path, status, text, err):
    """What is not as it should be of one file"""
    if "Sanitizer" in err or "runtime error" in err:
        yield "sanitizer report"
    if status == 1:
        if text or not err.startswith("damon-attrs: error: ") or os.path.basename(path) not in err:
            yield "exit status 1 without a message that names the file"
        return
    d = json.loads(text)
    verdict, layers = d["verdict"], {l["name"]: l for l in d["layers"]}
    found[verdict] += 1
    broken = re.fullmatch("BROKEN AT (.*)", verdict)
    want = 12 if broken else exits[verdict]
    if want == 0 and status == 5 and "damaged" in " ".join(d["notes"]):
        want = 5
    if status != want or d["exit_status"] != status:
        yield "exit status %d, in the document %d, for %s" % (status, d["exit_status"], verdict)
    checks = [c for l in d["layers"] for c in l["checks"]]
    tally = {k: sum(c["result"] == r for c in checks) for k, r in zip(kinds, ("PASS", "FAIL", "SKIP", "UNKNOWN"))}
    if tally != d["summary"]:
        yield "summary %s, checks %s" % (d["summary"], tally)
    n, valid = d["counters"]["callback"], d["counters"]["valid"]
    if verdict in ("FULLY INTEGRATED", "PLUMBING-ONLY") and (tally["failed"] or not n):
        yield "%s with %d failed checks, %d samples" % (verdict, tally["failed"], n)
    if verdict == "FULLY INTEGRATED" and not valid or verdict == "PLUMBING-ONLY" and valid and len(d["events"]) == 1:
        yield "%s with %d valid samples" % (verdict, valid)
    if broken and (layers[broken[1]]["result"] != "FAIL" or not n):
        yield "%s, but its result is %s" % (verdict, layers[broken[1]]["result"])
    if verdict == "UNKNOWN" and n and not any(e["verdict"] == "UNKNOWN" for e in d["events"]):
        yield "UNKNOWN with %d samples" % n
    if not all(c["causes"] for c in checks if c["result"] == "FAIL"):
        yield "a FAIL without a cause"
    if os.path.getsize(path) > 1 << 19:
        return # twice would take long
    again, text, _ = diagnose(path)
    first, last = text.splitlines()[0], text.splitlines()[-1]
    summary = "SUMMARY: %(passed)d passed, %(failed)d failed, %(skipped)d skipped" % tally
    if tally["unknown"]:
        summary += ", %(unknown)d unknown" % tally
    if again != status or not first.startswith("VERDICT: " + verdict) or last != "%s (%s)" % (summary, verdict):
        yield "in text: %s ... %s, exit status %d" % (first, last, again)
    if verdict != "FULLY INTEGRATED" and not text.splitlines()[1].startswith("  ["):
        yield "in text: no reason below the verdict"

for name in sorted(os.listdir(folder)):
    path = os.path.join(folder, name)
    if name.endswith((".oracle.txt", ".md")) or not os.path.isfile(path):
        continue
    nr += 1
    status, text, err = diagnose(path, "--format=json")
    found["exit status %d" % status] += 1
    for w in wrong(path, status, text, err) if status in (0, 1, 5, 10, 11, 12, 13) else ["exit status %d" % status]:
        print("%s: %s" % (name, w))
        bad += 1
print("%d files: %s" % (nr, ", ".join("%s %d" % x for x in sorted(found.items()))))
sys.exit(bad > 0 or nr == 0)
PY
