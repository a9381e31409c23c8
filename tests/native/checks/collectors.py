# SPDX-License-Identifier: BSD-2-Clause
"""collectors TRACE NAME=COLUMN[,COLUMN...]...: checks the files of tools that sampled beside the trace.

Lines are whole, rows have as many fields as the header has columns, and both times increase, by the trace's own clock and
within the trace. The named columns are there and have values.
"""
import os
import sys

import tracefolder

trace = tracefolder.Trace(sys.argv[1])
offsets = {row.n("REALTIME_NS") - row.n("TIMESTAMP") for row in trace["time_align"]}
for name, wanted in (arg.split("=") for arg in sys.argv[2:]):
    with open(os.path.join(trace.folder, name + ".out"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    trace.require(lines.pop() == "", f"{name}: the last line is not whole")
    trace.require(lines[0].startswith(f"# dltraced {name} "), f"{name}: {lines[0]}")
    columns = lines[1].split("\t")
    trace.require(columns[:2] == ["TIMESTAMP", "TIME"], f"{name}: {columns}")
    missing = set(wanted.split(",")) - set(columns)
    trace.require(not missing, f"{name}: no column {missing} in {columns}")
    rows = [dict(zip(columns, line.split("\t"))) for line in lines[2:] if not line.startswith("#")]
    trace.require(rows, f"{name}: no rows")
    last = trace.manifest["start"]["monotonic_ns"]
    for row in rows:
        now = int(row["TIMESTAMP"])
        trace.require(len(row) == len(columns) and all(row.values()), f"{name}: {row}")
        trace.require(last <= now <= trace.manifest["end"]["monotonic_ns"], f"{name}: out of order: {row}")
        trace.require(tracefolder.ns_of(row["TIME"]) - now in offsets, f"{name}: TIME of no clock: {row}")
        last = now
trace.finish()
