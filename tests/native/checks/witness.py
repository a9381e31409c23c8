# SPDX-License-Identifier: BSD-2-Clause
"""witness TRACE SEEN [may-lose]: are the rows of COMM "calls", and those of bio.out, what bpftrace counted in the same boot?

SEEN is its JSON output (see tests/vm/scripts/witness.sh). May-lose: requests may be missing that are counted as lost.
x86-64.
"""
import collections
import json
import re
import sys

import tracefolder

NUMBERS = dict(
    read=0, write=1, open=2, close=3, mmap=9, munmap=11, brk=12, pread64=17, pwrite64=18, readv=19, writev=20,
    mremap=25, msync=26, madvise=28, sendfile=40, fsync=74, fdatasync=75, truncate=76, ftruncate=77, rename=82,
    mkdir=83, rmdir=84, creat=85, link=86, unlink=87, symlink=88, mknod=133, sync=162, io_submit=209,
    openat=257, mkdirat=258, mknodat=259, unlinkat=263, renameat=264, linkat=265, symlinkat=266,
    splice=275, sync_file_range=277, fallocate=285, preadv=295, pwritev=296, syncfs=306, renameat2=316,
    copy_file_range=326, preadv2=327, pwritev2=328, close_range=436, openat2=437)
BY_VFS = ("read", "pread64", "write", "pwrite64")


def summed(pairs):
    """Returns an object; of a map with equal-looking keys (bytes after a string's end differ), the sums."""
    result = {}
    for key, value in pairs:
        result[key] = result[key] + value if isinstance(value, int) and key in result else value
    return result


def witnessed(path):
    """Returns the maps at its end: name to content."""
    maps = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as f:
        for line in f:
            if line.startswith("{"):
                record = json.loads(line, object_pairs_hook=summed)
                if record["type"] == "map":
                    maps.update({k: v for k, v in record["data"].items() if isinstance(v, dict)})
    return maps


def check_calls(trace, seen):
    calls, failed, moved, submits = (collections.Counter() for _ in range(4))
    taken = set()
    for name, row in trace.calls():
        func = row["FUNC"]
        if row["COMM"] != "calls" or func == "create":
            continue
        if func.startswith("io_submit:"):
            taken.add(tracefolder.call_of(row))
            continue
        if func in tracefolder.BETWEEN_TWO and row["RW"] == "W":
            continue
        calls[func] += 1
        if row.ret < 0:
            failed[func] += 1
        elif name == "vfs_rw":
            moved[func] += row.ret
    calls["io_submit"] += len(taken)
    for func, nr in NUMBERS.items():
        for what, got in (("calls", calls), ("failed", failed)):
            want = seen["@" + what].get(str(nr), 0)
            trace.require(got[func] == want, f"{func}: {what}: {got[func]} rows, bpftrace saw {want}")
        want = seen["@moved"].get(str(nr), 0)
        if moved[func]:
            trace.require(moved[func] == want, f"{func}: {moved[func]} bytes, bpftrace saw {want}")
    trace.require(set(calls) <= set(NUMBERS), f"not in the table: {set(calls) - set(NUMBERS)}")
    for func in BY_VFS:
        want = seen["@vfs"].get(str(NUMBERS[func]))
        trace.require(moved[func] == want, f"{func}: {moved[func]} bytes, of calls that reach vfs_*() {want}")
    trace.require(sum(calls.values()) > 500, "next to nothing to compare")


def kind(rwbs):
    """Returns the operation in rwbs of the kernel's events: F for a flush before, the operation, then flags."""
    return re.fullmatch(r"F?([WDRNF])E?[FASM]*", rwbs).group(1)


def check_bio(trace, seen):
    got, want = collections.Counter(), collections.Counter()
    for row in trace["bio"]:
        got[row["T"], "requests"] += 1
        got[row["T"], "bytes"] += int(row["BYTES"].replace("-", "0"))
    got.update({(t, "bytes completed"): n for (t, what), n in got.items() if what == "bytes"})
    for name, what in (("@issued", "requests"), ("@issued_bytes", "bytes"), ("@done_bytes", "bytes completed")):
        for rwbs, n in seen[name].items():
            want[kind(rwbs), what] += n
    lost = trace.counters["bio"]["lost"]
    for key in sorted({*got, *want}):
        kind_, what = key
        least = 0 if lost and what != "requests" else want[key] - lost
        # The kernel does not run bpftrace's program in an interrupt during another such program.
        most = got[key] if what == "bytes completed" else want[key]
        trace.require(least <= got[key] <= most,
                      f"{kind_} {what}: {got[key]} in bio.out, {lost} lost, bpftrace saw {want[key]}")
    trace.require(got["R", "requests"] > 32 and got["W", "requests"] > 16, f"next to no requests: {got}")


def main():
    trace = tracefolder.Trace(sys.argv[1], may_lose=("bio", "pids") if "may-lose" in sys.argv[3:] else ())
    seen = witnessed(sys.argv[2])
    check_calls(trace, seen)
    check_bio(trace, seen)
    trace.finish()


main()
