# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the live tests: how they skip, fail, run our program and look into its JSON. No test by itself.
# shellcheck shell=bash
set -u
: "${DA:?the program to test: run this through tests/run-tests.sh live}"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/live.XXXXXX") || exit 1
started=() # processes that must not outlive the test
restore=() # commands that put sysctls back

cleanup() {
	local p c
	for p in "${started[@]}"; do kill -9 "$p" 2>/dev/null; done
	for c in "${restore[@]}"; do eval "$c"; done
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

# Where python3 is a shim that looks for the real one, it would do so a hundred times.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
[ -z "$python" ] || python3() { "$python" "$@"; }

skip() { echo "$*"; exit 77; }
fail() {
	echo "FAIL: $*"
	[ ! -s "$tmp/err" ] || { echo "--- stderr of the last command"; tail -n 20 "$tmp/err"; }
	exit 1
}
need() {
	local c
	for c; do command -v "$c" >/dev/null || skip "$c is not installed"; done
}
need_root() { [ "$(id -u)" = 0 ] || skip "needs root"; }
# May we sample the kernel (or only our own user space)?
need_sampling() {
	local level
	level=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null) || skip "no perf_event_open here"
	[ "$(id -u)" != 0 ] || return 0
	case $1 in
	kernel) [ "$level" -le 1 ] || skip "perf_event_paranoid is $level: no kernel samples for this user" ;;
	user) [ "$level" -le 2 ] || skip "perf_event_paranoid is $level: no samples for this user" ;;
	esac
}

# run STATUS COMMAND...: the command must end with this status; its output goes to $tmp/out and $tmp/err.
run() {
	local want=$1 got
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	got=$?
	[ "$got" = "$want" ] || fail "exit status $got, not $want: $*"
	if grep -qE 'Sanitizer|runtime error' "$tmp/err"; then fail "sanitizer report: $*"; fi
}

# start COMMAND...: in the background with signals as in a terminal; its pid is in $pid.
start() {
	env --default-signal=INT,TERM,HUP "$@" &
	pid=$!
	started+=("$pid")
}

# finish STATUS PID: waits for what start began
finish() {
	local got
	wait "$2"
	got=$?
	[ "$got" = "$1" ] || fail "exit status $got, not $1, of process $2"
}

# wait_for SECONDS COMMAND...: until the command succeeds
wait_for() {
	local tenths=$(($1 * 10))
	shift
	until "$@"; do
		[ $((tenths--)) -gt 0 ] || return 1
		sleep 0.1
	done
}

# check JSON EXPRESSION...: each Python expression about the document d must be true. Also known to it:
# total(event), samples of an event; inside(event, start, end), samples of its regions within a range;
# conserves(ledger); ev, events by name.
check() {
	local doc=$1
	shift
	python3 - "$doc" "$@" <<'PY' || fail "see above: $doc"
import json, sys

with open(sys.argv[1]) as f:
    d = json.load(f)

# Without the event that only carries the sideband.
ev = {e["name"]: e for e in d.get("events") or [] if e["name"].split(":")[0] != "dummy"}
virtual = [s for s in d.get("spaces") or [] if s["kind"] == "virtual"]

def named(name):
    found = [e for n, e in ev.items() if n == name or n.split(":")[0] == name]
    assert len(found) == 1, "event %s in %s" % (name, list(ev))
    return found[0]

def total(name):
    return named(name)["samples"]

def inside(name, start, end):
    n = 0
    for s in virtual:
        for r in s["regions"]:
            if int(r["start"], 16) >= start and int(r["end"], 16) <= end:
                n += sum(b["samples"] for b in r["by_event"] if b["event"] in (named(name)["id"], named(name)["name"]))
    return n

def conserves(ledger):
    for stage, l in (ledger or {}).items():
        if isinstance(l, dict) and l["in"] != l["out"] + sum(v or 0 for v in l["drops"].values()):
            print("layer %s does not conserve: %s" % (stage, l))
            return False
    return True

bad = 0
for e in sys.argv[2:]:
    try:
        ok = eval(e)
    except Exception as x:
        ok, e = False, "%s: %r" % (e, x)
    if not ok:
        print("not true: " + e)
        bad = 1
if bad:
    print("counters:", d.get("counters"), "lost:", d.get("lost"), "events:", d.get("events"), "input:", d.get("input"))
sys.exit(bad)
PY
}

# value JSON EXPRESSION: prints a Python expression about the document d
value() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

# report_of FILE: its JSON goes to FILE.json
report_of() {
	run "${2:-0}" "$DA" report -i "$1" --format=json
	cp "$tmp/out" "$1.json"
	python3 -m json.tool "$1.json" >/dev/null || fail "report --format=json of $1 is no JSON"
}

workload() { "$DA" workload "$@"; }
