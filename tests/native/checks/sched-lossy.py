# SPDX-License-Identifier: BSD-2-Clause
"""sched-lossy TRACE FACTS BEFORE AFTER: rows of switches are lost and counted, sums are whole.

FACTS comes from the job of ../sched-buffer.sh; BEFORE and AFTER are /proc/stat around the trace.
"""
import collections
import json
import os
import sys

import tracefolder

TICK_NS = 10_000_000


def taken_ns(before, after):
    def of(path):
        with open(path, encoding="ascii") as f:
            n = [int(word) for word in f.readline().split()[1:]]
        return sum(n[5:8])  # irq, softirq, steal
    return (of(after) - of(before) + 3) * 10**9 // os.sysconf("SC_CLK_TCK")


def main():
    folder, facts, before, after = sys.argv[1:]
    trace = tracefolder.Trace(folder, may_lose=("sched", "sched_switch"))
    with open(facts, encoding="ascii") as f:
        facts = json.load(f)
    pids = {str(pid) for pid in facts["pids"]}

    switches = trace.counters["sched_switch"]
    left = sum(row["PREV_PID"] in pids for row in trace["sched_switch"])
    trace.require(left + switches["lost"] >= facts["voluntary"], f"{left} rows, {switches}: {facts}")
    trace.require(left < facts["voluntary"] and switches["lost"] > 0, f"64K held all: {left} rows, {switches}")

    # Switches that the kernel did not report are missing in both; a row of sums never is.
    sums, cpus = collections.Counter(), collections.Counter()
    for row in trace["sched"]:
        if row["CALL"] != "-":
            continue
        cpus[row["CPU"]] += row.n("RUN_NS")
        if row["PID"] in pids:
            sums.update({column: row.n(column) for column in ("COUNT", "RUN_NS")})
    lost = trace.unseen()
    trace.require(max(cpus.values()) - min(cpus.values()) <= 1000, f"RUN_NS of each CPU: {cpus}")
    trace.require(sums["COUNT"] + lost >= facts["voluntary"], f"COUNT: {sums}, {lost} lost: {facts}")
    trace.require(lost <= facts["voluntary"] // 20, f"{lost} lost of {facts['voluntary']}: rows of sums?")
    slack = 2 * TICK_NS + facts["run_ns"] // 100 + taken_ns(before, after) + 100 * TICK_NS * bool(lost)
    trace.require(abs(sums["RUN_NS"] - facts["run_ns"]) <= slack, f"RUN_NS: {sums}: {facts}")
    trace.finish()


main()
