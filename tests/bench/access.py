# SPDX-License-Identifier: BSD-2-Clause
"""access: what --probes +access costs a page fault, and the pages that are looked at, in interleaved rounds, as a part of
docs/performance.md.

access [-r ROUNDS] [-n PAGES] [-p PAGE]

The pages are those of tests/workloads/touches. Prints a table, and writes it into PAGE between its marks. The status is 1
where dltraced lost rows.
"""
import json
import os
import subprocess
import sys
from statistics import median

import bench
import goals
import machine
import page
import tracers

BEGIN, END = "<!-- BENCH=access tests/bench/run -->", "<!-- end of access -->"
TOUCHES = os.path.realpath(os.path.join(tracers.BUILD, "workloads/touches"))
FAULT, READ = "fault", "read"
ROUNDS, MS = "20", "2000"  # of one run
PAGES = ("--access", "pages,budget=100")

# name, what is measured, options, goal in ns
CELLS = {
    "a page fault, a read of new memory, --access faults": (FAULT, ("--access", "faults"), 250),
    "the same, --access interval=0: a row each": (FAULT, ("--access", "faults,interval=0"), None),
    "a page fault, --access pages": (FAULT, PAGES, None),
    "a read of a page, again and again, --access pages": (READ, PAGES, None),
}
LOADS = {FAULT: ["cost", "1", ROUNDS], READ: ["speed", "1", MS]}


def one(b, kind, options, pages):
    """(CPU ns of a fault or a read, rows lost, the manifest)"""
    trace = os.path.join(b.folder, "trace")
    load = [TOUCHES, *LOADS[kind], str(pages)]
    argv = load if options is None else [
        tracers.DLTRACED, "start", "-q", "--report=none", "--force", "--collectors", "none", "--min-free", "0", "--buffer", "256M",
        "-P", "access", *options, "-o", trace, "--", *load]
    out = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
    if options is None:
        return float(out), 0, None
    with open(os.path.join(trace, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    return float(out), sum(p["lost"] for p in manifest["probes"]), manifest


def run_rounds(args, b):
    runs = {kind: (kind, None) for kind in LOADS} | {name: cell[:2] for name, cell in CELLS.items()}
    looks = []

    def measured(name):
        ns, lost, manifest = one(b, *runs[name], args.pages)
        if runs[name][0] == READ and manifest:
            looks.append(manifest["access"]["cpu_us"] * 1e3 / manifest["access"]["looks"] / args.pages)
        return ns, lost

    got = bench.interleaved(args.rounds, list(runs), measured,
                            lambda this: ", ".join(f"{name}: {this[name] - this[CELLS[name][0]]:.1f} ns" for name in CELLS))
    return got, looks


def table(rounds, looks):
    for name, (kind, _, goal) in CELLS.items():
        more = [r[name] - r[kind] for r in rounds]
        met = "" if goal is None else goals.verdict(ns <= goal for ns in more)
        yield [name, page.number(median(r[kind] for r in rounds)), page.spread(more), str(goal or ""), met]
    yield ["dltraced, for each page of 4 KiB at each look", "", page.spread(looks), "150", goals.verdict(ns <= 150 for ns in looks)]


def main():
    args = page.options("-n", "--pages", 25600)
    before = os.getloadavg()[0]
    with bench.of_few_files() as b, bench.in_front(figures=args.pages >= 10000):
        (rounds, loads, lost), looks = run_rounds(args, b)
    heading = machine.heading(f"{len(rounds)} rounds, {args.pages} pages", before, loads) + f" Rows lost: {lost}."
    rows = [["what is done", "CPU ns, untraced", "added by access", "goal", ""], *table(rounds, looks)]
    few = [[what, untraced, page.with_verdict(more, met)] for what, untraced, more, _, met in rows]
    text, summary = ("\n".join([heading, "", *page.table(some[0], some[1:])]) for some in (rows, few))
    page.show(args, text, BEGIN, END, summary)
    sys.exit(lost != 0)


if __name__ == "__main__":
    main()
