# SPDX-License-Identifier: BSD-2-Clause
"""report TRACE JSON: are the sums of `dltraced report --json` those of the rows?

The trace may be incomplete; what counts is every whole row.
"""
import collections
import csv
import json
import os
import sys

import described
import probes

PROBES = ("bio", *probes.EACH_CALL)
ON_DISK = ("reg", "shm", "memfd")  # kinds of files with content
folder = sys.argv[1]
with open(sys.argv[2], encoding="utf-8") as f:
    report = json.load(f)


def rows_of(name):
    with open(os.path.join(folder, name + ".out"), encoding="utf-8") as f:
        whole = [line for line in f if line.endswith("\n")][1:]
    return list(csv.DictReader(whole, delimiter="\t", quoting=csv.QUOTE_NONE))


def manifest():
    """Returns that of the trace; it may have been lost with the trace's end."""
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return {}


def number(text):
    return int(text, 0) if text not in "-?" else None


def equal(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, but the rows say {wanted}")


rows = {name: rows_of(name) for name in PROBES if os.path.exists(os.path.join(folder, name + ".out"))}
files = {row["FID"]: row for row in rows_of("files")}

# every probe
of_calls = [p for p in report["probes"] if p["name"] in PROBES]
equal("probes", [p["name"] for p in of_calls], sorted(rows))
by_manifest = {p["name"]: p.get("rows", 0) for p in manifest().get("probes", ())}
for p in report["probes"]:
    if p["name"] not in PROBES:
        equal(f"{p['name']} rows", p["rows"], by_manifest.get(p["name"], 0))
for p in of_calls:
    mine = rows[p["name"]]
    result = next((c for c in ("RETURNED", "RET", "STATUS") if mine and c in mine[0]), None)
    ended = [row for row in mine if row[result] != "?"]
    latencies = [int(row["LAT_NS"]) for row in ended if row["LAT_NS"] != "-"]
    what = p["name"]
    equal(f"{what} rows", p["rows"], len(mine))
    equal(f"{what} still running", p["running"], len(mine) - len(ended))
    equal(f"{what} failed", p["failed"], sum((number(row[result]) or 0) < 0 for row in ended))
    equal(f"{what} time", p["time_ns"], sum(latencies))
    equal(f"{what} longest", p["max_ns"], max(latencies, default=0))

# reads and writes: in all, by type of file, by size, by process
types = collections.defaultdict(lambda: [0] * 6)
sizes = collections.Counter()
processes = collections.defaultdict(lambda: [0] * 4)
totals = {"R": [0, 0], "W": [0, 0]}
for row in rows["vfs_rw"]:
    moved = max(number(row["RETURNED"]) or 0, 0)
    write = row["RW"] == "W"
    totals[row["RW"]][0] += 1
    totals[row["RW"]][1] += moved
    process = processes[int(row["PID"])]
    process[2 * write] += 1
    process[2 * write + 1] += moved
    kind = files[row["FID"]]["TYPE"] if row["FID"] in files else "unknown"
    for i, n in enumerate((1, moved, int(row["LAT_NS"]))):
        types[kind][3 * write + i] += n
    if not write and kind in ON_DISK + ("unknown",) and (number(row["RETURNED"]) or 0) >= 0:
        sizes[moved.bit_length()] += 1
p = next(p for p in report["probes"] if p["name"] == "vfs_rw")
for name, rw in (("reads", "R"), ("writes", "W")):
    equal(name, [p[name]["rows"], p[name]["bytes"]], totals[rw])
equal("bytes", p["bytes"], totals["R"][1] + totals["W"][1])
for entry in report["types"]:
    equal(f"type {entry['type']}", [entry[c] for c in ("reads", "read_bytes", "read_ns", "writes", "write_bytes",
                                                       "write_ns")], types.get(entry["type"]))
equal("types", sorted(entry["type"] for entry in report["types"]), sorted(types))
for entry in report["processes"]:
    equal(f"process {entry['pid']}", [entry[c] for c in ("reads", "read_bytes", "writes", "write_bytes")],
          processes.get(entry["pid"], [0] * 4))
equal("most bytes of a process", max(e["read_bytes"] for e in report["processes"]),
      max(p[1] for p in processes.values()))
for entry in report["read_sizes"]:
    equal(f"reads of {entry['from']} bytes and more", entry["calls"], sizes.pop(entry["from"].bit_length()))
equal("reads of other sizes", sizes, {})

# files
by_file = collections.defaultdict(lambda: [0] * 2)
for row in rows["vfs_rw"]:
    if row["FID"] in files and files[row["FID"]]["TYPE"] in ON_DISK:
        by_file[row["FID"]][row["RW"] == "W"] += max(number(row["RETURNED"]) or 0, 0)
for entry in report["files_by_bytes"]:
    fid = str(entry["fid"])
    equal(f"file {entry['path']}", [entry["read_bytes"], entry["write_bytes"]], by_file[fid])
    equal("its path", entry["path"], files[fid]["REALPATH"])
most = sorted(map(sum, by_file.values()), reverse=True)
equal("files with the most bytes", [e["read_bytes"] + e["write_bytes"] for e in report["files_by_bytes"]],
      [n for n in most if n][:len(report["files_by_bytes"])])

# the slowest calls, and those in flight at the end
for key in ("slowest", "waits", "running", "running_waits"):
    longest = [call["lat_ns"] for call in report[key]["longest"]]
    equal(f"{key}, in order", longest, sorted(longest, reverse=True))
    for call in report[key]["longest"]:
        equal(f"{key}: {call}", sum(row["LAT_NS"] == str(call["lat_ns"]) and row["TID"] == str(call["tid"]) and
                                    row["FUNC"] == call["func"] for row in rows[call["probe"]]) > 0, True)
equal("still running", report["running"]["seen"] + report["running_waits"]["seen"],
      sum(row.get("RETURNED", row.get("RET")) == "?" for name in rows if name != "bio" for row in rows[name]))

# the timeline: its rates add up to the rows, whatever the size of the bins
timeline = report["timeline"]


def seconds(i):
    """Returns how much of a bin the trace covers; where it covers less than half, the rate is that of the bin and its
    neighbor together.
    """
    left = timeline["end_ns"] - timeline["begin_ns"] - i * timeline["bin_ns"]
    least = timeline["bin_ns"] // 8 if timeline["bins"] == 1 else 0
    return max(min(left, timeline["bin_ns"]), least) / 1e9


def total(panel, name):
    values = [s["values"] for s in timeline["series"] if (s["panel"], s["name"]) == (panel, name)]
    return sum(rate * seconds(i) for i, rate in enumerate(values[0])) if values else None


def expect_sum(what, got, wanted):
    if abs(got - wanted) > 1e-4 * max(wanted, 1):
        sys.exit(f"timeline: {what}: {got}, but the rows say {wanted}")


def ended(name):
    return [row for row in rows.get(name, []) if row.get("RETURNED", row.get("RET")) != "?" and row["FUNC"] != "snapshot"]


for name, panel in (("open", "open"), ("close", "close"), ("sync", "sync")):
    if name in rows:
        sizes = [row for row in ended(name) if row["FUNC"].endswith(("truncate", "fallocate"))]  # which are no syncs
        expect_sum(name, total("calls", panel), len(ended(name)) - len(sizes))
if "vfs_rw" in rows:
    on_files = [row for row in ended("vfs_rw")
                if row["FID"] == "-" or files.get(row["FID"], {"TYPE": "unknown"})["TYPE"] not in
                ("anon", "chr", "fifo", "sock")]
    for side, name in (("R", "read"), ("W", "write")):
        mine = [max(number(row["RETURNED"]) or 0, 0) for row in on_files if row["RW"] == side]
        expect_sum(name, total("vfs", name), sum(mine))
        expect_sum(name + "s", total("vfs_calls", name + "s"), len(mine))
        heat = [h["counts"] for h in timeline["heat"] if h["name"] == name]
        equal("timeline: latencies of " + name, sum(n for _, _, n in heat[0]) if heat else 0, len(mine))


described.expect_all(report)
