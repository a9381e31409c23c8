# SPDX-License-Identifier: BSD-2-Clause
"""syscalls FOLDER COUNTS: the sums of syscalls.out are those that tests/native/probes/syscalls.sh and strace -c have in
COUNTS, without those of a few runs that the kernel has skipped, which the manifest counts.
"""
import collections
import sys

import tracefolder

MADE = 4 * 2000 + sum(100 + i for i in range(20))


def main():
    trace = tracefolder.Trace(sys.argv[1])
    count, failed, ns, longest = (collections.Counter() for _ in range(4))
    processes, stamps = collections.defaultdict(set), collections.defaultdict(list)
    for row in trace["syscalls"]:
        call = row["CALL"]
        count[call] += row.n("COUNT")
        failed[call] += row.n("FAILED")
        ns[call] += row.n("TIME_NS")
        longest[call] = max(longest[call], row.n("MAX_NS"))
        processes[call].add(row["PID"])
        stamps[row["PID"], call].append(row.n("TIMESTAMP"))
        trace.require(0 < row.n("COUNT") and row.n("FAILED") <= row.n("COUNT"), f"counts: {row}")
    with open(sys.argv[2], encoding="utf-8") as f:
        words = [line.split() for line in f]
    by_strace = {w[-1]: (int(w[3]), int(w[4]) if len(w) == 6 else 0) for w in words if w and w[0][0].isdigit()}
    rmdir = "rmdir" if "rmdir" in by_strace else "unlinkat"  # where there is no rmdir, as on arm64
    made = {"getppid": (MADE, 0), rmdir: (MADE, MADE), "wait4": (20, 0)}
    lost = trace.counters["syscalls"]["lost"]  # an upper bound, as they may have been for other processes
    missing = 0
    for call, expected in made.items():
        trace.require(by_strace.get(call) == expected, f"strace: {call}: {by_strace.get(call)}")
        trace.require(all(0 <= all_of - got <= lost for got, all_of in zip((count[call], failed[call]), expected)),
                      f"{call}: {count[call]}, {failed[call]} failed of {expected}, lost {lost}")
        missing += expected[0] - count[call]
    trace.require(missing <= lost, f"{missing} calls are in no sum, lost {lost}")
    for call in "getppid", rmdir:
        trace.require(len(processes[call]) == 21, f"{call}: {len(processes[call])} processes")
    trace.require(count["exit_group"] == 0, "exit_group has returned")
    for call in count:
        trace.require(longest[call] <= ns[call] or ns[call] == 0, f"{call}: {ns[call]} ns, the longest {longest[call]}")
    trace.require(any(row["CALL"] in ("clock_nanosleep", "select", "pselect6") and row.n("MAX_NS") >= 1500000000
                      for row in trace["syscalls"]), "the sleep of 1.5 s is in no sum")
    trace.require(all(a < b for times in stamps.values() for a, b in zip(times, times[1:])), "two rows of one interval")
    first, last = (f(row.n("TIMESTAMP") for row in trace["syscalls"]) for f in (min, max))
    trace.require(last - first >= 5 * 10**8, f"all rows came within {last - first} ns")
    trace.finish()


main()
