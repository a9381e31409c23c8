# SPDX-License-Identifier: BSD-2-Clause
"""meta FOLDER TALLY COUNTS [all|slow|full]: the sums of meta_sums.out are those that the workload "meta" has in TALLY and
strace -c in COUNTS; "-" or an empty file: none.

all: each call has a row, too. slow: a flock that waited has one. full: 33500 calls of access are in sums or are lost.
"""
import collections
import os
import sys

import tracefolder

# All calls that meta has by its help, apart from what only newer kernels know
FUNCS = set("""access chdir chmod chown dup dup2 dup3 faccessat faccessat2 fadvise64 fchdir fchmod fchmodat fchown fchownat
    fcntl fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstatfs futimesat getdents getdents64 getxattr ioctl
    lchown lgetxattr listxattr llistxattr lremovexattr lseek lsetxattr lstat newfstatat readahead readlink readlinkat
    removexattr setxattr stat statfs statx utime utimensat utimes""".split())


def tally_of(path):
    """Returns the calls and failures by (FUNC, REQUEST, FOLDER), of all threads."""
    with open(path, encoding="ascii") as f:
        threads = int(next(f))
        rows = [line.rstrip("\n").split("\t") for line in f]
    return {(func, request, folder): (threads * int(calls), threads * int(failed))
            for func, request, calls, failed, folder in rows}


def strace_counts(path):
    """Returns the calls and failures by name."""
    if path == "-" or not os.path.exists(path):
        return {}
    with open(path, encoding="ascii") as f:
        words = [line.split() for line in f]
    return {w[0]: (int(w[1]), int(w[2]) if len(w) == 3 else 0) for w in words
            if len(w) in (2, 3) and w[1].isdigit() and w[0] != "total"}


def main():
    mode = sys.argv[4] if len(sys.argv) > 4 else ""
    trace = tracefolder.Trace(sys.argv[1], may_lose=["meta_sums"] if mode == "full" else [])
    calls, by_func = collections.Counter(), collections.Counter()
    first = next(row["PID"] for row in trace["pids"] if row["EVENT"] == "exec")
    sums = collections.defaultdict(collections.Counter)
    for row in trace["meta_sums"]:
        count, failed = row.n("COUNT"), row.n("FAILED")
        trace.require(failed <= count and row.n("MAX_NS") > 0, f"a sum: {row}")
        trace.require((row["ERRNO"] == "-") <= (failed == 0), f"failures without an error: {row}")
        by_func[row["FUNC"]] += count
        by_func[row["FUNC"], "failed"] += failed
        if row["PID"] != first:
            sums[row["FUNC"], row["REQUEST"], row["DIR"]].update(count=count, failed=failed)
        calls["all"] += count
    lost = trace.counters["meta_sums"]["lost"]
    trace.require((lost > 0) == (mode == "full"), f"{lost} lost")
    counters = trace.counters["meta"]
    made = counters["calls"] + counters.get("brief", 0) - counters["lost"]
    trace.require(calls["all"] + lost == made, f"{calls['all']} in sums, {lost} lost, {made} calls")

    for key, want in (tally_of(sys.argv[2]) if sys.argv[2] != "-" else {}).items():
        got = sums[key]["count"], sums[key]["failed"]
        trace.require(got == want, f"{key}: {got}, the workload made {want}")
    by_strace = strace_counts(sys.argv[3])
    for func in by_strace and {name for name in by_func if isinstance(name, str)} | FUNCS & set(by_strace):
        got = by_func[func], by_func[func, "failed"]
        trace.require(got == by_strace.get(func), f"{func}: {got}, strace {by_strace.get(func)}")

    rows = trace["meta"]
    if mode == "all":
        trace.require(len(rows) == calls["all"], f"{len(rows)} rows of {calls['all']} calls")
        of_rows = collections.Counter(row["FUNC"] for row in rows)
        trace.require(all(of_rows[f] == by_func[f] for f in of_rows), "rows of another call")
    else:
        trace.require(all(row.n("LAT_NS") >= 10**6 for row in rows), "a row of a short call")
    if mode == "slow":
        trace.require(any(row["FUNC"] == "flock" and row.n("LAT_NS") >= 5 * 10**7 and row["FILE"] == "lock"
                          for row in rows), "the flock that waited has no row")
    access = "access" if by_func["access"] else "faccessat"  # where there is no access, as on arm64
    if mode == "full":
        trace.require(by_func[access] + lost >= 33500 > by_func[access], f"{by_func[access]} of {access}")
    trace.finish()


main()
