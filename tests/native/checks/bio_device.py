# SPDX-License-Identifier: BSD-2-Clause
"""bio_device TRACE DISK START TALLY PLACES: are the requests of a block device itself what the tally says?

The device begins at the sector START of DISK; the tally is that of block_device.py. Each byte is in a row, and each row
in the tally, with its KIND, its place in the device and its writer. PLACES: "no" where the kernel does not show to which
device a bio was sent (before Linux 5.12): then direct I/O has no FOFF, and is counted.
"""
import collections
import sys

import tracefolder

# KIND in the rows of each way to read or write; shared memory belongs to tmpfs, and nothing shows whose bio that is
KINDS = {"direct": ("direct",), "held": ("direct",), "shared": ("other", "direct"), "buffered": ("data",)}
PAGE = 4096


def main():
    folder, disk, start, tally, places = sys.argv[1:6]
    trace = tracefolder.Trace(folder, may_lose=("bio",))
    lost = trace.counters["bio"]["lost"]
    with open(tally, encoding="ascii") as file:
        pieces = [(way, kind, pid, int(at), int(size)) for way, kind, pid, at, size in map(str.split, file)]
    got, unplaced, ways = collections.Counter(), 0, collections.Counter()
    for row in trace["bio"]:
        if row["T"] not in "RW" or row["DISK"] != disk:
            continue
        at = row.n("SECTOR") * 512 - int(start) * 512
        # read ahead and in whole pages: a row of the page cache may begin or end outside of the part
        mine = [i for i, (way, kind, _, begin, size) in enumerate(pieces) if kind == row["T"] and
                begin - PAGE < at < begin + size + (row["T"] == "R" and way == "buffered") * (4 << 20)]
        if not trace.require(mine, f"of nothing that was done: {row}"):
            continue
        way, _, pid, begin, size = pieces[mine[0]]
        ways[way, row["KIND"]] += 1
        got[mine[0]] += min(at + row.n("BYTES"), begin + size) - max(at, begin)
        trace.require(row["KIND"] in KINDS[way], f"{way}: {row}")
        trace.require(row["FID"] == "-" and row["FILE"] == "-" and row["EXTENTS"] == "1", f"{way}: {row}")
        known = way == "buffered" or (way != "held" and places != "no")
        if row["KIND"] == "other":
            known = False
        unplaced += row["FOFF"] == "-"
        trace.require(row["FOFF"] == (str(at) if known else "-"), f"{way}: at {at}: {row}")
        if row["KIND"] == "direct":
            trace.require(row["PID"] == pid, f"{way}, by {pid}: {row}")
            if row["T"] == "W":
                trace.require(row["WPID"] == pid and row["WN"] == "1", f"{way}, by {pid}: {row}")
                continue
        trace.require(row["WPID"] == row["WN"] == "-", f"{way}: a writer: {row}")
    for i, (way, kind, pid, at, size) in enumerate(pieces):
        trace.require(got[i] == size or lost, f"{way} {kind} at {at}: {got[i]} of {size} bytes are in rows")
    counted = trace.counters["bio"].get("fileless", 0)
    trace.require(counted == unplaced or lost, f"{unplaced} rows without a place, {counted} counted")
    print(dict(ways), file=sys.stderr)
    trace.finish()


main()
