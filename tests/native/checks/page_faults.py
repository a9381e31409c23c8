# SPDX-License-Identifier: BSD-2-Clause
"""page_faults FOLDER LIST FILE FS: the rows of fault.out are the major faults in FILE, on a file system FS, that the
processes of tests/workloads/page_faults.py list.
"""
import collections
import json
import mmap
import os
import sys

import tracefolder

PAGE = mmap.PAGESIZE


def exits(trace):
    """Returns the counts in the exit row of each process that ended."""
    return {row["PID"]: dict(pair.split("=") for pair in row.b("ARGS").decode().split())
            for row in trace["pids"] if row["EVENT"] == "exit" and row["STATUS"] != "-"}


def main():
    # where the kernel preempts programs it skips and counts a few runs of the programs of calls
    calls = ("close", "open", "vfs_rw")
    trace = tracefolder.Trace(sys.argv[1], may_lose=calls)
    for counter in (trace.counters[name] for name in calls if name in trace.counters):
        trace.require(not counter["lost"] or trace.manifest["skipped_runs"] and counter["lost"] <= 1 + counter["rows"] // 100,
                      f"more is lost than by skipped runs: {counter}")
    with open(sys.argv[2], encoding="utf-8") as f:
        known = [json.loads(line) for line in f]
    used = {str(process["pid"]): process for process in known if process["what"] == "used"}
    known = [process for process in known if process["what"] != "used"]
    name = os.path.basename(sys.argv[3])
    fids = {row["FID"] for row in trace["files"] if row.b("REALPATH") == sys.argv[3].encode()}
    ended, by_pid = exits(trace), collections.defaultdict(list)
    for row in trace["fault"]:
        by_pid[row["PID"]].append(row)
        trace.require(row["KIND"] == "file", f"no page of a file: {row}")
        trace.require(row["FUNC"] in ("user", "kernel"), f"who: {row}")
        trace.require((row["IP"] == "-") == (row["FUNC"] == "kernel"), f"instruction: {row}")
        trace.require(row.n("OFFSET") % PAGE == 0, f"offset: {row}")
    unseen = 0
    for process in known:
        what, pid = process["what"], str(process["pid"])
        rows = [row for row in by_pid[pid] if row["FID"] in fids]
        trace.require(all(row["FILE"] == name for row in rows), f"{what}: not all of {name}")
        if pid in ended and what != "attached":  # a child begins with 0 faults
            majflt = int(ended[pid]["majflt"])
            trace.require(majflt == used[pid]["majflt"], f"{what}: majflt={majflt} at the exit, it had {used[pid]['majflt']}")
            # the exit may touch the process's memory after its row is made
            trace.require(0 <= used[pid]["minflt"] - int(ended[pid]["minflt"]) <= 2,
                          f"{what}: minflt={ended[pid]['minflt']} at the exit, it had {used[pid]['minflt']}")
            unseen += majflt - len(by_pid[pid])
            trace.require(majflt == len(by_pid[pid]) or what == "direct",
                          f"{what}: {len(by_pid[pid])} rows for {majflt} major faults")
        if what in ("kernel", "direct"):
            trace.require(process["faults"] >= 90, f"{what}: {process['faults']} faults of its own")
            mine = [row for row in rows if row["FUNC"] == "kernel"]
            # its count has pages of Python's own, too, where other programs need the memory
            trace.require(what == "direct" or (len(mine) == len(rows) <= process["faults"] <= len(by_pid[pid])),
                          f"{what}: {len(mine)} of {len(rows)} rows are the kernel's, of {process['faults']} faults")
            continue
        trace.require(len(rows) == sum(t["faults"] for t in process["touches"]),
                      f"{what}: {len(rows)} rows for {len(process['touches'])} touches that faulted")
        trace.require(len(process["touches"]) >= 10 or what == "shared", f"{what}: {len(process['touches'])} faults")
        at = {row.n("ADDR") // PAGE: row for row in rows}
        for t in process["touches"]:
            row = at.get(t["addr"] // PAGE)
            if not trace.require(row, f"{what}: no row for {t}"):
                continue
            trace.require(row["FUNC"] == "user" and row["TID"] == str(t["tid"]), f"{what}: who: {row}, {t}")
            trace.require(row.n("OFFSET") == t["offset"], f"{what}: offset: {row}, {t}")
            trace.require(row.n("DISK_BYTES") == t["bytes"], f"{what}: bytes: {row}, {t}")
            trace.require(t["begin"] <= row.n("TIMESTAMP") - row.n("LAT_NS") <= row.n("TIMESTAMP") <= t["end"],
                          f"{what}: time: {row}, {t}")
            trace.require(row.n("LAT_NS") > 0, f"{what}: no time: {row}")
    trace.require(len(known) in (1, 8), f"{len(known)} processes")
    if len(known) > 1:
        # other processes touch the pages first, in faults without a row
        trace.require(unseen >= 50 or sys.argv[4] != "ext4", f"{unseen} faults for direct I/O without a row")
        counted = trace.counters["fault"].get("unseen", 0)
        trace.require(counted == unseen, f"{unseen} faults without a row, {counted} counted")
    trace.require(trace.counters["fault"]["lost"] == 0, f"lost: {trace.counters['fault']}")
    trace.finish()


main()
