# SPDX-License-Identifier: BSD-2-Clause
"""tally TRACE TALLY PIDS: are the rows of the workload "calls" what it counted itself?

TALLY and PIDS are its -T file and its output (see tests/workloads/calls.c).
"""
import collections
import csv
import sys

import tracefolder

COLUMNS = ("CALLS", "FAILS", "REQUESTED", "RETURNED", "ERRNO_SUM")
LENGTH = {"vfs_rw": "REQUESTED", "mmap": "LEN", "sync": "LEN"}  # the columns that correspond to the tally's REQUESTED
PLAIN = ("read", "write", "readv", "writev")


def wanted(path):
    """Returns the tally without io_submit: a call that took its iocbs has their rows instead of its own."""
    with open(path, encoding="ascii") as f:
        want = {row["FUNC"]: [int(row[c]) for c in COLUMNS] for row in csv.DictReader(f, delimiter="\t")}
    if "io_submit" in want:
        want["io_submit"][0] = want["io_submit"][1]
    return want


def between_marks(trace, pids):
    """Returns the tallied rows; the two marks are opens that fail, made while all other threads wait."""
    begin, end = ([row.n("TIMESTAMP") for row in trace["open"] if row["PATH"] == name]
                  for name in ("MARK_BEGIN", "MARK_END"))
    if not trace.require(len(begin) == len(end) == 1, f"marks: {begin} {end}"):
        trace.finish()
    for name, row in trace.calls():
        if begin[0] < row.n("TIMESTAMP") < end[0] and row["PID"] in pids:
            yield name, row


def counted(rows):
    got = collections.defaultdict(lambda: [0] * len(COLUMNS))
    for name, row in rows:
        if row["FUNC"] in tracefolder.BETWEEN_TWO and row["RW"] == "W":
            continue  # the second row of a call
        sums = got[row["FUNC"]]
        sums[0] += 1
        sums[2] += int(row.get(LENGTH.get(name), "-").replace("-", "0"))
        if row.ret is not None and row.ret < 0:
            sums[1] += 1
            sums[4] -= row.ret
        elif name == "vfs_rw":
            sums[3] += row.ret or 0
    return got


def moves(row, position):
    """Whether the call uses the file's own position. preadv2 and pwritev2 do so with -1."""
    if row["FUNC"] in ("preadv2", "pwritev2"):
        return row.n("OFFSET") == position and "APPEND" not in row["FLAGS"]
    return row["FUNC"] in PLAIN or (row["FUNC"] == "sendfile" and row["RW"] == "W")


def check_positions(trace, pids):
    """Follows every descriptor of a regular file from its open on: the processes PIDS neither seek nor dup."""
    position, checked = {}, 0
    rows = [(name, row) for name, row in trace.calls()
            if name in ("open", "vfs_rw") and row["PID"] in pids and row.ret is not None and row.ret >= 0]
    for name, row in sorted(rows, key=lambda r: r[1].n("TIMESTAMP")):
        if name == "open":
            position[row["PID"], row["RET"]] = 0
            continue
        key = row["PID"], row["FD"]
        if key in position and trace.file(row["FID"])["TYPE"] == "reg" and moves(row, position[key]):
            if row["RW"] == "R" or "APPEND" not in row["FLAGS"]:
                trace.require(row.n("OFFSET") == position[key], f"not at {position[key]}: {row}")
            position[key] = row.n("OFFSET") + row.ret
            checked += 1
    trace.require(checked > 0, "no position was checked")


def main():
    folder, tally, pids = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    with open(pids, encoding="ascii") as f:
        pids = f.readline().split()[1:]
    want, got = wanted(tally), counted(between_marks(trace, pids))
    for func in sorted({*want, *got}):
        trace.require(got[func] == want.get(func), f"{func}: counted {want.get(func)}, rows {got[func]}")
    check_positions(trace, pids)
    trace.finish()


if __name__ == "__main__":
    main()
