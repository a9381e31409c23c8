# SPDX-License-Identifier: BSD-2-Clause
"""page_cache TRACE TALLY [overlay]: are the sums of cache.out those of the job (tests/workloads/page_cache.py)?"""
import collections
import sys

import tracefolder

COLUMNS = ("READ", "HIT", "MISS", "AHEAD", "USED", "EVICTED", "WASTED", "DIRTIED")


def main():
    trace = tracefolder.Trace(sys.argv[1], may_lose=("pids", "vfs_rw", "cache"))
    # A kernel that preempts programs skips runs of them, and counts them (docs/traces/manifest-probes.md), those of a probe's
    # own hooks with the probe: each run concerns one file.
    skipped = trace.manifest["skipped_runs"] + sum(c.get("lost_by", {}).get("skipped", 0) for c in trace.counters.values())
    # Ends of requests that the kernel of some virtual machines does not report (docs/traces/sched_switch.md).
    bio = trace.counters.get("bio", {"calls": 0})
    unreported = bio.get("lost_by", {}).get("unseen", 0)
    trace.require(unreported * 10 <= bio["calls"], f"ends of {unreported} of {bio['calls']} requests were not reported")
    skipped += unreported
    lost = {name: counter for name, counter in trace.counters.items() if counter["lost"]}
    trace.require(sum(counter["lost"] for counter in lost.values()) <= skipped, f"more is lost than was skipped: {lost}")
    with open(sys.argv[2], encoding="ascii") as file:
        tally = {line.split()[0]: [int(word) for word in line.split()[1:]] for line in file}
    sums, stamps = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    for row in trace["cache"]:
        for column in (*COLUMNS, "WRITTEN"):
            sums[row["FILE"]][column] += 0 if row[column] == "-" else row.n(column)
        stamps[row["FID"]].append((row.n("TIMESTAMP"), row.n("SPAN_NS")))
        trace.require(row.n("WASTED") <= row.n("EVICTED"), f"more wasted than evicted: {row}")
        trace.require(any(row.n(c) for c in COLUMNS) or row["WRITTEN"] not in "0-", f"a row without a change: {row}")
    for name, numbers in tally.items():
        got = [sums[name][column] for column in (*COLUMNS[:-1], "WRITTEN")]
        *numbers, left, untouched = numbers
        for column, more in (("EVICTED", left), ("WASTED", untouched)):  # after the job's last look
            i = COLUMNS.index(column)
            numbers[i] = min(max(got[i], numbers[i]), numbers[i] + more)
        # a folio of several pages becomes dirty as a whole
        if got == numbers and sums[name]["DIRTIED"] >= numbers[-1]:
            continue
        trace.require(skipped > 0, f"{name}: {got}, not {numbers}, of {COLUMNS}, dirtied {sums[name]['DIRTIED']}")
        skipped -= 1
    for rows in stamps.values():  # rows of one file come one after the other
        trace.require(all(a[0] <= b[0] - b[1] for a, b in zip(rows, rows[1:])), f"rows of a file overlap: {rows}")
    total = [sum(numbers[i] for numbers in tally.values()) for i in range(len(COLUMNS))]
    trace.require(all(total[:-1]) and bool(total[-1]) == (sys.argv[3:] != ["overlay"]), f"nothing to compare: {dict(zip(COLUMNS, total))}")
    trace.require("refused" not in trace.counters["cache"], "pages without a chunk")
    print(dict(zip(COLUMNS, total)), file=sys.stderr)
    trace.finish()


main()
