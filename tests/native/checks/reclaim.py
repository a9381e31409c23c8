# SPDX-License-Identifier: BSD-2-Clause
"""reclaim FOLDER JOB SWAPD [AT_LIMIT]: reclaim.out is what a job had to free that reads a file within a cgroup's limit.

JOB is its account: its pid, the times of its reads by thread, the pages that it fetched, those of the file that are still
in the page cache, and when it began and ended to look for them. SWAPD is the number of pages that the kernel's own thread
freed on the machine meanwhile. AT_LIMIT: how often the cgroup was at its limit.
"""
import bisect
import json
import sys

import tracefolder


def main():
    trace = tracefolder.Trace(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as f:
        job = json.load(f)
    swapd = int(sys.argv[3])
    rows = trace["reclaim"]
    own = [row for row in rows if row.n("PID") == job["pid"]]
    cgroup = [row for row in rows if row["KIND"] == "cgroup"]
    trace.require(len(cgroup) >= 10, f"only {len(cgroup)} rows")
    for row in rows:
        trace.require(row["KIND"] in ("machine", "cgroup") and row.n("LAT_NS") > 0 and row.n("PAGES") >= 0, f"{row}")

    # each is within a read of its thread: another page that the thread needs may also be the one
    reads = {}
    for tid, begin, end in sorted(map(tuple, job["reads"])):
        reads.setdefault(tid, []).append((begin, end))
    within = 0
    for row in own:
        mine, end = reads.get(row.n("TID"), []), row.n("TIMESTAMP")
        i = bisect.bisect_right(mine, (end - row.n("LAT_NS"), end))
        within += bool(i) and mine[i - 1][1] >= end
    trace.require(within >= 0.9 * len(own), f"only {within} of {len(own)} rows are within a read of their thread")
    trace.require(len({row["TID"] for row in own}) >= 2, "all are of one thread")
    waited, read = (sum(ns) for ns in ([row.n("LAT_NS") for row in own], [end - begin for _, begin, end in job["reads"]]))
    trace.require(waited <= read, f"{waited} ns of reclaim in {read} ns of reads")

    # pages that were fetched and are gone were freed. The threads may free others, too, and the kernel's thread some of these
    freed, most = (sum(row.n("PAGES") for row in rows if row.n("TIMESTAMP") <= job[when]) for when in ("done", "looked"))
    gone = job["fetched"] - job["there"]
    trace.require(gone >= 1000, f"only {gone} pages are gone")
    trace.require(gone - swapd - 64 <= most and freed <= 1.05 * gone + 64,
                  f"{freed} to {most} pages freed, {gone} gone, {swapd} by the kernel's thread")
    at_limit = int(sys.argv[4]) if len(sys.argv) > 4 else None
    trace.require(at_limit in (None, len(cgroup)), f"{len(cgroup)} rows of cgroups, {at_limit} times at the limit")
    counted = "" if at_limit is None else f" for {at_limit} times at the limit"
    print(f"note: {len(rows)} rows{counted}, {within} within reads; {freed} pages freed, {gone} gone, {swapd} by the kernel's thread; "
          f"reclaim took {100 * waited / read:.1f} % of the reads")
    trace.finish()


main()
