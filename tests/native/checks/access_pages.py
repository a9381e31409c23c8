# SPDX-License-Identifier: BSD-2-Clause
"""access_pages FOLDER TALLY areas|-: each interval of access.out within a phase of tests/workloads/touches, as it printed them to TALLY,
has the pages that the phase touches, and no others of its memory. Pages may be missing that a CPU has kept a translation
of, where the kernel does not flush these; else one in 1000, which was touched between the look and the clear.
"""
import collections
import json
import os
import sys

import tracefolder

PAGE = 4096


def main():
    trace = tracefolder.Trace(sys.argv[1])
    with open(os.path.join(sys.argv[1], "manifest.json"), encoding="utf-8") as f:
        flushes = json.load(f)["access"]["flushes"]
    memory, phases, of = collections.defaultdict(list), [], collections.defaultdict(list)
    with open(sys.argv[2], encoding="ascii") as f:
        for line in f:
            kind, pid, *numbers = line.split()
            numbers = [int(n, 0) for n in numbers]
            if kind == "phase":
                phases.append((pid, *numbers))
            else:
                memory[pid].append(numbers)
                of[kind, pid].append(numbers)

    names = {row["FID"]: row["REALPATH"] for row in trace["files"]}
    areas = sys.argv[3] == "areas"  # the kernel can list the mappings of a process
    intervals = collections.defaultdict(lambda: collections.defaultdict(set))  # of a process by time: pages
    spans = collections.defaultdict(dict)
    for row in trace["access"]:
        trace.require(row["SOURCE"] == "pages" and row.n("TOUCHED") == row.n("BYTES") and row["COUNT"] == row["TID"] == row["IP"] == "-",
                      f"not a whole page: {row}")
        pid, at, addr = row["PID"], row.n("TIMESTAMP"), int(row["ADDR"], 16)
        spans[pid][at] = row.n("SPAN_NS")
        of_huge = any(begin <= addr < end for begin, end in of["huge", pid])
        trace.require(row.n("HUGE") == (row.n("TOUCHED") if of_huge else 0) or not any(begin <= addr < end for begin, end in memory[pid]),
                      f"huge pages: {row}")
        for begin, end in memory[pid]:
            if areas and begin <= addr < end:
                in_file = [begin, end] in of["file", pid]
                trace.require(row["KIND"] == ("file" if in_file else "anon"), f"kind: {row}")
                trace.require(row["OFFSET"] == (str(addr - begin + (1 << 20)) if in_file else "-"), f"offset: {row}")
                trace.require((names.get(row["FID"], "-").split("/")[-1]) == (f"touched.{pid}" if in_file else "-"), f"file: {row}")
        intervals[pid][at].update(page for page in range(addr // PAGE, (addr + row.n("BYTES")) // PAGE)
                                  if any(begin <= page * PAGE < end for begin, end in memory[pid]))
    seen = missed = 0
    for pid, begin, end, first, step, count, size in phases:
        want = {page for i in range(count) for page in range((first + i * step) // size * size // PAGE, (first + i * step) // size * size // PAGE + size // PAGE)}
        looked = 0
        for at, got in intervals[pid].items():
            if at - spans[pid][at] < begin or at > end:
                continue
            looked += 1
            trace.require(got <= want, f"{len(got - want)} pages of {pid} were not touched, in the phase of {first:#x}")
            seen += len(got)
            missed += len(want - got)
        # without an access, a process may have no row at all
        trace.require(looked >= 3 or not want, f"{looked} intervals in the phase of {first:#x}")
    print(f"note: {missed} pages of {seen + missed} were missed" + ("" if flushes else " (translations are not flushed)"))
    trace.require(seen > 0 and missed <= seen / (1000 if flushes else 2), f"{missed} pages were missed, {seen} not")
    trace.require(trace.counters["access"]["lost"] == 0, "lost rows")
    trace.finish()


main()
