# SPDX-License-Identifier: BSD-2-Clause
"""nvtx FOLDER TALLY N: the rows of regions.out are the ranges of tests/workloads/nvtx.c, or nvtx_python.py, with begins and
ends within its clock, more than N. Ranges that are started have a lane, in which no other one of the process is at the
same time.
"""
import collections
import sys

import tracefolder

STARTED = {"started", "w\u00eede", "attributes", "sent", "before\\040the\\040fork", "started\\040in\\040a\\040storm", "many"}


def main():
    trace = tracefolder.Trace(sys.argv[1], may_lose=("regions",))
    lost, missing = trace.skipped("regions"), 0
    rows, lanes = collections.defaultdict(list), collections.defaultdict(list)
    for row in trace["regions"]:
        rows[row["PID"], row["TID"], row["CAT"], row["NAME"], row["ARGS"]].append(row)
        trace.require(row["SOURCE"] == "nvtx" and row["RET"] == "0", f"source, RET: {row}")
        trace.require((row["LANE"] != "-") == (row["NAME"] in STARTED), f"lane: {row}")
        if row["LANE"] != "-":
            lanes[row["PID"], row["LANE"]].append((row.n("TIMESTAMP") - row.n("LAT_NS"), row.n("TIMESTAMP")))
    with open(sys.argv[2], encoding="utf-8") as f:
        made = [line.rstrip("\n").split("\t") for line in f]
    trace.require(len(made) > int(sys.argv[3]), f"the tally has {len(made)} lines")
    for pid, tid, cat, name, *clocks, args in made:
        start0, start1, end0, end1 = (int(c) for c in clocks)
        found = rows[pid, tid, cat, name, args]
        if not found:
            missing += 1
            trace.require(missing <= lost, f"no row of {cat}, {name}, {args} of {pid}, {tid}")
            continue
        row = found.pop(0)
        end = row.n("TIMESTAMP")
        start = end - row.n("LAT_NS")
        trace.require(lost or (start0 <= start <= start1 and end0 <= end <= end1), f"not within {clocks}: {row}")
    extra = [row for left in rows.values() for row in left]
    trace.require(not extra, f"{len(extra)} rows of no range, such as {extra[:1]}")
    for (pid, lane), spans in lanes.items():
        spans.sort()
        trace.require(all(a[1] <= b[0] for a, b in zip(spans, spans[1:])), f"two ranges at once in lane {lane} of {pid}")
    trace.finish()


main()
