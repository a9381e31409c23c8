# SPDX-License-Identifier: BSD-2-Clause
"""causes TRACE JSON FILE [TRUTH]: are the tables of what the disks worked for those of the rows?

Their sums are the sums of bio.out. What is written back of FILE belongs to the processes whose calls in vfs_rw.out wrote
it: here an array has the last writer of each byte, and calls count from their begins. TRUTH has lines of a PID and the
bytes of FILE that it wrote and that nobody has written since; where each byte was written back once, the table must
agree.
"""
import collections
import json
import sys

import tracefolder

trace = tracefolder.Trace(sys.argv[1])
report = json.load(open(sys.argv[2], encoding="utf-8"))
name = sys.argv[3]
truth = {int(a): int(b) for a, b in (line.split() for line in open(sys.argv[4], encoding="ascii"))} if len(sys.argv) > 4 else None
requests = [row for row in trace["bio"] if row["STATUS"] != "?" and row["KIND"] != "below"]


def total(rows, key):
    return sum(row[key] for row in rows)


def size(row, t):
    return row.n("BYTES") if row["T"] == t and row["STATUS"] == "0" else 0


for table in ("disk_files", "disk_processes"):
    wanted = [sum(size(r, "R") for r in requests), sum(size(r, "W") for r in requests), len(requests), sum(r.n("LAT_NS") for r in requests)]
    trace.require([total(report[table], key) for key in ("read_bytes", "write_bytes", "requests", "time_ns")] == wanted,
                  f"{table}: sums {[total(report[table], key) for key in ('read_bytes', 'write_bytes', 'requests', 'time_ns')]}, in rows {wanted}")
    trace.require(abs(total(report[table], "share") - 1) < 1e-4 or not requests, f"{table}: shares {total(report[table], 'share')}")

# --- files ------------------------------------------------------------------------------------------------

pieces = trace.files.get("bio_map", [])
files = collections.defaultdict(lambda: [0, 0, 0, 0])
for r in requests:
    if r["FID"] != "-" and r["EXTENTS"] in "1-":
        for i, n in enumerate((size(r, "R"), size(r, "W"), 1, r.n("LAT_NS"))):
            files[int(r["FID"])][i] += n
for piece in pieces:
    if piece["FID"] != "-":
        files[int(piece["FID"])][1 if piece["WPID"] != "-" else 0] += piece.n("BYTES")
for row in report["disk_files"]:
    if row["fid"] is not None:
        got = [row[key] for key in ("read_bytes", "write_bytes", "requests", "time_ns")]
        if pieces:  # the report's division of a request and of its time is not compared
            got, files[row["fid"]] = sum(got[:2]), sum(files[row["fid"]][:2])
        trace.require(got == files[row["fid"]], f"{row['path']}: {got}, in rows {files[row['fid']]}")

# --- writers ------------------------------------------------------------------------------------------------

fids = {row["FID"] for row in trace["files"] if row["REALPATH"].endswith("/" + name)}
backs = [(r.n("TIMESTAMP") - r.n("LAT_NS") + (r.n("QLAT_NS") if r["QLAT_NS"] != "-" else 0), 1, r) for r in requests
         if r["FID"] in fids and r["T"] == "W" and r["KIND"] == "data" and r["EXTENTS"] == "1"]
backs += [(p.n("TIMESTAMP"), 1, p) for p in pieces if p["FID"] in fids and p["KIND"] == "data"]
calls = [(r.n("TIMESTAMP") - r.n("LAT_NS"), 2, r) for r in trace["vfs_rw"]
         if r["RW"] == "W" and r["FID"] in fids and r["RETURNED"].isdigit() and r["OFFSET"] != "-"]
last = max([r.n("OFFSET") + r.n("RETURNED") for _, _, r in calls] + [r.n("FOFF") + r.n("BYTES") for _, _, r in backs] + [0])
pids = ["0"] + sorted({r["PID"] for _, _, r in calls})
trace.require(len(pids) < 256, f"{len(pids)} writers of {name}")
writer = bytearray(last)  # an index of pids
expected, none = collections.Counter(), 0
for _, _, r in sorted(calls + backs, key=lambda c: c[:2]):
    if "RW" in r:
        begin, n = r.n("OFFSET"), r.n("RETURNED")
        writer[begin : begin + n] = bytes([pids.index(r["PID"])]) * n
        continue
    begin, n = r.n("FOFF"), r.n("BYTES")
    for i, pid in enumerate(pids):
        count = writer.count(i, begin, begin + n)
        none += count if i == 0 else 0
        expected[int(pid) or (int(r["WPID"]) if r["WPID"] != "-" else 0)] += count
    writer[begin : begin + n] = bytes(n)
reported = {row["pid"]: row["write_bytes"] for row in report["disk_processes"] if row["pid"] is not None}
unsure = {row["pid"]: row["unsure_bytes"] for row in report["disk_processes"] if row["pid"] is not None}
if truth is not None:
    written = sum(r.n("BYTES") for _, _, r in backs)
    over = written - sum(truth.values())
    once = 0 <= over < 4096  # no process wrote the last bytes of the file's last block
    for pid in truth:
        trace.require(reported.get(pid, 0) == expected[pid], f"PID {pid}: {reported.get(pid, 0)} bytes, by an array {expected[pid]}")
    trace.require(none <= over or not once, f"{none} bytes were written by no call")
    for pid, own in truth.items() if once else ():
        trace.require(own <= reported.get(pid, 0) <= own + over, f"PID {pid}: {reported.get(pid, 0)} bytes, it wrote {own}")
        trace.require(unsure.get(pid, 0) <= over, f"PID {pid}: {unsure.get(pid, 0)} bytes are unsure")
    print(f"{name}: {written} bytes written back, {none} by no call, {'each once' if once else 'some again'}")
trace.finish()
