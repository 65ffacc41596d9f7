# SPDX-License-Identifier: GPL-2.0-only
# overlap.py OURS KDAMOND TRUTH [RANGE]: do a kdamond's regions and our heat map point at the workload's hot range,
# and at the same one? RANGE: the number of the range that is said to be hot (0, which is).
#
# The heat of a byte is, for DAMON, the mean of nr_accesses over the snapshots of the recording's second half: one
# snapshot says little (twenty checks of a page a region), and the first ones are those of regions that have not found
# their places. For us it is the samples of its heat-map row. The hottest bytes of each, as many as the range has, are
# laid over the workload's ranges and over each other. Status 1 if they do not lie there.
import json, re, sys
from bisect import bisect_left

ours = json.load(open(sys.argv[1]))
with open(sys.argv[3]) as f:
    ranges = [(int(r["start"], 16), int(r["end"], 16)) for r in json.loads(f.readline())["ranges"]]
hot = int(sys.argv[4]) if len(sys.argv) > 4 else 0
size = ranges[hot][1] - ranges[hot][0]
lo, hi = min(a for a, b in ranges), max(b for a, b in ranges)


def clip(parts):
    """Only what the workload mapped: what lies beside it has other owners."""
    return [(max(a, lo), min(b, hi), h) for a, b, h in parts if a < hi and b > lo]


def snapshots(lines):
    """The complete ones: as many regions in address order as each says that there are."""
    now = []
    for line in lines:
        f = dict(re.findall(r"(\w+)=(\w+)", line))
        if "nr_accesses" not in f:
            continue
        start, end, n, of = (int(f[k], 0) for k in ("start", "end", "nr_accesses", "nr_regions"))
        if now and (start < now[-1][1] or of != wanted):
            now = []
        wanted = of
        now.append((start, end, n))
        if len(now) == wanted:
            yield clip(now)
            now = []


def mean(all):
    """One list of parts with the mean heat of all lists."""
    edges = sorted({x for parts in all for a, b, h in parts for x in (a, b)})
    sums = [0] * len(edges)
    for parts in all:
        for a, b, h in parts:
            for i in range(bisect_left(edges, a), bisect_left(edges, b)):
                sums[i] += h
    return [(a, b, s / len(all)) for a, b, s in zip(edges, edges[1:], sums)]


def hottest(parts):
    """The pieces with the most heat a byte, `size` bytes of them; none without heat."""
    left, taken = size, []
    for a, b, heat in sorted(parts, key=lambda p: -p[2]):
        if not heat or not left:
            break
        taken.append((a, min(b, a + left)))
        left -= min(b - a, left)
    return taken


def overlap(x, y):
    """In percent of the hot range."""
    return 100 * sum(max(0, min(b, d) - max(a, c)) for a, b in x for c, d in y) / size


def shares(parts):
    """What part of all heat each range has, in percent."""
    all = sum((b - a) * h for a, b, h in parts)
    return [100 * sum(max(0, min(b, d) - max(a, c)) * h for a, b, h in parts) / all if all else 0 for c, d in ranges]


with open(sys.argv[2]) as f:
    every = list(snapshots(f))
half = every[len(every) // 2:]
if len(half) < 5:
    sys.exit("the kdamond published %d snapshots: too few" % len(every))
heat = ours["spaces"][0]["heatmap"]
rows = clip([(int(a, 16), int(b, 16), sum(c or 0 for c in cells) / (int(b, 16) - int(a, 16)))
             for (a, b), cells in zip(heat["rows"], heat["cells"])])
found = {"the kdamond": mean(half), "ours": rows}

ok = True
taken = {}
print("hot is range %d, %d MiB; kdamond: %d snapshots, %d regions in the last one; ours: %d samples, %d rows" % (
    hot, size >> 20, len(every), len(every[-1]), ours["counters"]["match"], len(rows)))
single = sorted(overlap(hottest(s), [ranges[hot]]) for s in half)
print("one snapshot alone would cover %.0f to %.0f %% of it" % (single[0], single[-1]))
for who, parts in found.items():
    taken[who] = hottest(parts)
    cover = [overlap(taken[who], [r]) for r in ranges]
    cold = max(c for i, c in enumerate(cover) if i != hot)
    share = shares(parts)
    print("%-11s covers %3.0f %% of the hot range, of a cold one at most %.0f %%; shares of the heat: %s %%" % (
        who, cover[hot], cold, ", ".join("%.0f" % s for s in share)))
    ok = ok and cover[hot] >= 80 and cold <= 15 and share[hot] >= 2 * max(s for i, s in enumerate(share) if i != hot)
both = overlap(taken["the kdamond"], taken["ours"])
print("the kdamond and ours overlap by %.0f %%" % both)
ok = ok and both >= 75
print("they point at the hot range" if ok else "they do NOT point at the hot range")
sys.exit(not ok)
