# SPDX-License-Identifier: BSD-2-Clause
"""vfs_rw_sums TRACE T tally TALLY PIDS DIR | job WANT [full|some]: with --min-latency T (ns), each read and write is in a row
or in a sum, never in both: as many calls and bytes as the workload "calls" counted itself, or as the Python job did, by
file. What has a row has a reason to: it was not shorter than T, or needed a disk, or is no call that sums have.

full: the table of sums had no room for all, so that further calls have rows, too; some: perhaps.
"""
import collections
import csv
import sys

import tally
import tracefolder

TIMES = 1 << 30


def check_sum(trace, row, least):
    """Each sum agrees with its own histogram."""
    times = {int(part.split("=")[0]): int(part.split("=")[1]) for part in row["TIMES"].split(",")}
    count, ns, longest = row.n("COUNT"), row.n("TIME_NS"), row.n("MAX_NS")
    trace.require(sum(times.values()) == count > 0 and row.n("EMPTY") <= count, f"calls: {row}")
    trace.require(all(n & (n - 1) == 0 and n < TIMES for n in times), f"buckets: {row}")
    trace.require(sum(n * k for n, k in times.items()) <= max(ns, count), f"shorter than its buckets: {row}")
    trace.require(ns < sum(2 * n * k for n, k in times.items()), f"longer than its buckets: {row}")
    trace.require(max(times) <= max(longest, 1) < min(2 * max(times), least + 1), f"the longest: {row}")
    trace.require(trace.file(row["FID"])["TYPE"] == "reg", f"not a file: {row}")


def has_reason(trace, row, least):
    return (row.n("LAT_NS") >= least or row["DISK_BYTES"] != "0" or row.ret is None or row.ret < 0
            or row["FUNC"] in tracefolder.BETWEEN_TWO or ":" in row["FUNC"] or row["FUNC"] == "io_submit"
            or {"DIRECT", "SYNC"} & set(row["FLAGS"].split("|")) or row["FID"] == "-"
            or trace.file(row["FID"])["TYPE"] != "reg")


def check_tally(trace, path, pids, folder):
    with open(pids, encoding="ascii") as f:
        pids = f.readline().split()[1:]
    got = tally.counted(tally.between_marks(trace, pids))
    for row in trace["vfs_rw_sums"]:
        if row["PID"] in pids and f"/{folder}/" in trace.file(row["FID"])["REALPATH"]:
            got[row["FUNC"]][0] += row.n("COUNT")
            got[row["FUNC"]][3] += row.n("BYTES")
    want = tally.wanted(path)
    for func in sorted({*want, *got}):
        for i in 0, 1, 3, 4:  # sums have no REQUESTED
            trace.require(got[func][i] == want.get(func, [0] * 5)[i], f"{func}: {want.get(func)}, got {got[func]}")


def check_job(trace, path):
    """WANT: NAME R|W CALLS BYTES EMPTY HOW of each file, HOW: rows, sums or either."""
    rows, sums = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for row in trace["vfs_rw"]:
        if row.ret is not None and row.ret >= 0:
            rows[row["FILE"], row["RW"]].update(calls=1, bytes=row.ret, empty=row.ret == 0)
    for row in trace["vfs_rw_sums"]:
        sums[row["FILE"], row["RW"]].update(calls=row.n("COUNT"), bytes=row.n("BYTES"), empty=row.n("EMPTY"))
    with open(path, encoding="ascii") as f:
        for line in csv.reader(f, delimiter=" "):
            name, rw, *numbers, how = line
            by_row, by_sum = rows[name, rw], sums[name, rw]
            got = [by_row[n] + by_sum[n] for n in ("calls", "bytes", "empty")]
            trace.require(got == [int(n) for n in numbers], f"{line}: {by_row} by rows, {by_sum} by sums")
            trace.require(how != "rows" or not by_sum, f"{line}: {by_sum} are in sums")
            trace.require(how != "sums" or by_sum, f"{line}: all have rows")


def main():
    folder, least, mode, *rest = sys.argv[1:]
    least = int(least)
    trace = tracefolder.Trace(folder)
    for row in trace["vfs_rw_sums"]:
        check_sum(trace, row, least)
    counters = trace.counters["vfs_rw"]
    summed = sum(row.n("COUNT") for row in trace["vfs_rw_sums"])
    trace.require(summed == counters["brief"], f"{summed} in sums, {counters['brief']} without a row")
    without = [row for row in trace["vfs_rw"] if not has_reason(trace, row, least)]
    few = 50 * len(without) < summed  # several sums may want one place
    trace.require(rest[-1] == "some" or (bool(without) if rest[-1] == "full" else few), f"{len(without)} rows without a reason: {without[:3]}")
    if mode == "tally":
        check_tally(trace, *rest[:3])
    else:
        check_job(trace, rest[0])
    trace.finish()


if __name__ == "__main__":
    main()
