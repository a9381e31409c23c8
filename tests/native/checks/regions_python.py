# SPDX-License-Identifier: BSD-2-Clause
"""regions_python FOLDER TALLY: the rows of regions.out are exactly the regions of tests/workloads/regions.py.

Each begins and ends within the program's own clock; those of different tasks have different lanes.
"""
import collections
import json
import sys

import tracefolder


def category(name):
    """Returns CAT and NAME of the expected row."""
    if name in ("py.instant", "batch_size"):
        return ("mark" if "." in name else "meta"), name
    name = name.removeprefix("ai.")
    return tuple(name.split(".", 1)) if "." in name else ("app", name)


def text(value):
    return "-" if value is None else str(value)


def main():
    trace = tracefolder.Trace(sys.argv[1])
    rows = collections.defaultdict(list)
    for row in trace["regions"]:
        rows[tuple(row[c] for c in ("PID", "TID", "CAT", "NAME", "EPOCH", "STEP", "BYTES", "RET", "ARGS"))].append(row)
    with open(sys.argv[2], encoding="utf-8") as f:
        made = [json.loads(line) for line in f]
    trace.require(len(made) > 500, f"the tally has {len(made)} lines")
    lanes = collections.defaultdict(set)
    for one in sorted(made, key=lambda m: m["at"][3]):
        key = (str(one["pid"]), str(one["tid"]), *category(one["name"]), text(one["epoch"]), text(one["step"]), text(one["bytes"]),
               "-1" if one["failed"] else "0", one["args"])
        # equal regions of several tasks: those that were at that time
        inside = [r for r in rows[key] if one["at"][2] <= r.n("TIMESTAMP") <= one["at"][3]
                  and (key[2] in ("mark", "meta") or one["at"][0] <= r.n("TIMESTAMP") - r.n("LAT_NS") <= one["at"][1])]
        if not trace.require(inside, f"no row of {one}: {rows[key]}"):
            continue
        rows[key].remove(inside[0])
        trace.require((inside[0]["LANE"] == "-") == (one["task"] is None), f"lane of {one}: {inside[0]}")
        trace.require(inside[0]["SOURCE"] == "api", f"source of {one}: {inside[0]}")
        if one["task"]:
            lanes[one["task"]].add(inside[0]["LANE"])
    extra = [row for left in rows.values() for row in left]
    trace.require(not extra, f"{len(extra)} rows of no region, such as {extra[:1]}")
    trace.require(len(lanes) == 4 and all(len(found) == 1 for found in lanes.values()) and
                  len(set.union(*lanes.values())) == 4, f"lanes of tasks: {dict(lanes)}")
    trace.finish()


main()
