# SPDX-License-Identifier: BSD-2-Clause
"""sched-attached TRACE HOG SLEEPER: all time of two threads is recorded that existed before the trace and outlive it.

The one runs or waits for a CPU, the other sleeps in pause(), which is ppoll where there is no such call.
"""
import collections
import os
import sys

import tracefolder

MS = 1_000_000 * (30 if os.environ.get("VM") else 1)


def sums(rows, tid, *columns):
    return sum(row.n(c) for row in rows if row["TID"] == tid for c in columns if row[c] != "-")


def main():
    folder, hog, sleeper = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    rows = trace["sched"]
    cpus = collections.Counter()
    for row in rows:
        if row["CALL"] == "-":
            cpus[row["CPU"]] += row.n("RUN_NS")
    length = max(cpus.values())
    slack = 20 * MS + 5 * MS * trace.unseen()
    trace.require(length - min(cpus.values()) <= 1000, f"RUN_NS of each CPU: {cpus}")
    ran = sums(rows, hog, "RUN_NS", "RUNQ_NS")
    trace.require(length - slack <= ran <= length + 1000, f"the hog: {ran} of {length} ns")
    trace.require(not [row for row in rows if row["TID"] == hog and row["CALL"] != "-"], "the hog waits")
    waits = [row for row in rows if row["TID"] == sleeper]
    trace.require(len(waits) == 1, f"the sleeper: {waits}")
    for row in waits:
        trace.require(row["CALL"] in ("pause", "ppoll") and row["COUNT"] == "1", f"the sleeper: {row}")
        trace.require(row.n("SLEEP_NS") == row.n("MAX_NS") and length - slack <= row.n("SLEEP_NS") <= length + 1000,
                      f"the sleeper: {length} ns: {row}")
    trace.require(not [row for row in trace["sched_switch"] if sleeper in (row["PREV_TID"], row["NEXT_TID"])],
                  "the sleeper has been on a CPU")
    trace.finish()


main()
