# SPDX-License-Identifier: BSD-2-Clause
"""bio_below TRACE ABOVE DISK TYPE: are the requests of DISK those of the device-mapper disk ABOVE, of the target TYPE?

ABOVE begins at sector 0 of DISK. Each request of DISK is marked as one for a disk above. If it names a file, it names the
file and the place that ABOVE has there. It names none for direct I/O, and for what dm-crypt writes.
"""
import collections
import sys

import tracefolder


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
        there = known[row["T"], row.n("SECTOR")]
        trace.require(there, f"nothing of it above: {row}")
        kinds = {k for _, _, k in there}
        if row["FID"] != "-":
            trace.require((row["FID"], row.n("FOFF")) in {(fid, off) for fid, off, _ in there}, f"above is {there}: {row}")
            trace.require("data" in kinds, f"{kinds} above: {row}")
        elif kinds == {"data"} and row["EXTENTS"] == "1":
            trace.require(kind == "crypt" and row["T"] == "W", f"no file, above is {there}: {row}")
        for k in kinds:
            sums[row["T"], k, row["FID"] != "-"] += row.n("BYTES")
    trace.require(sums["R", "data", True] and sums["W", "data", kind != "crypt"] and sums["R", "direct", False], f"compared: {dict(sums)}")
    print(f"{kind}: {dict(sums)}", file=sys.stderr)
    trace.finish()


main()
