#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# timeout: 120
# Twins of recordings made here, as a machine of the other byte order would have written them, one with longs of
# 32 bits: each reads the same, in every format.
. "$(dirname "$0")/lib.sh"
need python3
[ "$(python3 -c 'import sys; print(sys.byteorder)')" = little ] || skip "this machine is big-endian"
here=$(dirname "$0")

# same FILE: its twins give the same report
same() {
	local twin form
	for twin in other "other 32"; do
		# shellcheck disable=SC2086
		python3 "$here/twin.py" "$1" "$tmp/twin" ${twin#other} 2>"$tmp/err" || fail "no twin of $1"
		mkdir -p "$tmp/a" "$tmp/b"
		cp "$1" "$tmp/a/x" && cp "$tmp/twin" "$tmp/b/x" # the same name, and the time when it was written
		touch -r "$1" "$tmp/a/x" "$tmp/b/x"
		cmp -s "$tmp/a/x" "$tmp/b/x" && fail "$1: its twin is the same file"
		for form in json csv "samples -F time,cpu,pid,tid,comm,event,ip,addr,phys_addr,weight,data_src,period,op,size,how,region" text; do
			# shellcheck disable=SC2086
			(cd "$tmp/a" && "$DA" report -i x --width=80 --format=$form) >"$tmp/ours" 2>"$tmp/err" ||
				fail "report of $1"
			# shellcheck disable=SC2086
			(cd "$tmp/b" && "$DA" report -i x --width=80 --format=$form) >"$tmp/theirs" 2>"$tmp/err" ||
				fail "report of the twin of $1 ($twin)"
			cmp -s "$tmp/ours" "$tmp/theirs" ||
				fail "$1 ($twin), $form: $(diff "$tmp/ours" "$tmp/theirs" | head -n 10)"
		done
	done
	"$DA" report -i "$1" --format=json >"$tmp/json" 2>"$tmp/err"
	n=$(value "$tmp/json" 'd["input"]["sample_records"]')
	[ "$n" -gt 10 ] || fail "$1 has $n samples"
	echo "$(basename "$1"): $n samples, the report is that of its twins"
}

prog=("$DA" workload --pattern stairs --duration 0.3s --size 4m)
run 0 "$DA" record -q -e fake -c 2000 -o "$tmp/fake.data" -- "${prog[@]}"
same "$tmp/fake.data"
"$DA" record -q -e fake -c 2000 -o - -- "${prog[@]}" >"$tmp/pipe.data" 2>"$tmp/err" || fail "record into a pipe"
same "$tmp/pipe.data"
GOLDEN=$DA_SRC/tests/golden perl -e 'require "$ENV{GOLDEN}/raw.pl"; my $f = in_perf_data(spe_bytes());
	$f->comm(700, "one", 0); $f->write("$ARGV[0]")' "$tmp/spe.data" 2>"$tmp/err" || fail "making SPE"
same "$tmp/spe.data"
GOLDEN=$DA_SRC/tests/golden perl -e 'require "$ENV{GOLDEN}/inputs.pl"; physical()->write("$ARGV[0]")' "$tmp/phys.data" \
	2>"$tmp/err" || fail "making physical addresses"
same "$tmp/phys.data"
(cd "$tmp" && GOLDEN=$DA_SRC/tests/golden "$DA_SRC/tests/golden/report-tracepoints/make") 2>"$tmp/err" ||
	fail "making tracepoints"
same "$tmp/tp.data"
need_sampling user
run 0 "$DA" record -q -e page-faults:u -c 1 -o "$tmp/faults.data" -- "${prog[@]}"
same "$tmp/faults.data"
# registers, and the code they are read with
run 0 "$DA" record -q -e cpu-clock:u -o "$tmp/clock.data" -- "${prog[@]}"
same "$tmp/clock.data"
