# SPDX-License-Identifier: BSD-2-Clause
"""slept TRACE BEFORE AFTER REPORT: is the machine's suspension between BEFORE and AFTER in the trace and in the report?

BEFORE and AFTER are files with the clocks MONOTONIC, BOOTTIME and REALTIME around it, in ns. time_align.out has one row
`step': by that, BOOTTIME_NS and REALTIME_NS have advanced as far as these clocks did, and TIMESTAMP has not. No call
lasts longer than the time in which the machine ran. REPORT, the JSON of dltraced report, has when the machine slept, and
for how long.
"""
import json
import sys

import tracefolder

trace = tracefolder.Trace(sys.argv[1])
before, after = ([int(n) for n in open(name).read().split()] for name in sys.argv[2:4])
off = [[clocks[i] - clocks[0] for i in (1, 2)] for clocks in (before, after)]
slept, moved = off[1][0] - off[0][0], off[1][1] - off[0][1]
rows = trace["time_align"]
near = 10**8  # each reading is as late as the reading process gets a CPU


def offsets(row):
    mono = row.n("TIMESTAMP")
    return row.n("BOOTTIME_NS") - mono, row.n("REALTIME_NS") - mono


steps = [n for n, row in enumerate(rows) if n and offsets(row)[0] - offsets(rows[n - 1])[0] > near]
trace.require(len(steps) == 1, f"asleep {len(steps)} times: {rows}")
awake, last = rows[steps[0]], rows[steps[0] - 1]
trace.require(awake["EVENT"] == "step", f"no step: {awake}")
for got, want, name in zip(offsets(awake), off[1], ("BOOTTIME_NS", "REALTIME_NS")):
    trace.require(abs(got - want) < near, f"{name} is {got - want} ns off: {awake}")
trace.require(last.n("TIMESTAMP") <= after[0] and awake.n("TIMESTAMP") >= before[0], f"not then: {last} {awake}")
time_ns = tracefolder.ns_of(awake["TIME"]) - tracefolder.ns_of(last["TIME"])
ran_ns = awake.n("TIMESTAMP") - last.n("TIMESTAMP")
trace.require(abs(time_ns - ran_ns - moved) < near, f"TIME went on by {time_ns} ns")

ran = rows[-1].n("TIMESTAMP") - rows[0].n("TIMESTAMP")
longest = max(row.n("LAT_NS") for row in trace["vfs_rw"])
trace.require(after[0] - before[0] < longest < ran, f"the longest call: {longest} of {ran} ns")
gaps = [gap for gap in json.load(open(sys.argv[4]))["timeline"]["gaps"]
        if gap["what"].startswith("the machine slept for ")]
trace.require(len(gaps) == 1 and abs(float(gaps[0]["what"].split()[-2]) * 1e9 - slept) < near, f"report: {gaps}")
trace.finish()
print(f"asleep for {slept / 1e9:.3f} s, TIME by {moved / 1e9:.3f} s, of which {(after[0] - before[0]) / 1e9:.3f} s ran")
