# SPDX-License-Identifier: BSD-2-Clause
"""bio_ways TRACE TALLY LEAST: is each write of a file by the process that the tally names?

And do the rows have all bytes that must be written back? The tally has at least LEAST lines, as the workload "writers"
prints them: FILE PID TID INODE, then FROM-TO of bytes. TID -: any thread; PID -: the file was read. An earlier file may
have had the same inode.
"""
import os
import sys

import tracefolder

PAGE = 4096


def main():
    folder, tally, least = sys.argv[1:4]
    trace = tracefolder.Trace(folder, may_lose=("bio",))
    counter = trace.counters["bio"]
    # writers without room in the table, or whose hook the kernel skipped; requests without a row
    forgotten = counter.get("overwritten", 0) + trace.manifest["skipped_runs"] + counter["lost"]
    with open(tally, encoding="ascii") as file:
        lines = [line.split() for line in file]
    ways = {line[0] for line in lines}
    fids = {}
    for row in trace["files"]:
        name = os.path.basename(row.b("REALPATH").decode())
        fids.setdefault((row["INO"], name if name in ways else "nameless"), set()).add(row["FID"])
    trace.require(len(lines) >= int(least), f"only {len(lines)} lines")
    for way, pid, tid, ino, *ranges in lines:
        rows = [row for row in trace["bio"] if row["T"] == "RW"[pid != "-"] and row["FID"] in fids.get((ino, way), ())]
        for row in rows:
            trace.require(row["KIND"] in ("data", "direct"), f"{way}: {row}")
            trace.require(row.b("FILE").decode() == way or way == "nameless", f"{way}: {row}")
            if pid == "-":
                continue
            if row["WPID"] == "-" and forgotten:
                continue
            trace.require(row["WPID"] == pid and row["WN"] == "1", f"{way}, by {pid}: {row}")
            trace.require(tid in ("-", row["WTID"]), f"{way}, by thread {tid}: {row}")
            # it is synced by itself, and a copy-on-write file system may put its separate pages side by side
            trace.require(row.n("EXTENTS") <= max(1, len(ranges)), f"{way}: {row}")
        ranges = [list(map(int, text.split("-"))) for text in ranges]
        if any(row["EXTENTS"] != "1" for row in rows):
            wanted = sum(-(-end // PAGE) - at // PAGE for at, end in ranges) * PAGE
            got = sum(row.n("BYTES") for row in rows)
            trace.require(got >= wanted or counter["lost"], f"{way}: {got} bytes, not {wanted}: {rows}")
            continue
        for at, end in ranges:
            while at < end:
                there = [row.n("FOFF") + row.n("BYTES") for row in rows
                         if row.n("FOFF") <= at < row.n("FOFF") + row.n("BYTES")]
                if not trace.require(there or counter["lost"], f"{way}: {at} to {end} is in no row: {rows}"):
                    break
                at = max(there, default=end)
    print("ways:", *(line[0] for line in lines), file=sys.stderr)
    trace.finish()


main()
