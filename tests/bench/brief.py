# SPDX-License-Identifier: BSD-2-Clause
"""brief: what calls cost that have no row each, but are summed in the kernel, in interleaved rounds, as a part of
docs/performance.md.

brief [-r ROUNDS] [-n TIMES] [-p PAGE]

One call (load.c), again and again: untraced, under DFTracer with metadata (where it is installed; it does not see all of
them), with all other probes, and with those that sum up as well. With BENCH_BEFORE, another dltraced takes part. Prints a
table, and writes it into PAGE between its marks. The status is 1 where dltraced lost rows.
"""
import os
import sys
from statistics import median

import bench
import goals
import machine
import measure
import page
import sizes
import tracers
import workloads

BEGIN, END = "<!-- BENCH=brief tests/bench/run -->", "<!-- end of brief -->"
BLOCK = 100  # calls of the best so many in a row count: those that nobody has interrupted
SUMS = "meta", "meta_sums", "net", "sockets", "waits"
GOAL = 250  # ns of a call that is only summed
UNTRACED, DFTRACER, OTHERS, ALL, BEFORE = "none", "DFTracer, with metadata", "dltraced, without these probes", "dltraced", "dltraced before"
PATTERNS = {"lseek": "lseek", "stat": "stat", "fstat": "fstat", "getdents": "getdents64", "dup": "dup3", "fcntl": "fcntl",
            "ioctl": "ioctl", "tcp": "send, recv (TCP)", "others": "getppid, which nobody traces"}
SUMMED = tuple(name for name in PATTERNS if name != "others")


def ways():
    """Returns {name: tracer}."""
    ours = tracers.tracer(ALL)

    def others(run, load):
        return tracers.dltraced(run, load, without=SUMS)

    def theirs(run):
        return sizes.dftracer(library, run.path("dftracer"), True)
    found, library = {UNTRACED: tracers.tracer(UNTRACED)}, sizes.preload()
    if library:
        found[DFTRACER] = tracers.Tracer(DFTRACER, lambda run, load: load, "shim", "", env=theirs)
    found.update({OTHERS: ours._replace(argv=others), ALL: ours})
    if tracers.BEFORE:
        found[BEFORE] = tracers.tracer(BEFORE)
    return found


def run_rounds(args, b, alone):
    """What bench.interleaved() returns, of (pattern, way)."""
    of = ways()
    cells = [(pattern, way) for pattern in PATTERNS for way in of]

    def measured(cell):
        pattern, way = cell
        alone.wait()
        run = measure.Run(b, of[way], workloads.Workload(pattern, pattern, (), args.times, split=False))
        run.block = BLOCK
        return measure.least(run)

    def summary(this):
        return ", ".join(f"{pattern} {added(this, pattern, ALL):.0f} ns" for pattern in PATTERNS)

    return bench.interleaved(args.rounds, cells, measured, summary)


def added(this, pattern, way, to=UNTRACED):
    return this[pattern, way] - this[pattern, to]


def table(rounds):
    for pattern, what in PATTERNS.items():
        sums = [added(r, pattern, ALL, OTHERS) for r in rounds]
        yield [what, page.number(median(r[pattern, UNTRACED] for r in rounds)),
               *(page.spread([added(r, pattern, way) for r in rounds]) for way in ways() if way != UNTRACED),
               page.spread(sums) + (f", {goals.verdict(ns <= GOAL for ns in sums)}" if pattern in SUMMED else "")]


def main():
    args = page.options("-n", "--times", 100000)
    before, alone = os.getloadavg()[0], machine.Alone()
    with bench.of_few_files() as b, bench.in_front(figures=args.times >= 1000):
        b.take_disk()
        rounds, loads, lost = run_rounds(args, b, alone)
    rows = [["call", "CPU ns", *(f"more by {way}" for way in ways() if way != UNTRACED),
             f"of that, by the sums; goal: {GOAL}"], *table(rounds)]
    heading = (machine.heading(f"{len(rounds)} rounds of {args.times} times each", before, loads) + f" Rows lost: {lost}."
               + alone.note())
    in_docs = [i for i, name in enumerate(rows[0]) if OTHERS not in name and BEFORE not in name]
    rows_in_docs = page.few([row for row in rows if row[0] != PATTERNS["others"]], in_docs)
    text, summary = ("\n".join([heading, "", *page.table(some[0], some[1:])]) for some in (rows, rows_in_docs))
    page.show(args, text, BEGIN, END, summary)
    sys.exit(lost != 0)


if __name__ == "__main__":
    main()
