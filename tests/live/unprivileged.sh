#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An ordinary user at perf_event_paranoid=2 samples a child of his own in user space; -a fails with one message
# that says what forbids it and what would allow it.
. "$(dirname "$0")/lib.sh"
need setpriv python3
need_root
id nobody >/dev/null 2>&1 || skip "there is no user nobody"

level=$(cat /proc/sys/kernel/perf_event_paranoid)
restore+=("echo $level >/proc/sys/kernel/perf_event_paranoid")
echo 2 >/proc/sys/kernel/perf_event_paranoid || skip "perf_event_paranoid cannot be set"

# The checkout may lie where this user cannot look.
cp "$DA" "$tmp/prog"
mkdir "$tmp/home"
chown nobody "$tmp/home"
chmod 755 "$tmp" "$tmp/prog"
nobody=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --no-new-privs)
"${nobody[@]}" true 2>/dev/null || skip "setpriv cannot become nobody here"
cd "$tmp/home" || exit 1

run 0 "${nobody[@]}" "$tmp/prog" record -e cpu-clock -o own -- "$tmp/prog" workload --pattern seq --duration 1s
[ "$(stat -c %a own)" = 600 ] || fail "the file has mode $(stat -c %a own), not 600"
run 0 "${nobody[@]}" "$tmp/prog" report -i own --format=json
cp "$tmp/out" own.json
check own.json 'd["counters"]["callback"] > 0' 'd["counters"]["valid"] > 0' 'conserves(d["ledger"])' \
	'conserves(d["recorded_ledger"])'
run 0 "${nobody[@]}" "$tmp/prog" record -e page-faults:u -c 1 -o faults -- "$tmp/prog" workload --pattern touch --size 1m
run 0 "${nobody[@]}" "$tmp/prog" report -i faults --format=json
cp "$tmp/out" faults.json
check faults.json 'total("page-faults") >= 256'
# Without -e: the best that is allowed.
run 0 "${nobody[@]}" "$tmp/prog" record -o auto -- "$tmp/prog" workload --duration 500ms
run 0 "${nobody[@]}" "$tmp/prog" report -i auto

run 1 "${nobody[@]}" "$tmp/prog" record -a -e cpu-clock -o all --duration 1s
[ "$(grep -c 'damon-attrs: error:' "$tmp/err")" = 1 ] || fail "not one message"
[ "$(wc -l <"$tmp/err")" = 1 ] || fail "more than one line"
for word in perf_event_paranoid CAP_PERFMON; do
	grep -q "$word" "$tmp/err" || fail "the message does not name $word"
done
grep -qE 'sysctl|setcap|as root|sudo|own (child|process|command)|without -a' "$tmp/err" || fail "the message shows no way out"
[ ! -e all ] || [ ! -s all ] || fail "a file was left"
echo "$(cat "$tmp/err")"
