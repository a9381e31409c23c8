# SPDX-License-Identifier: BSD-2-Clause
"""clocks TRACE TICKS: checks the rows of time_align.out, of which at least TICKS are ticks, and every TIME."""
import sys

import tracefolder

trace = tracefolder.Trace(sys.argv[1])
rows = trace["time_align"]
first, last = rows[0], rows[-1]
steps = [row.n("TIMESTAMP") for row in rows if row["EVENT"] == "step"]  # the clock has been set
ticks = [row for row in rows[1:-1] if row["EVENT"] in ("tick", "adjust")]
trace.require(first["EVENT"] == "start" and last["EVENT"] == "end" and
              len(rows) == len(ticks) + len(steps) + 2, f"events: {[row['EVENT'] for row in rows]}")

seconds = (last.n("TIMESTAMP") - first.n("TIMESTAMP")) // 10**9
# the start is read a moment after the timer has begun
trace.require(int(sys.argv[2]) <= len(ticks) <= seconds + 1, f"{len(ticks)} ticks in {seconds} s")

uncertainty = max(row.n("ERROR_NS") for row in rows)
for row in rows:
    off = tracefolder.ns_of(row["TIME"]) - row.n("REALTIME_NS")
    trace.require(abs(off) <= 2 * uncertainty, f"TIME is {off} ns off REALTIME_NS: {row}")
    trace.require(row.n("BOOTTIME_NS") >= row.n("TIMESTAMP"), f"BOOTTIME_NS: {row}")
    trace.require(0 < row.n("ERROR_NS") < 10**9, f"ERROR_NS: {row}")

for name in trace.files:
    before = None
    for row in trace[name]:
        now = row.n("TIMESTAMP"), tracefolder.ns_of(row["TIME"])
        if before and not any(before[0] <= step <= now[0] for step in steps):
            trace.require((now[1] - before[1] > 0) == (now[0] - before[0] > 0) and now >= before,
                          f"{name}: TIME does not go on with TIMESTAMP: {row}")
        before = now
trace.finish()
