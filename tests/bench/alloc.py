# SPDX-License-Identifier: BSD-2-Clause
"""alloc: what a pair of malloc and free costs more under --probes +alloc, in interleaved rounds, as a part of
docs/performance.md.

alloc [-r ROUNDS] [-n TIMES] [-p PAGE]

The blocks are of 64 bytes, or of 8 KiB (load.c), or Python's (alloc_load.py), and all calls are of one place. Beside it
others that trace allocations, in the same rounds: a preload that logs text (peers/alloc_shim.c), and where they are
installed heaptrack, bpftrace and memray (build/peers-memory). Prints tables, and writes them into PAGE between its marks.
The status is 1 where dltraced lost rows. Below 20000 TIMES nothing is a figure, and there are no others.
"""
import os
import platform
import sys
from statistics import median
from typing import NamedTuple

import bench
import goals
import machine
import measure
import page
import tracers
import workloads

BEGIN, END = "<!-- BENCH=alloc tests/bench/run -->", "<!-- end of alloc -->"
LEAST_TIMES = 20000  # for a figure
BLOCK = 1000  # pairs of the best so many in a row count: those that nobody has interrupted
SMALL, LARGE = "small-blocks", "large-blocks"
PYTHON, DEEP, CALLED, NO_GIL = "python", "python-deep", "python-called", "python-nogil"
PYTHON_LOAD = os.path.join(tracers.HERE, "alloc_load.py")


def alloc(*options):
    return lambda run, load: [tracers.DLTRACED, "start", "-q", "--report=none", "--collectors", "none", "--min-free", "0",
                              "--buffer", "256M", "-P", "alloc", *options, "-o", run.path("trace"), "--", *load]


# name, pattern, options, goal in ns; None: untraced
CELLS = {
    "64 bytes, below the default of 4K: counted": (SMALL, ("--alloc", "sites=native"), 10),
    "64 bytes, --alloc min=0, no stacks": (SMALL, ("--alloc", "min=0,sites=none"), 60),
    "64 bytes, --alloc min=0, callers": (SMALL, ("--alloc", "min=0,sites=caller"), None),
    "64 bytes, --alloc min=0, stacks": (SMALL, ("--alloc", "min=0"), 100),
    "8 KiB, stacks": (LARGE, (), 100),
    "a bytearray, --alloc min=0, Python's lines, 8 frames": (PYTHON, ("--alloc", "min=0"), 150),
    "the same, native stacks": (PYTHON, ("--alloc", "min=0,sites=native"), None),
    "a bytearray, --alloc min=0, Python's lines, 32 frames": (DEEP, ("--alloc", "min=0"), None),
    "a bytearray in a call of a function, Python's lines, 9 frames": (CALLED, ("--alloc", "min=0"), None),
    "malloc by ctypes without the GIL, not in the first thread": (NO_GIL, ("--alloc", "min=0"), None),
}


# Another Python, which has memray: the patterns for it have untraced cells of their own.
MEMRAY_PYTHON = os.path.join(os.path.realpath(tracers.BUILD), "peers-memory/bin/python3")
OF_MEMRAY = {"memray python": PYTHON, "memray python-called": CALLED}
SHIM = os.path.realpath(os.path.join(tracers.BUILD, "bench/alloc_shim.so"))
BPFTRACE = os.path.join(tracers.HERE, "peers/alloc.bt")


class Peer(NamedTuple):
    pattern: str
    tracer: tracers.Tracer
    ours: str  # the cell of CELLS that records as much


def shim(**settings):
    return tracers.Tracer("preload", lambda run, load: load, "shim", "", needs=SHIM,
                          env=lambda run: {"LD_PRELOAD": SHIM, "SHIM_LOG": run.path("log_of"), **settings})


MEMRAY = tracers.Tracer("memray", lambda run, load: [load[0], "-m", "memray", "run", "-q", "-o", run.path("out"), *load[2:]],
                        "none", "", needs=MEMRAY_PYTHON)
PEERS = {
    "a preload that logs text from 4 KiB on: 64 bytes": Peer(
        SMALL, shim(SHIM_MIN="4096"), "64 bytes, below the default of 4K: counted"),
    "the same: 8 KiB": Peer(LARGE, shim(SHIM_MIN="4096"), "8 KiB, stacks"),
    "the same, with 8 frames: 8 KiB": Peer(LARGE, shim(SHIM_MIN="4096", SHIM_FRAMES="8")._replace(part=10), "8 KiB, stacks"),
    "heaptrack: 64 bytes": Peer(
        SMALL, tracers.Tracer("heaptrack", lambda run, load: ["heaptrack", *load], "none", ""),
        "64 bytes, --alloc min=0, stacks"),
    "bpftrace, uprobes on malloc and free: 64 bytes": Peer(
        SMALL, tracers.Tracer("bpftrace", lambda run, load: ["bpftrace", "-p", str(run.load_pid), "-o", run.path("out"), BPFTRACE],
                              "none", "", part=20, attaches=True), "64 bytes, --alloc min=0, no stacks"),
    "memray: a bytearray": Peer("memray python", MEMRAY, "a bytearray, --alloc min=0, Python's lines, 8 frames"),
    "memray: a bytearray in a call of a function": Peer(
        "memray python-called", MEMRAY, "a bytearray in a call of a function, Python's lines, 9 frames"),
}


