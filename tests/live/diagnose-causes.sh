#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Causes that this machine can be made to have, each provoked and named; and none named on healthy runs.
. "$(dirname "$0")/lib.sh"
need python3 setpriv
need_root
# The checkout may lie where another user cannot look.
cp "$DA" "$tmp/prog" && chmod 755 "$tmp" "$tmp/prog"
DA=$tmp/prog

# named STATUS VERDICT CAUSE DIAGNOSE-ARGUMENT...: this verdict, and this cause, with evidence and fix
named() {
	local want=$1 verdict=$2 cause=$3
	shift 3
	run "$want" "${as[@]}" "$DA" diagnose --format=json "$@"
	cp "$tmp/out" "$tmp/d.json"
	check "$tmp/d.json" "d['verdict'] == '$verdict'" \
		"any(k['id'] == '$cause' and k['evidence'] and k['fix'] for l in d['layers'] for c in l['checks'] + l['notes'] for k in c['causes'])"
	echo "$verdict, $cause: diagnose $*"
}

# What is no fault of a run: the yield of a sampler that decodes registers.
harmless='{"not_memory", "kernel_samples", "undecodable_code", "unresolved", "segment", "registers_missing", "code_missing", "outside_regions"}'
healthy() {
	run 0 "$DA" diagnose --format=json "$@"
	cp "$tmp/out" "$tmp/d.json"
	check "$tmp/d.json" 'd["summary"]["failed"] == 0' \
		"{k['id'] for l in d['layers'] for c in l['checks'] + l['notes'] for k in c['causes']} <= $harmless"
	echo "healthy: diagnose $*"
}

as=()
for e in page-faults minor-faults cpu-clock fake; do healthy -e $e; done

# rights: as somebody else, and as root without its capabilities
level=$(cat /proc/sys/kernel/perf_event_paranoid)
if [ "$level" -ge 1 ]; then
	as=(setpriv --reuid=65534 --clear-groups)
	named 11 UNUSABLE paranoid -a -e cpu-clock
	named 11 UNUSABLE capability -a -e cpu-clock
	named 11 UNUSABLE foreign_task -e cpu-clock -p 1
	as=(setpriv '--bounding-set=-perfmon,-sys_admin' --inh-caps=-all)
	named 11 UNUSABLE capability -a -e cpu-clock
fi

# a seccomp filter, as containers have it
cat >"$tmp/filter.py" <<'PY'
import ctypes, os, platform, struct, sys
nr = {"x86_64": 298, "aarch64": 241}[platform.machine()] # perf_event_open
code = [(0x20, 0, 0, 0), (0x15, 0, 1, nr), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7fff0000)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *i) for i in code))
prog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(text)))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, prog, 0, 0):
    sys.exit(99)
os.execv(sys.argv[1], sys.argv[1:])
PY
as=(python3 "$tmp/filter.py")
named 11 UNUSABLE seccomp -e page-faults

# locked memory: an ordinary user's large rings
as=(setpriv --reuid=65534 --clear-groups)
if [ "$level" -le 2 ]; then named 11 UNUSABLE mlock_limit -e page-faults:u -m 4096 -- true; fi
as=()

# the event, the target, the rate
[ -e /sys/bus/event_source/devices/arm_spe_0 ] || named 11 UNUSABLE no_such_event -e spe
named 11 UNUSABLE wrong_target -e cpu-clock -p 999999999
named 11 UNUSABLE rate_above_limit -e cpu-clock -F 100000000 --force

# the sampler
named 11 UNUSABLE sampler_silent -e fake/fail=silent/
named 13 UNKNOWN nothing_occurred -e alignment-faults -- true
named 13 UNKNOWN period_too_long -e page-faults -c 100000000
named 10 PLUMBING-ONLY no_registers -e cpu-clock --no-regs
named 10 PLUMBING-ONLY event_without_address -e fake/fail=noaddr/
if [ "$(nproc)" -gt 1 ]; then named 0 'FULLY INTEGRATED' silent_cpus -e fake/fail=cpu1/ -C 0,1; fi

# create, bind, enable
named 11 UNUSABLE no_such_event -e fake/fail=create/
named 11 UNUSABLE mlock_limit -e fake/fail=bind/
named 11 UNUSABLE enable_refused -e fake/fail=enable/

# the buffers: the same load, told apart by what each buffer saw
named 0 'FULLY INTEGRATED' report_buffer_small -e fake/rate=1m/ --buffer slots=64
if [ "$(nproc)" -gt 1 ]; then named 0 'FULLY INTEGRATED' fan_in -e fake/rate=1m/ --buffer slots=64 --drain=single; fi
named 0 'FULLY INTEGRATED' kernel_ring_small -e page-faults -c 1 -m 1
run 14 "$DA" diagnose -e fake/rate=1m/ --buffer slots=64 --max-drop=1
named 12 'BROKEN AT match' outside_regions -e fake/fail=miss/

# throttled: with a lowered sysctl, which is put back
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
restore+=("echo $rate >/proc/sys/kernel/perf_event_max_sample_rate")
if echo 1000 >/proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null; then
	named 0 'FULLY INTEGRATED' throttled -e cpu-clock -c 250000
fi
