# SPDX-License-Identifier: BSD-2-Clause
"""bio_writers TRACE PATH WAY PIDS: does each write of PATH name the process that dirtied its pages?

WAY is how two processes shared the pages (bio_files.py of tests/workloads), PIDS the workload's output. Before these two,
the workload's own process wrote the file once.
"""
import os
import sys

import tracefolder

PAGE = 4096


def main():
    folder, path, what, pids = sys.argv[1:5]
    pages = os.path.getsize(path) // PAGE
    with open(pids, encoding="ascii") as file:
        first, second = (pid for way, pid in map(str.split, file) if way == what)
    trace = tracefolder.Trace(folder, may_lose=("bio",))
    fids = {row["FID"] for row in trace["files"] if row.b("REALPATH").decode() == path}
    own = {row["PID"] for row in trace["pids"] if row["EVENT"] == "exec"}
    truth = {
        "halves": lambda page: first if page < pages // 2 else second,
        "turns": lambda page: second if page % 2 else first,
        "over": lambda page: first,  # a page that is dirty already keeps its writer
        "mapped": lambda page: second if page % 2 else first,
        "single": lambda page: second if page % 2 else first,  # stores into a mapping, of pages that are folios of their own
    }[what]
    rows = [row for row in trace["bio"] if row["T"] == "W" and row["FID"] in fids]
    # separate pages of the file that lie side by side on the disk, written back while they were being dirtied
    merged = sum(row.n("BYTES") // PAGE for row in rows if row["EXTENTS"] != "1" and row["WPID"] in (first, second))
    rows = [row for row in rows if row["EXTENTS"] == "1"]
    theirs = [row for row in rows if row["WPID"] not in own]
    seen = set()
    for row in theirs:
        at = row.n("FOFF") // PAGE
        there = range(at, at + row.n("BYTES") // PAGE)
        seen.update(there)
        wanted = [truth(page) for page in there]
        if what == "mapped":  # one store makes a whole large folio dirty
            trace.require(row["WPID"] in (first, second) and row["WN"] in ("1", "2"), f"not of the two: {row}")
            continue
        trace.require(row["WPID"] == wanted[0], f"by {wanted[0]}: {row}")
        trace.require(row["WN"] == str(len(set(wanted))), f"by {len(set(wanted))} processes: {row}")
        trace.require(row["WTID"] == row["WPID"] and row["WCOMM"].startswith("python"), f"of no such thread: {row}")
    missing = sorted(set(range(pages)) - seen)
    trace.require(len(missing) <= merged or trace.counters["bio"]["lost"],
                  f"pages {missing} of {pages} were written back in no row that names the two: "
                  f"{[row for row in rows if row not in theirs][-3:]}")
    trace.require(len(rows) > len(theirs), "the first write is in no row")
    trace.finish()


main()
