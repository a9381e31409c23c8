# SPDX-License-Identifier: BSD-2-Clause
"""alloc: what a pair of malloc and free costs more under --probes +alloc, in interleaved rounds, as a part of
docs/performance.md.

alloc [-r ROUNDS] [-n TIMES] [-p PAGE]

The blocks are of 64 bytes, or of 8 KiB (load.c), or Python's (alloc_load.py), and all calls are of one place. Prints a
table, and writes it into PAGE between its marks. The status is 1 where dltraced lost rows.
"""
import os
import platform
import sys
from statistics import median

import bench
import goals
import machine
import measure
import page
import tracers
import workloads

BEGIN, END = "<!-- BENCH=alloc tests/bench/run -->", "<!-- end of alloc -->"
BLOCK = 1000  # pairs of the best so many in a row count: those that nobody has interrupted
SMALL, LARGE = "small-blocks", "large-blocks"
PYTHON, DEEP, NO_GIL = "python", "python-deep", "python-nogil"
PYTHON_LOAD = os.path.join(tracers.HERE, "alloc_load.py")


def alloc(*options):
    return lambda run, load: [tracers.DLTRACED, "start", "-q", "--no-report", "--collectors", "none", "--min-free", "0",
                              "--buffer", "256M", "-P", "alloc", *options, "-o", run.path("trace"), "--", *load]


# name, pattern, options, goal in ns; None: untraced
CELLS = {
    "64 bytes, below the default --alloc-min of 4K: counted": (SMALL, ("--alloc-sites", "native"), 10),
    "64 bytes, --alloc-min 0, no stacks": (SMALL, ("--alloc-min", "0", "--alloc-sites", "none"), 60),
    "64 bytes, --alloc-min 0, callers": (SMALL, ("--alloc-min", "0", "--alloc-sites", "caller"), None),
    "64 bytes, --alloc-min 0, stacks": (SMALL, ("--alloc-min", "0"), 100),
    "8 KiB, stacks": (LARGE, (), 100),
    "a bytearray, --alloc-min 0, Python's lines, 8 frames": (PYTHON, ("--alloc-min", "0"), 150),
    "the same, native stacks": (PYTHON, ("--alloc-min", "0", "--alloc-sites", "native"), None),
    "a bytearray, --alloc-min 0, Python's lines, 32 frames": (DEEP, ("--alloc-min", "0"), None),
    "malloc by ctypes without the GIL, not in the first thread": (NO_GIL, ("--alloc-min", "0"), None),
}


class AllocRun(measure.Run):
    def load(self):
        if self.workload.pattern in (PYTHON, DEEP, NO_GIL):
            return [sys.executable, "-B", PYTHON_LOAD, "-n", str(self.times), "-b", str(BLOCK), "-g", self.path("gate"),
                    "-o", self.path("result"), self.workload.pattern]
        return super().load()


def one(b, tracer, pattern, times):
    """(CPU ns of a pair, rows lost)"""
    run = AllocRun(b, tracer, workloads.Workload(pattern, pattern, (), times, split=False))
    run.block = BLOCK
    return measure.least(run)


def run_rounds(args, b):
    """What bench.interleaved() returns, of cells and patterns."""
    untraced = tracers.tracer("none")
    runs = {pattern: (untraced, pattern) for pattern in (SMALL, LARGE, PYTHON, DEEP, NO_GIL)}
    for name, (pattern, options, _) in CELLS.items():
        runs[name] = tracers.Tracer("dltraced", alloc(*options), "dltraced", "", needs=tracers.DLTRACED), pattern
    return bench.interleaved(args.rounds, list(runs), lambda name: one(b, *runs[name], args.times),
                             lambda this: ", ".join(f"{name}: {added(this, name):.1f} ns" for name in CELLS))


def added(this, name):
    return this[name] - this[CELLS[name][0]]


def table(rounds):
    for name, (pattern, _, goal) in CELLS.items():
        more = [added(r, name) for r in rounds]
        met = "" if goal is None else goals.verdict(ns <= goal for ns in more)
        yield [name, page.number(median(r[pattern] for r in rounds)), page.spread(more), str(goal or ""), met]


def main():
    args = page.options("-n", "--times", 200000)
    before = os.getloadavg()[0]
    with bench.of_few_files() as b, bench.in_front(figures=args.times >= 10000):
        rounds, loads, lost = run_rounds(args, b)
    text = "\n".join([
        machine.heading(f"{len(rounds)} rounds of {args.times} pairs", before, loads) + f" Rows lost: {lost}."
        f" Python {platform.python_version()}.", "",
        *page.table(["pairs of malloc and free", "CPU ns of a pair, untraced", "added by alloc", "goal", ""], table(rounds))])
    page.show(args, text, BEGIN, END)
    sys.exit(lost != 0)


if __name__ == "__main__":
    main()
