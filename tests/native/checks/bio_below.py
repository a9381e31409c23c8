# SPDX-License-Identifier: BSD-2-Clause
"""bio_below TRACE ABOVE DISK TYPE: are the requests of DISK those of the disk ABOVE, of the target or level TYPE?

ABOVE begins at sector 0 of DISK; "raid0:N" is its Nth disk of two, in turns of 64 KiB. Each request of DISK is marked as
one for a disk above. If it names a file, it names the file and the place that ABOVE has there. It may name none for direct
I/O, and for what dm-crypt writes.
"""
import collections
import sys

import tracefolder

CHUNK = 128  # sectors


def sector_above(kind, sector):
    """Returns the sector of ABOVE that is at SECTOR of DISK."""
    name, _, number = kind.partition(":")
    if name != "raid0":
        return sector
    return (sector // CHUNK * 2 + int(number)) * CHUNK + sector % CHUNK


def main():
    folder, above, disk, kind = sys.argv[1:5]
    trace = tracefolder.Trace(folder, may_lose=("bio",))
    known, sums = collections.defaultdict(set), collections.Counter()
    for row in trace["bio"]:
        if row["DISK"] == above and row["T"] in "RW" and row.n("BYTES"):
            for i in range(row.n("BYTES") // 512):
                off = row.n("FOFF") + i * 512 if row["FOFF"] != "-" and row["EXTENTS"] == "1" else "-"
                known[row["T"], row.n("SECTOR") + i].add((row["FID"] if off != "-" else "-", off, row["KIND"]))
    for row in trace["bio"]:
        if row["DISK"] != disk or row["T"] not in "RW" or not row.n("BYTES"):
            continue
        trace.require(row["KIND"] == "below", f"not for a disk above: {row}")
        there = known[row["T"], sector_above(kind, row.n("SECTOR"))]
        trace.require(there, f"nothing of it above: {row}")
        kinds = {k for _, _, k in there}
        if row["FID"] != "-":
            trace.require((row["FID"], row.n("FOFF")) in {(fid, off) for fid, off, _ in there}, f"above is {there}: {row}")
            trace.require("data" in kinds or "direct" in kinds, f"{kinds} above: {row}")
        elif kinds == {"data"} and row["EXTENTS"] == "1":
            trace.require(kind == "crypt" and row["T"] == "W", f"no file, above is {there}: {row}")
        for k in kinds:
            sums[row["T"], k, row["FID"] != "-"] += row.n("BYTES")
    trace.require(sums["W", "data", kind != "crypt"], f"compared: {dict(sums)}")
    unread = kind == "raid1" and all(t == "W" for t, _, _ in sums)  # the other disk has served all reads
    trace.require(sums["R", "data", True] or unread, f"no reads: {dict(sums)}")
    passed_on = kind not in ("linear", "crypt") and sums["R", "direct", True]  # the very bios of ABOVE
    trace.require(sums["R", "direct", False] or passed_on or unread, f"no direct I/O: {dict(sums)}")
    print(f"{kind}: {dict(sums)}", file=sys.stderr)
    trace.finish()


main()
