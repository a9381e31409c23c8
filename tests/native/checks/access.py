# SPDX-License-Identifier: BSD-2-Clause
"""access FOLDER TALLY single|joined|sampled|counted: access.out has the faults that tests/workloads/touches has printed to TALLY,
each in a row of its own, to the byte, or joined by block and interval; or samples of them, each in a row, or counted by
block and interval.
"""
import collections
import os
import sys

import tracefolder

PAGE = os.sysconf("SC_PAGE_SIZE")


def main():
    trace = tracefolder.Trace(sys.argv[1])
    faults, regions = [], []
    with open(sys.argv[2], encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "region":
                regions.append((words[1], int(words[2], 16), int(words[3], 16)))
            else:
                faults.append((words[0], words[1], int(words[2], 16), words[3], words[4]))

    def is_ours(row):
        return any(row["PID"] == pid and begin <= int(row["ADDR"], 16) < end for pid, begin, end in regions)

    rows = [row for row in trace["access"] if is_ours(row)]
    sampled = sys.argv[3] in ("sampled", "counted")
    # only x86 has tracepoints of faults; the kernel's event of them does not show writes
    blind = not sampled and os.uname().machine != "x86_64"
    trace.require(not blind or all(row["WRITTEN"] == "-" for row in rows), "writes by a source that does not show them")
    trace.require(all(row["SOURCE"] == ("pmu" if sampled else "faults") and row["HUGE"] == "-" and row["NODE"] == "-" for row in rows),
                  "a row of another source")
    for row in rows:
        trace.require(row["WRITTEN"] == row["TOUCHED"] == "-" if sampled else
                      (blind or row.n("WRITTEN") <= row.n("TOUCHED")) and row.n("TOUCHED") <= row.n("BYTES"), f"bytes: {row}")
        trace.require(row["COUNT"] == "1" or row["TID"] == row["IP"] == "-", f"a thread of several faults: {row}")
    if sys.argv[3] == "sampled":
        got = collections.Counter((row["PID"], row["TID"], int(row["ADDR"], 16) if row["IP"] != "-" else int(row["ADDR"], 16) // PAGE * PAGE,
                                   "user" if row["IP"] != "-" else "kernel") for row in rows)
        missed = collections.Counter((pid, tid, addr, mode) for pid, tid, addr, _, mode in faults)
        missed.subtract(got)
        print(f"note: {len(rows)} samples of {len(faults)} faults")
        trace.require(min(missed.values()) >= 0, f"samples of nothing, as {missed.most_common()[-1]}")
        trace.require(len(rows) >= len(faults) / 20, f"{len(rows)} samples of {len(faults)} faults")
        trace.require(all(row["SPAN_NS"] == "0" and row.n("BYTES") == PAGE and row["COUNT"] == "1" for row in rows), "a row of several samples")
        trace.require({tid for _, tid, _, _ in got} == {fault[1] for fault in faults}, "a thread without samples")
    elif sys.argv[3] == "counted":
        samples = sum(row.n("COUNT") for row in rows)
        print(f"note: {samples} samples of {len(faults)} faults in {len(rows)} rows")
        trace.require(len(faults) / 20 <= samples <= len(faults), f"{samples} samples of {len(faults)} faults")
        trace.require(all(row.n("BYTES") == PAGE if row["COUNT"] == "1" else row.n("BYTES") == 65536 and int(row["ADDR"], 16) % 65536 == 0
                          for row in rows), "not a block")
        trace.require(all(row.n("SPAN_NS") <= 10**8 for row in rows), "an interval is too long")
    elif sys.argv[3] == "single":
        got = collections.Counter((row["PID"], row["TID"], int(row["ADDR"], 16) if row["IP"] != "-" else int(row["ADDR"], 16) // PAGE * PAGE,
                                   "-" if blind else "w" if row.n("WRITTEN") else "r", "kernel" if row["IP"] == "-" else "user") for row in rows)
        wanted = collections.Counter((pid, tid, addr, "-" if blind else mode, by) for pid, tid, addr, mode, by in faults)
        trace.require(got == wanted, f"{sum((got - wanted).values())} rows too many, {sum((wanted - got).values())} faults without a row, "
                      f"as {next(iter(wanted - got), None)} or {next(iter(got - wanted), None)}")
        trace.require(all(row["SPAN_NS"] == "0" and row.n("BYTES") == PAGE for row in rows), "a row of an interval")
    else:
        for pid in {pid for pid, *_ in faults}:
            own = [row for row in rows if row["PID"] == pid]
            trace.require(sum(row.n("COUNT") for row in own) == sum(f[0] == pid for f in faults), f"faults of {pid}")
            pages = {f[2] // PAGE for f in faults if f[0] == pid}
            touched = sum(row.n("TOUCHED") for row in own)
            # a page is touched in two intervals at most
            trace.require(len(pages) * PAGE <= touched <= (len(pages) + len(pages) // 8) * PAGE, f"touched bytes of {pid}: {touched}")
        trace.require(len(rows) < len(faults) / 8, f"{len(rows)} rows of {len(faults)} faults")
        trace.require(all(row.n("SPAN_NS") <= 10**8 for row in rows), "an interval is too long")
    trace.require(trace.counters["access"]["lost"] == 0, "lost rows")
    trace.finish()


main()
