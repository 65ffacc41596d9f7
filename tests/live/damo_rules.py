# SPDX-License-Identifier: GPL-2.0-only
# What damo requires of a record, written from the description of its reader: it opens a record strictly, and prints
# of each target the snapshots, the regions of the last one and the working set, for comparison with ours.
import json, struct, sys, zlib


def number(v):
    return int(v.replace(",", "")) if isinstance(v, str) else int(v)


def regions(s):
    for r in s["regions"]:
        got = {"start": number(r["start"]), "end": number(r["end"]), "nr_accesses": None, "age": None}
        if r.get("nr_accesses") is not None:
            n, age = r["nr_accesses"], r["age"]  # with nr_accesses age is required, and both of its keys
            age["usec"]
            got["nr_accesses"] = n["samples"] if n["samples"] is not None else n["percent"]
            got["age"] = None if age["aggr_intervals"] is None else number(age["aggr_intervals"])
        yield got


def read_json(data):
    out = []
    for rec in json.loads(data):
        snaps = []
        for s in rec["snapshots"]:
            start, end = number(s["start_time"]), number(s["end_time"])
            regs = list(regions(s))
            if len(regs) == 1 and regs[0]["start"] == regs[0]["end"] == 0:
                continue
            snaps.append((start, end, regs))
        iv = rec.get("intervals")
        if iv is not None:
            for key in "sample_us", "aggr_us", "ops_update_us", "intervals_goal":
                iv[key]
        out.append((rec["target_id"] or 0, snaps))
    return out


def read_binary(data):
    assert data[:16] == b"damon_recfmt_ver" and struct.unpack_from("<i", data, 16) == (2,)
    at, targets = 20, {}
    while len(data) - at >= 16:
        sec, nsec, nr = struct.unpack_from("<qqI", data, at)
        at += 20
        for _ in range(nr):
            ident, n = struct.unpack_from("<QI", data, at)
            at += 12
            regs = []
            for _ in range(n):
                start, end, acc = struct.unpack_from("<QQI", data, at)
                at += 20
                regs.append({"start": start, "end": end, "nr_accesses": acc, "age": None})
            targets.setdefault(ident, []).append((None, sec * 10**9 + nsec, regs))
    return list(targets.items())


def read(path):
    data = open(path, "rb").read()
    if data[:16] == b"damon_recfmt_ver":
        return read_binary(data)
    return read_json(zlib.decompress(data) if data[:1] == b"\x78" else data)


# strict of a record that we wrote: what its heat map, access and wss use
def strict(path):
    data = open(path, "rb").read()
    assert data[:2] == b"\x78\x9c", "not json_compressed as file(1) knows it"
    for rec in json.loads(zlib.decompress(data)):
        for key in "kdamond_idx", "context_idx", "scheme_idx", "intervals", "target_id", "scheme_filters", "data_source":
            rec[key]
        assert isinstance(rec["target_id"], int) and isinstance(rec["data_source"], str)
        last = 0
        most = number(rec["intervals"]["aggr_us"]) // number(rec["intervals"]["sample_us"])
        for s in rec["snapshots"]:
            assert isinstance(s["start_time"], str) and isinstance(s["end_time"], str)
            assert last <= number(s["start_time"]) < number(s["end_time"]), "times do not go on"
            last = number(s["end_time"])
            at = 0
            for r in s["regions"]:
                start, end = number(r["start"]), number(r["end"])
                assert at <= start < end, "regions are not in order"
                at = end
                assert 0 <= r["nr_accesses"]["samples"] <= most
            assert number(s["total_bytes"]) == sum(number(r["end"]) - number(r["start"]) for r in s["regions"])


def main():
    path, ours = sys.argv[1], json.load(open(sys.argv[2]))
    if len(sys.argv) > 3:
        strict(path)
    want = {}
    for ident, snaps in read(path):
        want.setdefault(ident, []).extend(snaps)
    got = {t["target_id"]: t for t in ours["damon"]}
    assert set(got) == {k for k, v in want.items() if v}, (set(got), set(want))
    for ident, snaps in want.items():
        if not snaps:
            continue
        t = got[ident]
        assert t["snapshots"] == len(snaps) and not t["incomplete"], (t["snapshots"], len(snaps))
        mine = [(int(r["start"], 16), int(r["end"], 16), r["nr_accesses"], r["age"]) for r in t["regions"]]
        theirs = [(r["start"], r["end"], r["nr_accesses"], r["age"]) for r in snaps[-1][2]]
        assert mine == theirs, "the regions of the last snapshot differ"
        wss = sorted(sum(r["end"] - r["start"] for r in s[2] if r["nr_accesses"]) for s in snaps)
        assert t["wss"]["avr"] == sum(wss) // len(wss)
        for p in t["wss"]["percentiles"]:
            assert p["bytes"] == wss[int(p["percentile"] / 100 * (len(wss) - 1))], p
            assert p["from"] is None or p["from"] <= p["bytes"] <= p["to"], p
        print("%s: target %d, %d snapshots, wss %d" % (path.split("/")[-1], ident, len(snaps), t["wss"]["avr"]))


main()
