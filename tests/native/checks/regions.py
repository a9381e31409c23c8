# SPDX-License-Identifier: BSD-2-Clause
"""regions FOLDER TALLY: the rows of regions.out are the regions of tests/workloads/regions.c, with begins and ends within
its clock.
"""
import collections
import sys

import tracefolder


def category(name):
    name = name.removeprefix("ai.")
    return tuple(name.split(".", 1)) if "." in name else ("app", name)


def main():
    trace = tracefolder.Trace(sys.argv[1], may_lose=("regions",))
    lost, missing = trace.skipped("regions"), 0

    def all_but_lost(n, of, what):
        trace.require(of - lost <= n <= of, f"{n} of {of} {what}, {lost} are lost")

    rows = collections.defaultdict(list)
    for row in trace["regions"]:
        rows[row["CAT"], row["NAME"]].append(row)
    with open(sys.argv[2], encoding="utf-8") as f:
        made = [line.split() for line in f]
    trace.require(len(made) > 600, f"the tally has {len(made)} lines")
    by_key = {}
    for key in {category(m[2]) for m in made}:
        for row in rows.pop(key, []):
            by_key.setdefault((key, row["PID"], row["TID"], row["STEP"], row["ARGS"]), []).append(row)
    for pid, tid, name, step, *clocks, arg in made:
        start0, start1, end0, end1 = (int(c) for c in clocks)
        found = by_key.get((category(name), pid, tid, "-" if step == "-1" else step, arg), [])
        if not found:
            missing += 1
            trace.require(missing <= lost, f"no row of {name}, step {step}, {arg} of {pid}")
            continue
        row = found.pop(0)
        end = row.n("TIMESTAMP")
        start = end - row.n("LAT_NS")
        trace.require(start0 <= start <= start1, f"begun at {start}, not within {start0} and {start1}: {row}")
        if end1 and not (lost and row["RET"] == "?"):
            trace.require(end0 <= end <= end1 and row["RET"] == "0", f"ended at {end}, not within {end0} and {end1}: {row}")
        else:
            trace.require(row["RET"] == "?" and end >= start1, f"killed in it: {row}")
    extra = [row for left in by_key.values() for row in left]
    trace.require(not extra, f"{len(extra)} rows of no region, such as {extra[:1]}")

    marks = rows.pop(("mark", "in.a.handler"), [])
    all_but_lost(len(marks), 3, "marks of a handler")
    trace.require(all(m["LAT_NS"] == "0" for m in marks), f"marks that last: {marks}")
    meta = rows.pop(("meta", "batch_size"), [])
    all_but_lost(len(meta), 1, "batch_size")
    trace.require(all(row["ARGS"] == "32" for row in meta), f"batch_size: {meta}")
    epochs = rows.pop(("pipeline", "epoch"), [])
    all_but_lost(len(epochs), 1, "live regions that ended")
    trace.require(lost or epochs[0]["RET"] == "0", f"a live region that ended: {epochs}")
    hostile = [row for some in rows.values() for row in some]
    running = [row for row in hostile if row["RET"] == "?"]
    all_but_lost(len(running), 4096, "that are remembered")
    all_but_lost(len(hostile) - len(running), 5, f"rows of hostile messages: {sorted(rows)}")
    trace.require(lost or ("hostile", "name") in rows and ("app", "host") in rows, f"names: {sorted(rows)}")
    trace.finish()


main()
