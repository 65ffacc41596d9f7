#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The table of causes and tests in doc/stages.md: every cause that the judge can name (src/verdict*.c) has a row, and
# every test of a row holds the cause's name. What the tests do with it is their own business.
. "$(dirname "$0")/lib.sh"
need python3
: "${DA_SRC:?run this through tests/run-tests.sh live}"

python3 - "$DA_SRC" <<'PY' || fail "see above"
import glob, os, re, sys
src = sys.argv[1]

def text(path):
    with open(os.path.join(src, path), encoding="utf-8") as f:
        return f.read()

known = set()
for path in glob.glob(os.path.join(src, "src", "verdict*.c")):
    code = text(path)
    for call in re.findall(r"\bvd_cause\(c,([^;]*)\);", code):
        known |= set(re.findall(r'"(\w+)"', call))
    # of samples without an address: a table of drops
    known |= set(re.findall(r'\{DA_DROP_\w+, "(\w+)"', code))
bad = set()
doc = text("doc/stages.md").split("## Causes and the tests that provoke them")[1].split("\n## ")[0]
rows = re.findall(r"^\| (\w+) \| (.*) \| (\S.*) \|$", doc, re.M)[1:]
for cause, how, tests in rows:
    for t in tests.split(", "):
        kind, name = t.split("/")
        path = {"unit": "tests/%s.c", "live": "tests/live/%s.sh", "guest": "tests/guest/%s.in"}[kind] % name
        if not os.path.exists(os.path.join(src, path)):
            bad.add("%s: there is no %s" % (cause, path))
        elif not re.search(r"\b%s\b" % cause, text(path)):
            bad.add("%s is not in %s" % (cause, path))
listed = [r[0] for r in rows]
bad |= {"%s has no row" % c for c in known - set(listed)} | {"no check names %s" % c for c in set(listed) - known}
bad |= {"%s has two rows" % c for c in listed if listed.count(c) > 1}
print("\n".join(sorted(bad)) or "%d causes, each with a test" % len(listed))
sys.exit(bool(bad) or len(known) < 50)
PY
