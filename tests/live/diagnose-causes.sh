#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 300
# Causes that this machine can be made to have, each provoked and named; and none named on healthy runs.
. "$(dirname "$0")/lib.sh"
need python3 setpriv prlimit
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

# What is no fault of a run: the yield of a sampler that decodes registers, or that has no addresses to give.
harmless='{"not_memory", "kernel_samples", "undecodable_code", "unresolved", "segment", "registers_missing", "code_missing", "outside_regions"}'
bare='{"event_without_address"}'
healthy() { # STATUS CAUSES DIAGNOSE-ARGUMENT...: nothing failed, and none but these causes is named
	local want=$1 causes=$2
	shift 2
	run "$want" "$DA" diagnose --format=json "$@"
	cp "$tmp/out" "$tmp/d.json"
	check "$tmp/d.json" 'd["summary"]["failed"] == 0' 'd["counters"]["callback"] > 0' \
		"{k['id'] for l in d['layers'] for c in l['checks'] + l['notes'] for k in c['causes']} <= $causes"
	echo "healthy: diagnose $*"
}

as=()
for e in auto page-faults minor-faults cpu-clock task-clock; do healthy 0 "$harmless" -e $e; done
for e in fake fake/phys=1/ spe/simulate,rate=20000/; do healthy 0 'set()' -e $e; done
healthy 0 'set()' -e fake/rate=2k/ --drain=single
healthy 0 "$harmless" -e page-faults -e fake
run 0 "$DA" record -q -e fake/rate=5k/ --probe w:write,weight=2 --probe c:cpus=0 -o "$tmp/f.data" -- sleep 0.5
healthy 0 'set()' -i "$tmp/f.data"
# DAMON's tracepoint has regions, not addresses, and comes from a kdamond, which may be idle
if [ -r /sys/kernel/tracing/events/exceptions/page_fault_user/id ]; then
	healthy 10 "$bare" -e exceptions:page_fault_user
fi
if [ -r /sys/kernel/tracing/events/damon/damon_aggregated/id ]; then
	"$DA" diagnose --format=json -e damon:damon_aggregated -a --duration 3s >"$tmp/d.json" 2>"$tmp/err"
	check "$tmp/d.json" 'd["summary"]["failed"] == 0' 'd["exit_status"] == (10 if d["counters"]["callback"] else 13)' \
		"{k['id'] for l in d['layers'] for c in l['checks'] + l['notes'] for k in c['causes']} <= {'event_without_address', 'nothing_occurred'}"
fi

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

# descriptors: not enough for the events, then not enough for their rings
as=(prlimit --nofile=7:7)
named 11 UNUSABLE fd_limit -e page-faults
as=(prlimit --nofile=9:9)
named 11 UNUSABLE fd_limit -e page-faults
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
named 10 PLUMBING-ONLY kernel_samples -e cpu-clock:k
named 11 UNUSABLE aux_missing -e spe/simulate/ --no-aux
named 0 'FULLY INTEGRATED' aux_small -e spe/simulate,rate=500000,collide=500/ -m 32,4
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

run 0 "$DA" record -q -e fake --probe none:tid=1,weight=2 -o "$tmp/f.data" -- sleep 0.2
named 12 'BROKEN AT match' probe_filter -i "$tmp/f.data"

# a consumer that is held still from outside: buffers with room for more than a second of reports run full
cat >"$tmp/hold.py" <<'PY'
import ctypes, os, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

def ptrace(request, tid):
    if libc.ptrace(request, tid, None, None):
        sys.exit("ptrace: %s" % os.strerror(ctypes.get_errno()))

p = subprocess.Popen(sys.argv[2:])
tasks = []
while len(tasks) < 2 + os.cpu_count() and p.poll() is None:
    time.sleep(0.02)
    tasks = sorted(int(t) for t in os.listdir("/proc/%d/task" % p.pid))
match = tasks[1] # started before the drain threads
ptrace(0x4206, match) # seize, interrupt
ptrace(0x4207, match)
os.waitpid(match, 0x40000000)
time.sleep(float(sys.argv[1]))
ptrace(17, match) # detach: it goes on
sys.exit(p.wait())
PY
as=(python3 "$tmp/hold.py" 2.5)
named 0 'FULLY INTEGRATED' slow_consumer -e fake/rate=10k/ --buffer slots=16384 --duration 4s -- sleep 5
as=()
check "$tmp/d.json" "{k['id'] for l in d['layers'] for c in l['checks'] + l['notes'] for k in c['causes']} == {'slow_consumer'}"

# code that is gone when the recording is read: of another program, ours saves it
if [ "$(uname -m)" = x86_64 ] && command -v perf >/dev/null; then
	cp "$DA" "$tmp/gone"
	run 0 perf record -q -d -e cpu-clock:u -c 250000 --intr-regs=AX,BX,CX,DX,SI,DI,BP,SP,IP,R8,R9,R10,R11,R12,R13,R14,R15 \
		-o "$tmp/perf.data" -- "$tmp/gone" workload --pattern random --duration 500ms
	run 0 "$DA" diagnose --format=json -i "$tmp/perf.data"
	rm "$tmp/gone"
	"$DA" diagnose --format=json -i "$tmp/perf.data" >"$tmp/d.json" 2>"$tmp/err"
	check "$tmp/d.json" 'd["summary"]["failed"] == 0 or d["verdict"] == "BROKEN AT match"' \
		"[k['id'] for l in d['layers'] for c in l['notes'] if c['id'] == 'sample.yield' for k in c['causes']][0] == 'code_missing'"
	echo "code_missing: diagnose -i of a program that is gone"
fi

# throttled: with a lowered sysctl, which is put back
rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
restore+=("echo $rate >/proc/sys/kernel/perf_event_max_sample_rate")
if echo 1000 >/proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null; then
	named 0 'FULLY INTEGRATED' throttled -e cpu-clock -c 250000
fi
# clamped: lowered while a run goes on
echo "$rate" >/proc/sys/kernel/perf_event_max_sample_rate
start "$DA" diagnose -e page-faults --duration 3s --format=json -o "$tmp/d.json" -- sleep 3
clamped=$pid
sleep 1
if echo 2000 >/proc/sys/kernel/perf_event_max_sample_rate 2>/dev/null; then
	finish 0 "$clamped"
	check "$tmp/d.json" "d['verdict'] == 'FULLY INTEGRATED'" \
		"any(k['id'] == 'rate_clamped' and '2000' in k['evidence'] and '$rate' in k['fix'] for l in d['layers'] for c in l['notes'] for k in c['causes'])"
	echo "FULLY INTEGRATED, rate_clamped: the sysctl was lowered while running"
fi
