# SPDX-License-Identifier: BSD-2-Clause
"""watch TRACE OFTEN ONCE PIDS: are the sums of `status --watch --json' for processes that began after it those of the rows?

The sums of each of PIDS, over all views of OFTEN, and in the last view of ONCE alone, equal those of the rows in the
trace; the percentiles of ONCE are within an eighth.
"""
import json
import os
import sys

import metrics
import probes

SUMS = ("calls", "failed", "read_bytes", "written_bytes", "fetched_bytes", "file_reads", "disk_reads", "latency_sum_ns")
KEYS = ["name", "pid", "phase", "elapsed_ms", "rows", "lost", "interval_ms", "processes_alive", "processes_with_calls",
        "failed_calls", "all", "processes", "regions", "running", "path"]


def frames(path):
    with open(path, encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    for frame in found:
        assert list(frame) == KEYS, list(frame)
        for key in SUMS:  # all processes fit
            assert frame["all"][key] == sum(p[key] for p in frame["processes"]), (key, frame)
        ages = [c["running_ms"] for c in frame["running"]]
        assert ages == sorted(ages, reverse=True), ages
    assert not found[0]["processes"] and found[0]["interval_ms"] == 0
    assert all(f["interval_ms"] for f in found[1:])
    assert sum(f["interval_ms"] for f in found) <= found[-1]["elapsed_ms"] + len(found)
    return found


def sums(found):
    total = {}
    for frame in found:
        for process in frame["processes"]:
            mine = total.setdefault(str(process["pid"]), dict.fromkeys(SUMS, 0))
            for key in SUMS:
                mine[key] += process[key]
    return total


def wanted(folder, pid):
    number = lambda text: int(text) if text not in "-?" else 0
    types = {r["FID"]: r["TYPE"] for r in metrics.rows(folder, "files")}
    rows = {p: [r for r in metrics.rows(folder, p) if r["PID"] == pid and r["FUNC"] != "snapshot"] for p in probes.OF_CALLS}
    mine = dict.fromkeys(SUMS, 0)
    latencies = sorted(int(r["LAT_NS"]) for p in probes.OF_CALLS for r in rows[p])
    mine["calls"], mine["latency_sum_ns"] = len(latencies), sum(latencies)
    for row in rows["vfs_rw"]:
        returned, disk = number(row["RETURNED"]), number(row["DISK_BYTES"])
        mine["failed"] += returned < 0
        mine["fetched_bytes"] += disk
        if row["RW"] in "RW":
            mine["read_bytes" if row["RW"] == "R" else "written_bytes"] += max(returned, 0)
        if row["RW"] == "R" and returned > 0 and types[row["FID"]] in ("reg", "blk"):
            mine["file_reads"] += 1
            mine["disk_reads"] += disk > 0
    return mine, latencies


def main(folder, often, once, *pids):
    often, once = frames(often), frames(once)
    assert len(once) == 2 and len(often) > 2, (len(once), len(often))
    last = {str(p["pid"]): p for p in once[-1]["processes"]}
    for pid in pids:
        mine, latencies = wanted(folder, pid)
        assert sums(often)[pid] == mine, f"process {pid}: {sums(often)[pid]}, not {mine}"
        assert sums(once)[pid] == mine, f"process {pid} in one look: {sums(once)[pid]}, not {mine}"
        p99 = latencies[-(-len(latencies) * 99 // 100) - 1]
        assert abs(last[pid]["latency_p99_ns"] - p99) <= p99 / 8 + 1, (pid, last[pid]["latency_p99_ns"], p99)
        assert last[pid]["latency_max_ns"] == latencies[-1]
    # a single look has the processes that made calls, as many looks have
    assert set(sums(often)) == set(sums(once)) >= set(pids)
    print(os.path.basename(folder), len(sums(once)), "processes")


if __name__ == "__main__":
    main(*sys.argv[1:])
