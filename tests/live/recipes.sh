#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The recipes of doc/ci.md do what they say, and the kselftest wrapper's exit statuses are those of a kernel
# selftest.
. "$(dirname "$0")/lib.sh"
need python3 setpriv
need_root
mkdir "$tmp/bin" && ln -s "$DA" "$tmp/bin/damon-attrs" && ln -s "$DA_SRC/tests" "$tmp/tests"
cd "$tmp" || exit 1
PATH=$tmp/bin:$PATH
unset DA

python3 - "$DA_SRC/doc/ci.md" <<'END' || fail "no recipes in doc/ci.md"
import re, sys
blocks = re.findall(r"```sh\n(.*?)```", open(sys.argv[1]).read(), re.S)
for i, b in enumerate(blocks):
    open("recipe-%02d.sh" % i, "w").write(b)
sys.exit(len(blocks) < 5)
END
for r in recipe-*.sh; do
	run 0 sh -e "$r"
	echo "doc/ci.md, $r: $(grep -v '^$' "$r" | head -n 1)"
done
grep -q '^KTAP version 1' damon.tap || fail "no KTAP from the kselftest wrapper"
python3 -c 'import xml.dom.minidom as m; m.parse("diagnose.xml"); m.parse("faults.xml")' || fail "no XML"

k=$tmp/tests/kselftest.sh
run 0 "$k" --pmu software --freq 1 --sample-freq 100
run 1 "$k" --pmu software --config 0 --freq 1 --sample-freq 100 --no-regs
grep -q '^not ok .*PLUMBING-ONLY' out || grep -q '^not ok .*PLUMBING-ONLY' "$tmp/out" || fail "the verdict is no test point"
run 0 "$k" --pmu software --config 0 --freq 1 --sample-freq 100 --no-regs --require=plumbing
[ -d /sys/bus/event_source/devices/arm_spe_0 ] || run 4 "$k" --pmu arm_spe_0 --freq 0 --period 256
run 1 "$k" -e fake/fail=silent/
DA=$tmp/none run 4 "$k"
