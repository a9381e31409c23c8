# SPDX-License-Identifier: BSD-2-Clause
"""parity TRACE PIDS: prints the rows of the workload "calls" so that two traces of it can be compared.

The output does not depend on the backend and the kernel. First comes a line for each function: rows, failures, bytes
requested and moved, sum of the errnos. Then a line for each kind of row (all its columns but times, addresses, and
numbers of processes, files and descriptors) with how often it was there; each worker must have had it equally often.
Paths are relative to the folder of the test. Last comes a line for each file name: lives (FIDs), and rows and bytes of
each function.
"""
import collections
import os
import re
import sys

import tally
import tracefolder

# Columns that depend on when and where the job ran, and on the hooks; of addresses and new descriptors, only whether
# there is one.
VOLATILE = {"TIMESTAMP", "TIME", "PID", "TID", "LAT_NS", "VFS_LAT_NS", "DISK_BYTES", "FID", "FID_BY"}
POSITIVE = {"ADDR", "OLD_ADDR", "RET", "FD", "LAST"}
WORKER = re.compile(r"\bworker\.(\d+)")
UNNAMED = re.compile(r"(?<=\\043)\d+|(?<=:\[)\d+(?=\])")  # of O_TMPFILE, of a pipe or socket


class Normal:
    """Rows without the values that differ between runs."""

    def __init__(self, trace):
        self.trace = trace
        self.base = os.path.realpath(".")

    def path(self, text):
        return UNNAMED.sub("N", text).replace(self.base, ".")

    def value(self, column, text):
        if column in POSITIVE and text not in "-?" and int(text, 0) > 0:
            return "+"
        return self.path(text)

    def row(self, name, row):
        fields = [f"{c}={self.value(c, text)}" for c, text in row.items() if c not in VOLATILE]
        if row.get("FID", "-") != "-":
            fields.append("IS=" + self.file(row["FID"]))
        return " ".join([name, *fields])

    def file(self, fid):
        """Returns a file's type and its first path."""
        first = self.trace.file(fid)
        return f"{first['TYPE']}:{self.path(first['REALPATH'])}"


def by_worker(trace, rows, normal):
    """Returns the kinds of rows of each thread; the paths in them show which worker it is."""
    kinds, worker = collections.defaultdict(collections.Counter), {}
    for name, row in rows:
        text = normal.row(name, row)
        for nr in WORKER.findall(text):
            trace.require(worker.setdefault(row["TID"], nr) == nr, f"of worker {worker[row['TID']]}: {row}")
        kinds[row["TID"]][WORKER.sub("worker", text)] += 1
    trace.require(len(set(worker.values())) == len(kinds), f"workers: {worker}")
    first = next(iter(kinds.values()))
    for tid, kind in kinds.items():
        for text in sorted({*first, *kind}):
            trace.require(first[text] == kind[text], f"of {first[text]} {kind[text]} in thread {tid}: {text}")
    return sum(kinds.values(), collections.Counter())


def by_file(rows, normal):
    lives = collections.defaultdict(set)
    sums = collections.defaultdict(lambda: collections.defaultdict(lambda: [0, 0]))
    for _, row in rows:
        if row.get("FID", "-") in "-?":
            continue
        name = WORKER.sub("worker", normal.file(row["FID"]))
        lives[name].add(row["FID"])
        count = sums[name][row["FUNC"] + (":" + row["RW"] if "RW" in row else "")]
        count[0] += 1
        if "RETURNED" in row:
            count[1] += max(row.ret or 0, 0)
    for name in sorted(sums):
        funcs = (f"{f}={n}/{moved}" for f, (n, moved) in sorted(sums[name].items()))
        yield f"file {name} lives={len(lives[name])} {' '.join(funcs)}"


def main():
    folder, output = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    with open(output, encoding="ascii") as f:
        pids = f.readline().split()[1:]
        lacks = f.readline().strip()
    rows = list(tally.between_marks(trace, pids))
    normal = Normal(trace)
    lines = [lacks]
    lines += [f"call {func} " + " ".join(map(str, sums)) for func, sums in sorted(tally.counted(rows).items())]
    lines += [f"row {n} {text}" for text, n in sorted(by_worker(trace, rows, normal).items())]
    lines += by_file(rows, normal)
    sys.stdout.write("".join(line + "\n" for line in lines))
    trace.finish()


main()
