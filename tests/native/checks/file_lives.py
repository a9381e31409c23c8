# SPDX-License-Identifier: BSD-2-Clause
"""file_lives TRACE EXPECTED DIR: does each life of a file have one FID, and each FID one life?

EXPECTED is the output of the workload "file_lives" in DIR (see tests/workloads/file_lives.c). Each of its calls has its
row, of that file, under a path that the file had then, with what stat(2) returned for it and for the file below.
"""
import collections
import os
import sys

import tracefolder

folder, expected, where = sys.argv[1:]
where = os.path.realpath(where).encode()
trace = tracefolder.Trace(folder)

rows = collections.defaultdict(list)
for row in trace["vfs_rw"]:
    if row["FUNC"] in ("pread64", "pwrite64") and row.n("OFFSET") >= 1000000:
        rows[row["OFFSET"]].append(row)

# For each FID: its rows of files.out, of which the last one before a call describes the file then.
described = collections.defaultdict(list)
for row in trace["files"]:
    described[row["FID"]].append(row)


def at(fid, timestamp):
    past = [row for row in described[fid] if row.n("TIMESTAMP") <= timestamp]
    return past[-1] if past else None


fids, lives, inodes = {}, {}, {}
for n, line in enumerate(open(expected, encoding="ascii"), 1):
    offset, rw, life, generation, dev, ino, real, *paths = line.rstrip("\n").split("\t")
    found = rows[offset]
    if not trace.require([row["RW"] for row in found] == [rw], f"call {n}, {rw} at {offset}: rows {found}"):
        continue
    row = found[0]
    fid = row["FID"]
    trace.require(fids.setdefault(life, fid) == fid, f"call {n}: life {life} is FID {fids[life]} and FID {fid} ({paths})")
    # 32 random bits tell the lives of an inode apart: in one of some hundred runs of 100 000 calls two of them are equal
    inode = (dev, ino, generation)
    same = inodes.setdefault(fid, inode) == inode and "?" not in inode and "-" not in inode
    trace.require(lives.setdefault(fid, life) == life or same, f"call {n}: FID {fid} is life {lives[fid]} and life {life} ({paths})")
    file = at(fid, row.n("TIMESTAMP"))
    if not trace.require(file, f"call {n}: FID {fid} is not in files.out by then"):
        continue
    path = file.b("REALPATH")
    trace.require("*" in paths or path in {os.path.join(where, p.encode()) for p in paths},
                  f"call {n}: life {life} is at {path}, not at {paths}")
    trace.require(file["INO"] == ino and dev in (file["DEV"], "?"),
                  f"call {n}: life {life}: {file['DEV']} {file['INO']}, stat(2) has {dev} {ino}")
    got = f"{file['REALDEV']}:{file['REALINO']}" if file["REALINO"] != "-" else file["REALDEV"]
    trace.require(real in ("?", got), f"call {n}: life {life} at {path}: below it {got}, not {real}")
trace.require(len(lives) > 1 and sum(map(len, rows.values())) == n, f"{sum(map(len, rows.values()))} rows of {n} calls")
trace.finish()
