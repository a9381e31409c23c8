# SPDX-License-Identifier: BSD-2-Clause
"""min_latency: what a cached read costs that has no row (start --min-latency), beside one with a row, in interleaved rounds,
as a part of docs/performance.md.

min_latency [-r ROUNDS] [-n TIMES] [-p PAGE]

pread64 of 4 KiB from the page cache (load.c): untraced, with a row each, and only summed. Prints a table, and writes it
into PAGE between its marks. The status is 1 where dltraced lost rows, or where reads have rows with the option.
"""
import json
import os
import sys

import bench
import goals
import machine
import measure
import page
import tracers
import workloads

BEGIN, END = "<!-- BENCH=min_latency tests/bench/run -->", "<!-- end of min_latency -->"
BLOCK = 100  # calls of the best so many in a row count: those that nobody has interrupted
UNTRACED, ROWS, SUMS = "none", "dltraced", "dltraced --min-latency 100us"
SHARE, OWN = 45, 10  # goals: of a read with a row, in %; of the workload's CPU time, in %


def ways():
    """Returns {name: tracer}."""
    def summed(run, load):
        return tracers.dltraced(run, load, "--min-latency", "100us")
    ours = tracers.tracer(ROWS)
    return {UNTRACED: tracers.tracer(UNTRACED), ROWS: ours, SUMS: ours._replace(name=SUMS, argv=summed)}


def one(b, tracer, times):
    """Returns the CPU ns of a call, dltraced's own in percent of the workload's, rows of reads, and rows lost."""
    run = measure.Run(b, tracer, workloads.Workload("reads", "reads", ("pread64",), times, split=False))
    run.block = BLOCK
    with measure.gated(run) as (gate, log):
        got, status = measure.traced(run, gate, log)
    measure.require_ok(run, status)
    with open(run.path("result"), encoding="utf-8") as f:
        result = json.load(f)
    if tracer.name == UNTRACED:
        return result["least_ns"], 0, 0, 0
    with open(run.path("trace/manifest.json"), encoding="utf-8") as f:
        rows = next(p["rows"] for p in json.load(f)["probes"] if p["name"] == "vfs_rw")
    return result["least_ns"], 100 * got["tracer_cpu_ns"] / (result["cpu_ns"] * times), rows, measure.losses(run, {})


def table(rounds):
    added = {way: [r[way][0] - r[UNTRACED][0] for r in rounds] for way in (ROWS, SUMS)}
    shares = [100 * brief / full for brief, full in zip(added[SUMS], added[ROWS])]
    own = {way: [r[way][1] for r in rounds] for way in (ROWS, SUMS)}
    yield ["untraced", page.spread([r[UNTRACED][0] for r in rounds]), "", "", ""]
    yield [ROWS, page.spread([r[ROWS][0] for r in rounds]), page.spread(added[ROWS]), "", page.spread(own[ROWS])]
    yield [SUMS, page.spread([r[SUMS][0] for r in rounds]), page.spread(added[SUMS]),
           f"{page.spread(shares)}, {goals.verdict(share <= SHARE for share in shares)}",
           f"{page.spread(own[SUMS])}, {goals.verdict(share <= OWN for share in own[SUMS])}"]


def main():
    args = page.options("-n", "--times", 2000000)
    before, alone, of, few = os.getloadavg()[0], machine.Alone(), ways(), True

    def measured(way):
        nonlocal few
        alone.wait()
        *got, lost = one(b, of[way], args.times)
        few &= way != SUMS or got[2] < args.times / 100
        return got, lost

    def summary(this):
        return ", ".join(f"{way} {got[0]:.0f} ns, own {got[1]:.1f} %, {got[2]} rows" for way, got in this.items())
    with bench.of_few_files() as b, bench.in_front(figures=args.times >= 1000):
        b.take_disk()
        rounds, loads, lost = bench.interleaved(args.rounds, list(of), measured, summary)
    heading = (machine.heading(f"{len(rounds)} rounds of {args.times} reads each", before, loads)
               + f" Rows lost: {lost}." + alone.note())
    rows = [["reads of 4 KiB", "CPU ns", "added", f"% of a row's; goal: {SHARE}", f"own CPU, %; goal: {OWN}"], *table(rounds)]
    page.show(args, "\n".join([heading, "", *page.table(rows[0], rows[1:])]), BEGIN, END)
    sys.exit(lost != 0 or not few)


if __name__ == "__main__":
    main()
