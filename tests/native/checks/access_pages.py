# SPDX-License-Identifier: BSD-2-Clause
"""access_pages FOLDER TALLY areas|-: each interval of access.out within a phase of tests/workloads/touches, as it printed them to TALLY,
has the pages that the phase touches, and no others of its memory; if the source is writes, those that the phase writes. Pages
may be missing that a CPU has kept a translation of, where the kernel does not flush these; else one in 1000, which was
touched between the look and the clear. An interval counts only if the program had the time to touch all pages in it, behind
the clear at its beginning.
"""
import collections
import json
import os
import sys

import tracefolder

PAGE = 4096
BUSY = bool(os.environ.get("VM"))  # in a guest a look may take a second
LEAST_LOOKS = 1 if BUSY else 3  # within a phase
ROUND_NS = 10_000_000  # the program touches all pages within this time, but for the times that it printed


def has_round(begin, end, late, look_ns):
    """Were all pages touched between BEGIN and END, at which a look ended? LATE: times in which this took longer, in order."""
    if any(begin <= late_begin and late_end <= end - look_ns for late_begin, late_end in late):
        return True
    for late_begin, late_end in [*late, (end, end)]:
        if min(late_begin, end) - begin >= 2 * ROUND_NS:
            return True
        begin = max(begin, late_end)
    return False


def main():
    trace = tracefolder.Trace(sys.argv[1])
    with open(os.path.join(sys.argv[1], "manifest.json"), encoding="utf-8") as f:
        access = json.load(f)["access"]
    source = access["source"]
    flushes, look_ns = access["flushes"], access["longest_look_us"] * 1000
    memory, phases, of = collections.defaultdict(list), [], collections.defaultdict(list)
    late = collections.defaultdict(list)
    with open(sys.argv[2], encoding="ascii") as f:
        for line in f:
            kind, pid, *numbers = line.split()
            numbers = [int(n, 0) for n in numbers]
            if kind == "phase":
                phases.append((pid, *numbers))
            elif kind == "late":
                late[pid].append(numbers)
            else:
                memory[pid].append(numbers)
                of[kind, pid].append(numbers)

    names = {row["FID"]: row["REALPATH"] for row in trace["files"]}
    areas = sys.argv[3] == "areas"  # the kernel can list the mappings of a process
    intervals = collections.defaultdict(lambda: collections.defaultdict(set))  # of a process by time: pages
    spans = collections.defaultdict(dict)
    first_look = {}  # of a process's mapping
    for row in trace["access"]:
        trace.require(row["SOURCE"] == source and row.n("TOUCHED") == row.n("BYTES") and row["COUNT"] == row["TID"] == row["IP"] == "-",
                      f"not a whole page: {row}")
        trace.require(row["WRITTEN"] == (row["TOUCHED"] if source == "writes" else "-"), f"what was written: {row}")
        pid, at, addr = row["PID"], row.n("TIMESTAMP"), int(row["ADDR"], 16)
        spans[pid][at] = row.n("SPAN_NS")
        of_huge = any(begin <= addr < end for begin, end in of["huge", pid])
        trace.require(row.n("HUGE") == (row.n("TOUCHED") if of_huge else 0) or not any(begin <= addr < end for begin, end in memory[pid]),
                      f"huge pages: {row}")
        for begin, end in memory[pid]:
            if not begin <= addr < end:
                continue
            # of a mapping that is made between the look at mappings and that at pages, nothing is known until the next look
            unknown = first_look.setdefault((pid, begin), at) == at and row["KIND"] == row["FID"] == row["OFFSET"] == "-"
            if areas and not unknown:
                in_file = [begin, end] in of["file", pid]
                trace.require(row["KIND"] == ("file" if in_file else "anon"), f"kind: {row}")
                trace.require(row["OFFSET"] == (str(addr - begin + (1 << 20)) if in_file else "-"), f"offset: {row}")
                trace.require((names.get(row["FID"], "-").split("/")[-1]) == (f"touched.{pid}" if in_file else "-"), f"file: {row}")
        intervals[pid][at].update(page for page in range(addr // PAGE, (addr + row.n("BYTES")) // PAGE)
                                  if any(begin <= page * PAGE < end for begin, end in memory[pid]))
    seen = missed = unchecked = 0
    for pid, begin, end, first, step, count, size, every in phases:
        touched = range(count) if source == "pages" else range(0, count if every else 0, every or 1)
        want = {page for i in touched for page in range((first + i * step) // size * size // PAGE, (first + i * step) // size * size // PAGE + size // PAGE)}
        looked = 0
        for at, got in intervals[pid].items():
            if at - spans[pid][at] < begin or at > end:
                continue
            looked += 1
            trace.require(got <= want, f"{len(got - want)} pages of {pid} were not touched, in the phase of {first:#x}")
            if has_round(at - spans[pid][at] + look_ns, at, late[pid], look_ns):
                seen += len(got)
                missed += len(want - got)
            else:
                unchecked += 1
        # without an access, a process may have no row at all
        trace.require(looked >= LEAST_LOOKS or not want, f"{looked} intervals in the phase of {first:#x}")
    print(f"note: {missed} pages of {seen + missed} were missed" + ("" if flushes else " (translations are not flushed)") +
          (f"; the machine was too busy for {unchecked} intervals" if unchecked else ""))
    trace.require((seen > 0 or unchecked) and missed <= seen / (1000 if flushes else 2), f"{missed} pages were missed, {seen} not")
    trace.require(trace.counters["access"]["lost"] == 0, "lost rows")
    trace.finish()


main()
