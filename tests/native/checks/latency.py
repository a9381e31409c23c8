# SPDX-License-Identifier: BSD-2-Clause
"""latency TRACE PID RESULT BEGUN DONE END: does the read of the gate have the right begin and end?

It began after what the process did before it, and before BEGUN, and ended between DONE and END.
"""
import sys

import tracefolder


def main():
    trace = tracefolder.Trace(sys.argv[1])
    pid, result = sys.argv[2:4]
    begun, done, end = map(int, sys.argv[4:])
    rows = sorted((row for _, row in trace.calls() if row["PID"] == pid), key=lambda row: row.n("TIMESTAMP"))
    nr = [i for i, row in enumerate(rows) if row["FUNC"] == "read" and row["FILE"] == "gate"]
    if trace.require(len(nr) == 1, f"{len(nr)} reads of the gate"):
        row, before = rows[nr[0]], rows[nr[0] - 1]
        finish = row.n("TIMESTAMP")
        start = finish - row.n("LAT_NS")
        trace.require(row["RETURNED"] == result, f"not {result}: {row}")
        trace.require(before.n("TIMESTAMP") < start < begun, f"start {start}, not before {begun}: {row}, {before}")
        trace.require(done <= finish <= end, f"not from {done} to {end}: {row}")
    trace.finish()


main()
