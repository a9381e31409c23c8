# SPDX-License-Identifier: BSD-2-Clause
"""summaries TRACE JSON [COUNTS FOLDER]: are the summaries of `dltraced report --json` those of the rows?

And are they what the workload of report-summaries.sh has counted? For several hosts (no COUNTS): is every key documented?
"""
import collections
import csv
import json
import os
import sys

import described
import probes

with open(sys.argv[2], encoding="utf-8") as f:
    report = json.load(f)


def equal(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, not {wanted}")


described.expect_all(report)
if len(sys.argv) < 4:
    sys.exit()

with open(sys.argv[3], encoding="utf-8") as f:
    counts = {what: int(n) for what, n in map(str.split, f)}
base = sys.argv[4]


def rows_of(name):
    with open(os.path.join(sys.argv[1], name + ".out"), encoding="utf-8") as f:
        return list(csv.DictReader(f.readlines()[1:], delimiter="\t", quoting=csv.QUOTE_NONE))


def moved(row):
    return max(int(row["RETURNED"]), 0) if row["RETURNED"] not in "-?" else 0


files = {row["FID"]: row for row in rows_of("files")}
rows = {name: rows_of(name) for name in probes.EACH_CALL}
ANON = ("anon", "chr", "fifo", "sock")

# the workload's counts
shared = [f for f in report["files_shared"] if f["path"] == f"{base}/data/set/shared"][0]
equal("users of the shared file", shared["users"], 3)
equal("its opens", shared["opens"], 3)
equal("its bytes", shared["read_bytes"], counts["shared_bytes"])
equal("its calls", shared["calls"], counts["shared_reads"] + 6)  # and three opens and closes
log = [x for x in report["logs"]["busiest"] if x["path"] == f"{base}/train.log"][0]
equal("the log", [log["writes"], log["write_bytes"], log["as"]], [counts["log_writes"], counts["log_bytes"], "append,log"])
if not log["gap_p50_ns"] > 9e6:
    sys.exit(f"the log: it was slept for 10 ms between two writes: {log}")
stdout = [x for x in report["logs"]["busiest"] if x["as"] == "stdout" and x["write_bytes"] == counts["out_bytes"]]
equal("writes to stdout", [x["writes"] for x in stdout], [7])
event = [c for c in report["classes"] if c["class"] == "eventfd"][0]
equal("eventfd", [event["writes"], event["write_bytes"]], [counts["events"], 8 * counts["events"]])
shm = [s for s in report["shm"]["largest"] if "dltraced-test" in s["path"]][0]
equal("shared memory", [shm["size_bytes"], shm["mappings"], shm["mapped_bytes"]], [1 << 20, 1, 1 << 20])

# sums of the rows
uses = collections.defaultdict(lambda: [0, 0, 0])  # bytes, calls, ns
opens = collections.Counter()
for name, list_ in rows.items():
    for row in list_:
        if row["FID"] == "-" or files[row["FID"]]["TYPE"] in ANON:
            continue
        use = uses[row["PID"], row["FID"]]
        use[0] += moved(row) if name == "vfs_rw" else 0
        use[1] += 1
        use[2] += int(row["LAT_NS"])
        opens[row["FID"]] += name == "open" and row["RET"][0] != "-" and row["FUNC"] != "snapshot"
equal("pairs", report["n_uses"], len(uses))
for entry in report["uses_by_bytes"] + report["uses_by_time"]:
    equal(f"pair {entry}", [entry["read_bytes"] + entry["write_bytes"], entry["calls"], entry["time_ns"]],
          uses[str(entry["pid"]), str(entry["fid"])])
most = sorted((u[0] for u in uses.values()), reverse=True)
equal("the most bytes", [e["read_bytes"] + e["write_bytes"] for e in report["uses_by_bytes"]],
      [n for n in most[:10] if n])
equal("the most time", [e["time_ns"] for e in report["uses_by_time"]], sorted((u[2] for u in uses.values()), reverse=True)[:10])
equal("the most opens", [f["opens"] for f in report["files_by_opens"]], sorted((n for n in opens.values() if n), reverse=True)[:10])
for h in report["histograms"]:
    equal(f"histogram {h['probe']} {h['of']} {h['unit']}", sum(n for _, n in h["counts"]), h["n"])
by = {(h["probe"], h["of"], h["unit"]): h for h in report["histograms"]}
sizes = collections.Counter(1 << moved(r).bit_length() >> 1 for r in rows["vfs_rw"] if r["RW"] == "R" and int(r["RETURNED"]) >= 0)
equal("sizes of reads", dict(by["vfs_rw", "reads", "B"]["counts"]), dict(sizes))
for p in report["process_histograms"]:
    mine = sorted(int(r["LAT_NS"]) for r in rows["vfs_rw"] if r["PID"] == str(p["pid"]) and r["RW"] == "R" and
                  (r["FID"] == "-" or files[r["FID"]]["TYPE"] not in ANON))
    for h in p["histograms"]:
        if (h["of"], h["unit"]) != ("read", "ns"):
            continue
        equal(f"reads of {p['pid']}", h["n"], len(mine))
        median = mine[(len(mine) + 1) // 2 - 1]
        if abs(h["p50"] - median) > median / 16 + 1:
            sys.exit(f"median of {p['pid']}: {h['p50']}, not {median}")
