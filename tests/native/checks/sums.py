# SPDX-License-Identifier: BSD-2-Clause
"""sums TRACE: the bytes read from each file, a line each: number, last path as it is escaped."""
import collections
import sys

import tracefolder


def main():
    trace = tracefolder.Trace(sys.argv[1])
    path = {row["FID"]: row["REALPATH"] for row in trace["files"]}
    sums = collections.Counter()
    for row in trace["vfs_rw"]:
        if row["RW"] == "R" and row.ret > 0:
            sums[path[row["FID"]]] += row.ret
    lines = (f"{count}\t{name}\n".encode() for name, count in sums.items())
    sys.stdout.buffer.write(b"".join(sorted(lines)))
    sys.stdout.flush()
    trace.finish()


main()
