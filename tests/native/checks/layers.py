# SPDX-License-Identifier: BSD-2-Clause
"""layers.py TRACE JSON: the report's layers of the job of layers.sh are those of the rows of regions.out and of the calls."""
import json
import sys

import tracefolder

FILES = ("blk", "dir", "memfd", "reg", "shm")  # types of files that hold data
CALLS = ("close", "create_del", "mmap", "open", "sync", "vfs_rw")
PARENTS = {"epoch": None, "compute": "epoch", "fetch": "epoch", "reader": "fetch", "reader calls": "reader", "checkpoint": "epoch",
           "checkpoint calls": "checkpoint", "calls": None}
OF = {("pipeline", "epoch"): "epoch", ("compute", "step"): "compute", ("dataloader", "fetch"): "fetch", ("reader", "read"): "reader",
      ("checkpoint", "save"): "checkpoint"}
t = tracefolder.Trace(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as f:
    report = {row["layer"]: row for row in json.load(f)["layers"]}


def span(row):
    return row.n("TIMESTAMP") - row.n("LAT_NS"), row.n("TIMESTAMP")


def union(spans):
    found = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([begin, end])
    return found


def both(a, b):
    return sum(max(min(x[1], y[1]) - max(x[0], y[0]), 0) for x in union(a) for y in union(b))


def near(got, want, what):
    t.require(want - 1e-4 <= got <= want + 1e-4, f"{what}: {got}, not {want}")


rows = {name: [] for name in PARENTS}  # (begin, end), PID, bytes
regions = [(OF.get((row["CAT"], row["NAME"])), row) for row in t["regions"]]
for name, row in regions:
    if name:
        rows[name].append((span(row), row["PID"], None))
for probe, row in t.calls():
    if probe not in CALLS or row["FUNC"] in ("snapshot", "create"):
        continue
    if row["FID"] not in "-?" and t.file(row["FID"])["TYPE"] not in FILES:  # a call without one failed, mostly to open a file
        continue
    begin, end = span(row)
    of = {"calls"} | {f"{name} calls" for name, region in regions if name in ("reader", "checkpoint") and region["TID"] == row["TID"]
                      and span(region)[0] <= begin and end <= span(region)[1]}
    for name in of:
        rows[name].append(((begin, end), row["PID"], max(row.ret or 0, 0) if probe == "vfs_rw" else None))
t.require(set(report) == set(PARENTS), f"layers: {sorted(report)}")
for name in set(report) & set(PARENTS):
    got, spans = report[name], [span for span, _, _ in rows[name]]
    moved = [n for _, _, n in rows[name] if n is not None]
    covered = sum(end - begin for begin, end in union(spans))
    want = {"count": len(spans), "processes": len({pid for _, pid, _ in rows[name]}), "covered_ns": covered, "parent": PARENTS[name],
            "total_ns": sum(end - begin for begin, end in spans), "bytes": sum(moved) if moved else None}
    t.require({key: got[key] for key in want} == want, f"{name}: {got}, not {want}")
    if PARENTS[name]:
        near(got["in_parent_share"], both(spans, [span for span, _, _ in rows[PARENTS[name]]]) / covered, f"{name} in its parent")
    if name != "compute":
        near(got["with_compute_share"], both(spans, [span for span, _, _ in rows["compute"]]) / covered, f"{name} with compute")
t.require(len(rows["reader"]) == 20 and len(rows["reader calls"]) >= 20 * 6 and len(rows["checkpoint calls"]) >= 2 * 4, "the job did something else")
t.finish()
