# SPDX-License-Identifier: BSD-2-Clause
"""sums TRACE WHAT: prints what the lines of docs/traces.md should print, in any order.

WHAT: read, the ten regular files that were read most, by their last names; written, the ten files that were written most,
by their names at that time; comm, the bytes that each COMM read; names, all REALPATHs.
"""
import collections
import sys

import tracefolder


def read(trace):
    last = {row["FID"]: row for row in trace["files"]}
    for row in trace["vfs_rw"]:
        if row["RW"] == "R" and last[row["FID"]]["TYPE"] == "reg":
            yield last[row["FID"]]["REALPATH"], row.ret


def written(trace):
    rows = [*trace["files"], *(row for row in trace["vfs_rw"] if row["RW"] == "W")]
    name = {}
    for row in sorted(rows, key=lambda row: row.n("TIMESTAMP")):  # stable: a file comes before its use
        if "REALPATH" in row:
            name[row["FID"]] = row["REALPATH"]
        else:
            yield name[row["FID"]], row.ret


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
        for name, moved in {"read": read, "written": written, "comm": comm}[sys.argv[2]](trace):
            if moved > 0:
                sums[name] += moved
        out.write(b"".join(sorted(f"{count}\t{name}\n".encode() for name, count in sums.most_common(10))))
    out.flush()
    trace.finish()


main()
