# SPDX-License-Identifier: GPL-2.0-only
# Sourced by the tests that run in a guest (NAME.in), whose shell is busybox's: how they skip, fail and run our
# program. Each begins in an empty folder; all that it leaves there comes back to the host, where NAME.sh, if
# there is one, judges it. Exit status as everywhere: 0, 77 (the last line of stdout says why), else.
set -u
skip() { echo "$*"; exit 77; }
fail() {
	echo "FAIL: $*"
	[ ! -s err ] || { echo "--- stderr of the last command"; tail -n 20 err; }
	exit 1
}

# run STATUS COMMAND...: the command must end with this status; its output is in out and err
run() {
	local want=$1 got
	shift
	"$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || fail "exit status $got, not $want: $*"
}

# as_user COMMANDS: a shell without rights, in the folder mine; its output is in out and err
as_user() {
	mkdir -p /etc mine
	grep -q '^user:' /etc/passwd 2>/dev/null || echo 'user:x:1000:1000::/tmp:/busybox/sh' >>/etc/passwd
	chown 1000:1000 mine
	su user -s /busybox/sh -c "export PATH=$PATH; cd $PWD/mine && $1" >out 2>err
}

uptime_s() { sed 's/\..*//' /proc/uptime; }

# wait_for SECONDS COMMAND...: until the command succeeds
wait_for() {
	local end=$(($(uptime_s) + $1))
	shift
	until "$@"; do
		[ "$(uptime_s)" -lt $end ] || return 1
		usleep 100000
	done
}

# workload ARGUMENT...: begins our program of known truth; returns when its first touches are done. Its pid is
# in $work, what it prints in the file truth.
workload() {
	damon-attrs workload --announce "$@" >truth 2>&1 &
	work=$!
	wait_for 60 grep -q range truth || fail "the workload does not begin"
}

# single on|off: from now on qemu translates one instruction at a time. Else it takes interrupts only where a
# block begins, which is at a branch's target, and a sample's instruction is seldom one that accesses memory.
# Everything is about 20 times slower then, and one drain thread wakes up less often than one a CPU. (The command has two names, by qemu's age.)
single() { printf 'singlestep %s\none-insn-per-tb %s\n' "$1" "$1" >/dev/vport0p2; }

# sampled FILE VALID SECONDS OPTION...: records the workload into FILE, one instruction at a time, until there are
# so many valid samples or the time is over. It stands still whenever it is not so.
enough() { [ "$(sed -n 's/.* valid=\([0-9]*\).*/\1/p' progress | tail -n 1)" -ge "$1" ] 2>/dev/null; }
sampled() {
	local file=$1 valid=$2 seconds=$3 rec status
	shift 3
	: >progress
	kill -STOP "$work"
	damon-attrs record --progress --drain=single -o "$file" -p "$work" "$@" 2>progress &
	rec=$!
	wait_for 60 grep -q samples= progress || fail "record does not begin: $(cat progress)"
	single on
	kill -CONT "$work"
	wait_for "$seconds" enough "$valid" || echo "NOTE: after $seconds s: $(tail -n 1 progress)"
	kill -STOP "$work"
	single off
	kill -TERM $rec
	wait $rec
	status=$?
	cp progress err
	kill -CONT "$work"
	[ $status = 0 ] || fail "record ended with $status"
}

# The event whose addresses are decoded: with a PMU the cycles, else the clock.
event=cpu-clock
[ ! -d /sys/bus/event_source/devices/armv8_pmuv3 ] || event=cycles
[ ! -d /sys/bus/event_source/devices/armv8_pmuv3_0 ] || event=cycles