class AllocRun(measure.Run):
    def load(self):
        pattern = self.workload.pattern
        if pattern in (SMALL, LARGE):
            return super().load()
        python = MEMRAY_PYTHON if pattern in OF_MEMRAY else sys.executable
        return [python, "-B", PYTHON_LOAD, "-n", str(self.times), "-b", str(BLOCK), "-g", self.path("gate"),
                "-o", self.path("result"), OF_MEMRAY.get(pattern, pattern)]


def one(b, tracer, pattern, times):
    """(CPU ns of a pair, rows lost)"""
    run = AllocRun(b, tracer, workloads.Workload(pattern, pattern, (), times, split=True))
    run.block = BLOCK
    return measure.least(run)


def peers_of(args):
    """Those of PEERS that can be measured here."""
    missing = {name: peer.tracer.missing() for name, peer in PEERS.items()} if args.times >= LEAST_TIMES else {}
    for name, why in missing.items():
        if why:
            bench.say(f"alloc: without {name}: {why}")
    return {name: PEERS[name] for name, why in missing.items() if not why}


def run_rounds(args, b, peers):
    """What bench.interleaved() returns, of cells, peers and patterns."""
    untraced = tracers.tracer("none")
    patterns = dict.fromkeys([pattern for pattern, _, _ in CELLS.values()] + [peer.pattern for peer in peers.values()])
    runs = {pattern: (untraced, pattern) for pattern in patterns}
    for name, (pattern, options, _) in CELLS.items():
        runs[name] = tracers.Tracer("dltraced", alloc(*options), "dltraced", "", needs=tracers.DLTRACED), pattern
    for name, peer in peers.items():
        runs[name] = peer.tracer, peer.pattern
    return bench.interleaved(args.rounds, list(runs), lambda name: one(b, *runs[name], args.times),
                             lambda this: ", ".join(f"{name}: {added(this, name):.1f} ns" for name in [*CELLS, *peers]))


def added(this, name):
    return this[name] - this[CELLS[name][0] if name in CELLS else PEERS[name].pattern]


def table(rounds):
    for name, (pattern, _, goal) in CELLS.items():
        more = [added(r, name) for r in rounds]
        met = "" if goal is None else goals.verdict(ns <= goal for ns in more)
        yield [name, page.number(median(r[pattern] for r in rounds)), page.spread(more), str(goal or ""), met]


def peer_table(rounds, peers):
    for name, peer in peers.items():
        yield [name, page.number(median(r[peer.pattern] for r in rounds)), page.spread([added(r, name) for r in rounds]), peer.ours,
               page.spread([added(r, name) / added(r, peer.ours) for r in rounds])]


def main():
    args = page.options("-n", "--times", 200000)
    before = os.getloadavg()[0]
    peers = peers_of(args)
    with bench.of_few_files() as b, bench.in_front(figures=args.times >= LEAST_TIMES):
        rounds, loads, lost = run_rounds(args, b, peers)
    heading = (machine.heading(f"{len(rounds)} rounds of {args.times} pairs", before, loads) + f" Rows lost: {lost}."
               f" Python {platform.python_version()}.")
    cells, others = list(table(rounds)), list(peer_table(rounds, peers))
    text = "\n".join([
        heading, "",
        *page.table(["pairs of malloc and free", "CPU ns of a pair, untraced", "added by alloc", "goal", ""], cells),
        *page.table(["others", "CPU ns of a pair, untraced", "added by it", "beside dltraced with", "times as much"], others)])
    summary = "\n".join([
        heading, "",
        *page.table(["pairs of malloc and free", "CPU ns of a pair, untraced", "added by alloc"],
                    [[what, untraced, page.with_verdict(more, met)] for what, untraced, more, _, met in cells]),
        *page.table(["others", "added by it", "times what dltraced adds for as much"],
                    page.few((row for row in others if not row[0].startswith("the same")), (0, 2, 4)))])
    page.show(args, text, BEGIN, END, summary)
    sys.exit(lost != 0)


if __name__ == "__main__":
    main()
