# SPDX-License-Identifier: BSD-2-Clause
"""why TRACE JSON: are the waits and epochs of `dltraced report --json` those of the rows?

The job is the workload loader: its trainer is the parent of pt_data_worker, and waits in read(2) of pipes.
"""
import csv
import json
import os
import re
import sys

ON_DISK = ("reg", "shm", "memfd", "dir", "blk")
folder = sys.argv[1]
with open(sys.argv[2], encoding="utf-8") as f:
    report = json.load(f)


def rows_of(name):
    with open(os.path.join(folder, name + ".out"), encoding="utf-8") as f:
        whole = [line for line in f if line.endswith("\n")][1:]
    return list(csv.DictReader(whole, delimiter="\t", quoting=csv.QUOTE_NONE))


def number(text):
    return int(text) if text not in "-?" else None


def equal(what, got, wanted, within=0):
    if abs(got - wanted) > within:
        sys.exit(f"{what}: {got}, but the rows say {wanted}")


def span(row):
    end = int(row["TIMESTAMP"])
    return end - int(row["LAT_NS"]), end


def union(spans, begin, end):
    """Returns how much of [begin, end) the spans cover."""
    total, at = 0, begin
    for a, b in sorted(spans):
        a, b = max(a, at), min(b, end)
        if b > a:
            total, at = total + b - a, b
    return total


types = {row["FID"]: row["TYPE"] for row in rows_of("files")}
# everything that the loader reads is data, except the files that ld.so reads for it
disks = {row["FID"]: row["FSTYPE"] not in ("tmpfs", "proc", "sysfs") and
         not re.match(r"/(etc|lib|lib64|usr)/|.*\.so[.0-9]*$", row["REALPATH"]) for row in rows_of("files")}
workers = {row["PID"] for row in rows_of("pids") if row["COMM"] == "pt_data_worker"}
parents = {row["PPID"] for row in rows_of("pids") if row["EVENT"] == "fork" and row["PID"] in workers}
rw = rows_of("vfs_rw")

# the trainer
equal("trainers", len(report["waited"]["trainers"]), 1)
trainer = report["waited"]["trainers"][0]
equal("the trainer", trainer["pid"], int(*parents))
equal("its loaders", trainer["loaders"], len(workers))
if trainer["by"] != "calls":
    sys.exit(f"the waits are by {trainer['by']}")

# its waits: all calls of its main thread, on pipes and on files
calls = [row for name in ("open", "close", "sync", "create_del") for row in rows_of(name)] + rw
spans = [span(row) for row in calls if int(row["PID"]) == int(row["TID"]) == trainer["pid"] and
         ("RW" in row or row.get("FUNC") != "close" or types.get(row["FID"], "reg") in ON_DISK)]
begin, end = trainer["begin_ns"], trainer["end_ns"]
# calls on files and waits never overlap in one thread: only shares are rounded
equal("waited", trainer["waited_ns"], union(spans, begin, end), 1000)
share = report["waited"]["share"]
equal("share", share, trainer["waited_ns"] / (end - begin), 1e-5)

# epochs: all reads from regular files on disks, by the time of their end
regular = [row for row in rw if row["RW"] == "R" and types.get(row["FID"]) == "reg" and disks[row["FID"]] and
           row["RETURNED"].isdigit()]
opened = [row for row in rows_of("open") if row["FLAGS"].startswith("RDONLY") and types.get(row["FID"]) == "reg" and
          disks[row["FID"]] and row["FUNC"] != "snapshot"]
for e in report["epochs"]:
    mine = [row for row in regular if e["begin_ns"] <= int(row["TIMESTAMP"]) < e["end_ns"] or len(report["epochs"]) == 1]
    equal(f"{e['name']}: bytes", e["read_bytes"], sum(int(row["RETURNED"]) for row in mine))
    equal(f"{e['name']}: from disk", e["disk_bytes"], sum(number(row["DISK_BYTES"]) or 0 for row in mine))
    equal(f"{e['name']}: reads", e["reads"], sum(int(row["RETURNED"]) > 0 for row in mine))
    equal(f"{e['name']}: sizes", sum(size["calls"] for size in e["read_sizes"]), len(mine))
    equal(f"{e['name']}: samples", e["samples"], sum(e["begin_ns"] <= int(row["TIMESTAMP"]) < e["end_ns"] or
                                                     len(report["epochs"]) == 1 for row in opened))

# the verdict
known = ("storage-read", "open-metadata", "decode-cpu", "cpu-contention", "checkpoint-write", "straggler-worker",
         "trainer-bound", "unknown")
if report["bottleneck"]["code"] not in known or not report["bottleneck"]["evidence"]:
    sys.exit(f"{report['bottleneck']}")
