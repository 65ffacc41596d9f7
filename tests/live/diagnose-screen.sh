#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# One terminal screen of 80 x 24 shows the verdict first, then the check that made it so, its cause and the command
# that mends it; no line of the whole output is wider than the screen.
. "$(dirname "$0")/lib.sh"
need python3
need_root
python3 -c 'import pty; pty.openpty()' 2>/dev/null || skip "no terminal can be had (is devpts mounted?)"

# screen VERDICT CHECK CAUSE DIAGNOSE-ARGUMENT...
screen() {
	local verdict=$1 check=$2 cause=$3
	shift 3
	python3 - "$verdict" "$check" "$cause" "$DA" diagnose "$@" <<'PY' || fail "diagnose $*: see above"
import fcntl, os, pty, re, struct, sys, termios, unicodedata

verdict, check, cause = sys.argv[1:4]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.environ.update(PAGER="cat", TERM="xterm")
    os.execv(sys.argv[4], sys.argv[4:])
text = b""
while True:
    try:
        got = os.read(fd, 65536)
    except OSError: # the end of a pty
        break
    if not got:
        break
    text += got
os.waitpid(pid, 0)
text = re.sub(r"\x1b\[[0-9;]*m", "", text.decode())
# what a progress line on stderr left has been overwritten
lines = [l.rstrip("\r").split("\r")[-1] for l in text.split("\n")]
while lines and not lines[0].startswith("VERDICT"):
    lines.pop(0)
print("\n".join(lines[:24]))
first = [l.strip() for l in lines[:24]]
wanted = (
    ("the verdict", any(l.startswith("VERDICT: " + verdict) for l in first[:1])),
    ("the check", any(re.match(r"\[(FAIL|NOTE|UNKNOWN)\] " + check, l) for l in first)),
    ("the cause", any(l.startswith("cause %s:" % cause) for l in first)),
    ("the remedy", any(l.startswith("fix ") and len(l) > 10 for l in first)),
    ("the rest", any(l.startswith("SUMMARY: ") for l in lines)),
)
bad = [what for what, there in wanted if not there]
wide = [l for l in lines if sum(0 if unicodedata.combining(c) else 1 for c in l) > 80]
if bad or wide:
    sys.exit("not there: %s; too wide: %s" % (bad, wide))
PY
}

screen UNUSABLE 'Samples arrive' sampler_silent -e fake/fail=silent/ -- true
screen PLUMBING-ONLY 'valid 0 of' no_registers -e cpu-clock --no-regs
screen 'BROKEN AT match' 'Reports fall into' outside_regions -e fake/fail=miss/
screen UNUSABLE 'Target is there: target: process 999999999; 0 opens tried' wrong_target -e page-faults -p 999999999
screen UNKNOWN 'Samples arrive' nothing_occurred -e alignment-faults -- true
screen UNUSABLE 'PMU and event exist' no_such_event -e fake/fail=create/
run 0 "$DA" record -q -o "$tmp/f.data" -e fake/fail=miss/ -- sleep 0.2
screen 'BROKEN AT match' 'Reports fall into' outside_regions -i "$tmp/f.data"
