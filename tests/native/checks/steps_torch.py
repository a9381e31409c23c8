# SPDX-License-Identifier: BSD-2-Clause
"""steps_torch FOLDER REPORT ACCOUNT WORKERS: are the report's steps, waits and overlap of tests/workloads/steps_torch.py
right?

They are compared with that job's own clock, and with sets of nanoseconds that are made here from regions.out and the rows
of calls.
"""
import json
import pathlib
import sys

import tracefolder

PARTS = ("fetch_ns", "compute_ns", "checkpoint_ns", "comm_ns", "other_ns")
CALLS = ("close", "create_del", "open", "sync", "vfs_rw")


def union(spans):
    """Returns sorted spans that do not overlap."""
    out = []
    for begin, end in sorted(spans):
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def within(spans, begin, end):
    return union((max(b, begin), min(e, end)) for b, e in spans if b < end and e > begin)


def length(spans):
    return sum(e - b for b, e in spans)


def both(one, other):
    """Returns the length of the overlap: that is how much the two lengths exceed the union's."""
    return length(one) + length(other) - length(union([*one, *other]))


def main():
    trace = tracefolder.Trace(sys.argv[1])
    report, account = (json.loads(pathlib.Path(name).read_text()) for name in sys.argv[2:4])
    workers = int(sys.argv[4])
    rows = [row for row in trace["regions"] if row["CAT"] in ("checkpoint", "compute", "dataloader", "data")]
    steps = [row for row in rows if (row["CAT"], row["NAME"]) == ("compute", "step")]
    pid = steps[0].n("PID")

    def regions(*categories):
        return [(row.n("TIMESTAMP") - row.n("LAT_NS"), row.n("TIMESTAMP")) for row in rows
                if row["CAT"] in categories and row.n("PID") == pid]

    mine = regions("checkpoint", "compute", "dataloader", "data")
    sums = report["steps"]
    trace.require([s["epoch"] for s in sums] == [0, 1, 2] and {s["pid"] for s in sums} == {pid}, f"steps: {sums}")
    trace.require(sum(s["steps"] for s in sums) == account["steps"] == len(steps), f"steps: {sums}, not {account['steps']}")
    for s in sums:
        trace.require(s["wall_ns"] == sum(s[part] for part in PARTS), f"parts of {s}")
    trace.require([s["samples"] for s in sums] == account["samples"], f"samples {sums}, not {account['samples']}")
    trace.require(all(abs(s["samples_per_s"] * s["wall_ns"] / 1e9 - s["samples"]) < 0.01 for s in sums), f"rates of {sums}")
    wall = sum(s["wall_ns"] for s in sums)
    trace.require(account["inner"] <= wall <= account["outer"], f"steps take {wall} ns, the job from {account['inner']} to {account['outer']}")
    trace.require(wall == max(e for _, e in mine) - min(b for b, _ in mine), f"steps take {wall} ns, which are not all")

    for f in [report["bottleneck"], *report["rules"], *report["facts"]]:
        trace.require(all(f[key] is None or 0 <= f[key] <= 1 for key in ("share", "size_share")), f"more than all of the time: {f}")

    fetched = union(regions("dataloader", "data"))
    waited = report["waited"]
    trace.require((waited["by"], waited["seen_by"]) == ("regions", "regions"), f"by {waited['by']}, {waited['seen_by']}")
    trainer = waited["trainers"][0]
    trace.require(trainer["pid"] == pid and trainer["waited_ns"] == length(fetched) == sum(s["fetch_ns"] for s in sums),
                  f"{trainer}: its fetches are {length(fetched)} ns")
    trace.require(length(fetched) <= account["fetches"], f"fetches of {length(fetched)} ns, by the job's clock {account['fetches']}")
    trace.require((trainer["loaders"] > 0) == (workers > 0), f"{trainer['loaders']} loaders")

    job = {row.n("PID") for row in rows}
    files = {row["FID"]: row["TYPE"] for row in trace["files"]}

    def does_io(name, row):
        """Calls that make, size, use or remove shared memory wait for no disk."""
        kind = files.get(row["FID"], "reg")
        if kind in ("shm", "memfd"):
            return name == "open" and row["FLAGS"].startswith("RDONLY")
        return name == "open" or kind in ("reg", "dir", "blk")

    calls = union((row.n("TIMESTAMP") - row.n("LAT_NS"), row.n("TIMESTAMP")) for name in CALLS for row in trace[name]
                  if row.n("PID") in job and does_io(name, row))
    faulted = [row.n("TIMESTAMP") for row in trace["fault"] if row.n("PID") in job]  # some have no time
    computed = union(regions("compute", "device"))
    ends = [max(row.n("TIMESTAMP") for row in steps if row["EPOCH"] == str(epoch)) for epoch in range(3)]
    begins, ends[-1] = [min(b for b, _ in mine), *ends[:-1]], max(e for _, e in mine)
    for o, begin, end in zip(report["overlap"], begins, ends):
        io, compute = within(calls, begin, end), within(computed, begin, end)
        faults = any(begin < at < end + 10**9 for at in faulted)  # they may end after it
        trace.require(o["wall_ns"] == end - begin and o["compute_ns"] == length(compute), f"{o}: computing {length(compute)} ns")
        trace.require(o["io_ns"] == length(io) > 0 or (faults and o["io_ns"] > length(io)), f"{o}: I/O of {length(io)} ns")
        trace.require(o["compute_io_ns"] == both(io, compute) or faults, f"{o}: both for {both(io, compute)} ns")
        trace.require(o["compute_io_ns"] + o["compute_alone_ns"] == o["compute_ns"] and
                      o["compute_io_ns"] + o["io_alone_ns"] == o["io_ns"] and
                      o["compute_io_ns"] + o["compute_alone_ns"] + o["io_alone_ns"] + o["neither_ns"] == o["wall_ns"], f"sums of {o}")
    trace.require(len(report["overlap"]) == 3, f"overlap: {report['overlap']}")
    trace.finish()


main()
