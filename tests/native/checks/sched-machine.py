# SPDX-License-Identifier: BSD-2-Clause
"""sched-machine TRACE COMM AWAY_NS: sums of the whole machine, of which CPU 1 was away for at least AWAY_NS.

Three processes COMM have run for 0.3 s each by their own clocks, the second one while the CPU was away. The time that
each ran under another name, before it was called COMM, is in its own clock, too.
"""
import collections
import sys

import tracefolder


def main():
    folder, comm, away_ns = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    cpus, idle, kinds, ran = (collections.Counter() for _ in range(4))
    named = set()
    for row in trace["sched"]:
        if row["CALL"] != "-":
            continue
        cpus[row["CPU"]] += row.n("RUN_NS")
        kinds[row["KIND"]] += row.n("RUN_NS")
        if row["KIND"] == "idle":
            idle[row["CPU"]] += row.n("RUN_NS")
        ran[row["PID"]] += row.n("RUN_NS")
        if row["COMM"] == comm:
            trace.require(row["KIND"] == "target", f"not of the target: {row}")
            named.add(row["PID"])
    trace.require(len(cpus) >= 2 and max(cpus.values()) - min(cpus.values()) <= 1000, f"RUN_NS of each CPU: {cpus}")
    trace.require(idle["1"] >= int(away_ns) * 9 // 10, f"CPU 1 was away for {away_ns} ns: idle {idle}")
    trace.require(not kinds["other"], f"others than the target: {kinds}, {[r for r in trace['sched'] if r['KIND'] == 'other'][:3]}")
    trace.require(kinds["self"] and kinds["kernel"] and kinds["idle"], f"kinds: {kinds}")
    ran = {pid: ran[pid] for pid in named}
    trace.require(len(ran) == 3 and min(ran.values()) >= 290_000_000, f"{comm}: {ran}")
    trace.finish()


main()
