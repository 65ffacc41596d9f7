#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf record and damon-attrs record side by side: the same workload, event, rate and sampled registers, one
# after the other in each of RUNS rounds (3), medians. Shown for each tool: how much slower the workload ran
# than bare, lost records (LOST of the events as the tool's own file tells it), and the CPU time of the tool
# itself, its children not counted. damon-attrs decodes, matches and counts while it records; perf only
# writes. Read the ratios, not the times: they move by 10-20 % from run to run.
set -u
: "${DA:?the program to measure: run this through make bench}"
runs=${RUNS:-3}
command -v perf >/dev/null || { echo "perf is not installed: nothing to compare with"; exit 0; }
[ "$(id -u)" = 0 ] || { echo "record: needs root"; exit 0; }
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bench.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

cpus=0
[ "$(nproc)" -lt 2 ] || cpus=0,1

# measure NAME TOOL COMMAND...: the command runs $tmp/work somewhere below; a line "NAME TOOL workload-ns
# tool-cpu-s file-samples file-lost" is added to $tmp/results.
cat >"$tmp/work" <<'SH'
#!/bin/bash
TIMEFORMAT='%U %S'
{ time "$WORK_DA" workload $WORK_ARGS --format json >"$WORK_TMP/truth.json"; } 2>"$WORK_TMP/inner"
SH
chmod +x "$tmp/work"
export WORK_DA=$DA WORK_TMP=$tmp

measure() {
	local name=$1 tool=$2 TIMEFORMAT='%U %S'
	shift 2
	rm -f "$tmp/file" "$tmp/file.json"
	{ time "$@" >"$tmp/tool.out" 2>"$tmp/tool.err"; } 2>"$tmp/outer" ||
		{ echo "failed: $*"; cat "$tmp/tool.err"; exit 1; }
	if [ "$tool" != bare ]; then
		"$DA" report -i "$tmp/file" --format=json >"$tmp/file.json" || { echo "cannot read the file of: $*"; exit 1; }
	fi
	python3 - "$tmp" "$name" "$tool" <<'PY' || exit 1
import json, os, sys
tmp, name, tool = sys.argv[1:]
def load(f):
    with open(os.path.join(tmp, f)) as fd:
        return fd.read()
truth = json.loads(load("truth.json"))
cpu = sum(map(float, load("outer").split())) - sum(map(float, load("inner").split()[-2:]))
samples = lost = 0
if tool != "bare":
    d = json.loads(load("file.json"))
    samples = d["counters"]["callback"]
    # perf says at the end how many samples each event lost; ours reads the same counters.
    lost = d["lost"]["counter"] if d["lost"]["counter"] is not None else d["lost"]["samples"]
with open(os.path.join(tmp, "results"), "a") as out:
    print(json.dumps([name, tool, truth["duration_ns"], cpu, samples, lost]), file=out)
PY
}

compare() { # NAME WORKLOAD-ARGS PERF-OPTIONS OUR-OPTIONS
	local name=$1 i tool tools=(bare perf damon-attrs)
	export WORK_ARGS=$2
	for ((i = 0; i < runs; i++)); do
		# Each tool is first once in three rounds, so that what else the machine does meets all alike.
		for tool in 0 1 2; do
			tool=${tools[(tool + i) % 3]}
			# shellcheck disable=SC2086
			case $tool in
			bare) measure "$name" bare "$tmp/work" ;;
			perf) measure "$name" perf perf record -q -o "$tmp/file" $3 -- "$tmp/work" ;;
			*) measure "$name" "$tool" "$DA" record -q -o "$tmp/file" $4 -- "$tmp/work" ;;
			esac
		done
	done
}

random="--pattern random --size 64m --ops 60m --threads $(tr ',' '\n' <<<$cpus | wc -l) --cpus $cpus"
touch="--pattern touch --size 64m --repeat 12 --threads $(tr ',' '\n' <<<$cpus | wc -l) --cpus $cpus"
for period in 1000000 250000 100000; do
	compare "cpu-clock -c $period, registers" "$random" "-e cpu-clock:u -c $period --intr-regs -d -B" \
		"-e cpu-clock:u -c $period"
done
compare "page-faults -c 1" "$touch" "-e page-faults -c 1 -d -B" "-e page-faults -c 1"
compare "page-faults -c 1, registers" "$touch" "-e page-faults -c 1 --intr-regs -d -B" "-e page-faults -c 1 --regs"
compare "page-faults -c 1, rings of 32 pages" "$touch" "-e page-faults -c 1 -d -B -m 32" "-e page-faults -c 1 -m 32"

python3 - "$tmp/results" <<'PY'
import json, statistics, sys
rows = {}
for line in open(sys.argv[1]):
    name, tool, *values = json.loads(line)
    rows.setdefault(name, {}).setdefault(tool, []).append(values)
def med(name, tool, i):
    v = [r[i] for r in rows[name][tool] if r[i] is not None]
    return statistics.median(v) if v else None
def num(x, form):
    return "-" if x is None else form % x
print("%-36s %-12s %9s %9s %10s %12s %10s" % ("event", "tool", "samples", "lost", "slowdown", "tool CPU s", "us/sample"))
for name in rows:
    bare = med(name, "bare", 0)
    seen = {}
    for tool in ("perf", "damon-attrs"):
        samples, lost, cpu = med(name, tool, 2), med(name, tool, 3), med(name, tool, 1)
        slow = med(name, tool, 0) / bare
        seen[tool] = slow, cpu
        print("%-36s %-12s %9d %9s %9.2fx %12.3f %10.2f" %
              (name if tool == "perf" else "", tool, samples, num(lost, "%d"), slow, cpu, cpu * 1e6 / samples if samples else 0))
    p, d = seen["perf"], seen["damon-attrs"]
    print("%-36s %-12s %9s %9s %9.2fx %11.2fx" % ("", "ratio", "", "", d[0] / p[0], d[1] / p[1] if p[1] > 0 else 0))
PY
