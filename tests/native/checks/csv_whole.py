# SPDX-License-Identifier: BSD-2-Clause
"""csv_whole.py TRACE CSV JSON LEAST...: the files of `report --csv' that have every row, by the rows of the trace: each file, with
what its calls moved, their time, how often it was opened, and its users; each process and its files; each process, log, and
file in shared memory. LEAST: how many rows files, uses, processes, logs and shm have at least, more than JSON lists."""
import collections
import csv
import decimal
import json
import os
import re
import sys

import tracefolder

DATA = ("blk", "dir", "memfd", "reg", "shm")  # other descriptors are no files of the report
t = tracefolder.Trace(sys.argv[1])
folder = sys.argv[2]
with open(sys.argv[3], encoding="utf-8") as f:
    report = json.load(f, parse_float=decimal.Decimal)


def rows_of(name):
    with open(os.path.join(folder, name + ".csv"), encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f, strict=True))


def text(raw):
    """RAW as base/csv.h has it in a field: what is not printable stays escaped, what would be a formula has an apostrophe."""
    out = re.sub("[\0-\x08\x0b\x0c\x0e-\x1f\x7f\udc80-\udcff]", lambda m: f"\\{ord(m[0]) & 0xff:03o}", raw.decode(errors="surrogateescape"))
    return "'" + out if out.startswith(tuple("=+-@\t\r\n'")) else out


def ns(seconds):
    return int(decimal.Decimal(seconds) * 10**9)


class Sum:
    def __init__(self):
        self.read_bytes = self.write_bytes = self.calls = self.time_ns = self.opens = 0
        self.users = set()

    def add(self, probe, row):
        moved = max(row.ret or 0, 0) if probe == "vfs_rw" else 0
        self.read_bytes += moved if row.get("RW") == "R" else 0
        self.write_bytes += moved if row.get("RW") == "W" else 0
        self.calls += 1
        self.time_ns += row.n("LAT_NS")
        self.opens += probe == "open" and row["FUNC"] != "snapshot" and (row.ret or 0) >= 0
        if probe != "close":
            self.users.add(row["PID"])


files, uses = collections.defaultdict(Sum), collections.defaultdict(Sum)
for probe, row in t.calls():
    fid = row.get("FID", "-")
    if probe in ("close", "create_del", "mmap", "open", "sync", "vfs_rw") and fid not in "-?" and t.file(fid)["TYPE"] in DATA:
        files[fid].add(probe, row)
        uses[row["PID"], fid].add(probe, row)

last = {row["FID"]: row["REALPATH"] for row in t["files"]}  # a renamed file is listed under its last name
got = rows_of("files")
listed = {row["fid"]: row for row in got}
t.require(len(got) == len(listed), "files.csv: a file has two rows")
t.require(set(listed) == set(files), f"files.csv: {sorted(set(listed) ^ set(files))[:10]}: in one of the two alone")
for fid in set(listed) & set(files):
    row, of = listed[fid], files[fid]
    want = (of.read_bytes, of.write_bytes, of.calls, of.time_ns, of.opens, len(of.users))
    have = (*(int(row[k]) for k in ("read_bytes", "write_bytes", "calls")), ns(row["time_s"]), int(row["opens"]), int(row["users"]))
    t.require(have == want, f"files.csv: FID {fid}, {row['path']}: {have}, not {want}")
    t.require(row["path"] == text(tracefolder.unescape(last[fid])), f"files.csv: FID {fid} is {row['path']!r}, not {last[fid]}")
rw = [row for row in t["vfs_rw"] if row["FID"] in files]
for side, column in ("R", "read_bytes"), ("W", "write_bytes"):
    want = sum(max(row.ret or 0, 0) for row in rw if row["RW"] == side)
    t.require(sum(int(row[column]) for row in got) == want, f"files.csv: {column} are not {want}")

got = rows_of("uses")
t.require({(row["pid"], row["fid"]) for row in got} == set(uses) and len(got) == len(uses), "uses.csv has other pairs")
for row in got:
    of = uses[row["pid"], row["fid"]]
    t.require((int(row["read_bytes"]), int(row["write_bytes"]), int(row["calls"]), ns(row["time_s"])) ==
              (of.read_bytes, of.write_bytes, of.calls, of.time_ns), f"uses.csv: PID {row['pid']}, FID {row['fid']}")
    t.require(row["path"] == listed.get(row["fid"], {}).get("path"), f"uses.csv: FID {row['fid']} is {row['path']}")

got = rows_of("processes")
t.require({row["pid"] for row in got} == {row["PID"] for _, row in t.calls() if row["FUNC"] not in ("create",)}, "processes.csv has other processes")
t.require(len(got) == report["n_processes"], f"processes.csv: {len(got)} rows")
t.require(sum(int(row["read_bytes"]) for row in got) == sum(max(row.ret or 0, 0) for row in t["vfs_rw"] if row["RW"] == "R"),
          "processes.csv: other bytes read")

got = rows_of("logs")
t.require(len(got) == report["logs"]["seen"], f"logs.csv: {len(got)} rows")
got = rows_of("shm")
t.require(len(got) == report["shm"]["files"], f"shm.csv: {len(got)} rows")
for name, least in zip(("files", "uses", "processes", "logs", "shm"), map(int, sys.argv[4:]), strict=True):
    t.require(len(rows_of(name)) >= least, f"{name}.csv: {len(rows_of(name))} rows, not {least}")
t.finish()
