# SPDX-License-Identifier: BSD-2-Clause
"""sums TRACE WHAT: prints what the lines of docs/traces.md should print, in any order.

WHAT: read, the ten regular files that were read most, by their last names; comm, the bytes that each COMM read; names, all
REALPATHs.
"""
import collections
import sys

import tracefolder


def read(trace):
    last = {row["FID"]: row for row in trace["files"]}
    for row in trace["vfs_rw"]:
        if row["RW"] == "R" and last[row["FID"]]["TYPE"] == "reg":
            yield last[row["FID"]]["REALPATH"], row.ret


def comm(trace):
    for row in trace["vfs_rw"]:
        if row["RW"] == "R":
            yield row["COMM"], row.ret


def main():
    trace = tracefolder.Trace(sys.argv[1])
    out = sys.stdout.buffer
    if sys.argv[2] == "names":
        out.write(b"".join(row.b("REALPATH") + b"\n" for row in trace["files"]))
    else:
        sums = collections.Counter()
        for name, moved in {"read": read, "comm": comm}[sys.argv[2]](trace):
            if moved > 0:
                sums[name] += moved
        out.write(b"".join(sorted(f"{count}\t{name}\n".encode() for name, count in sums.most_common(10))))
    out.flush()
    trace.finish()


main()
