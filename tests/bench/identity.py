# SPDX-License-Identifier: BSD-2-Clause
"""identity: what it costs to know which file a call is of, in interleaved rounds, as a part of docs/performance.md.

identity [-r ROUNDS] [-n TIMES] [-p PAGE]

The same calls (load.c) are made on file systems whose inodes say which file they are, and on others, where that is looked
for elsewhere. Prints a table, and writes it into PAGE between its marks. The status is 1 where dltraced lost rows.
"""
import contextlib
import os
import subprocess
import sys
from statistics import median

import bench
import machine
import measure
import page
import tracers
import workloads

BEGIN, END = "<!-- BENCH=identity tests/bench/run -->", "<!-- end of identity -->"
IN_DOCS = 0, 1, 2, 3  # the columns of the table that docs/performance.md has
BLOCK = 100  # calls of the best so many in a row count: those that nobody has interrupted
PATTERNS = {"reads": "read", "names": "names"}
PLAIN = "tmpfs"
TRACERS = ("none", "dltraced")


class Folders:
    """A folder on each kind of file system that can be had here."""

    def __init__(self, b):
        self.top, self.mounted = os.path.join(b.folder, "fs"), []
        self.paths = {}
        for kind in (PLAIN, "overlayfs", "btrfs"):
            path = os.path.join(self.top, kind)
            os.makedirs(path)
            try:
                {PLAIN: self.tmpfs, "btrfs": self.btrfs}.get(kind, self.overlay)(path)
            except (OSError, subprocess.CalledProcessError) as e:
                bench.say(f"{kind}: absent ({e})")
                continue
            self.fill(path)
            self.paths[kind] = path

    def mount(self, path, *argv):
        subprocess.run(["mount", *argv, path], check=True, capture_output=True)
        self.mounted.append(path)

    def tmpfs(self, path):
        self.mount(path, "-t", "tmpfs", "tmpfs")

    def overlay(self, path):
        below = {name: os.path.join(self.paths[PLAIN], name) for name in ("lower", "upper", "work")}
        for folder in below.values():
            os.mkdir(folder)
        self.mount(path, "-t", "overlay", "-o", ",".join(f"{name}dir={folder}" for name, folder in below.items()), "overlay")

    def btrfs(self, path):
        image = os.path.join(self.top, "image")
        with open(image, "wb") as f:
            f.truncate(256 << 20)
        subprocess.run(["mkfs.btrfs", "-q", image], check=True, capture_output=True,
                       env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin:/sbin"))
        self.mount(path, "-o", "loop", image)

    @staticmethod
    def fill(path):
        os.mkdir(os.path.join(path, "new"))
        with open(os.path.join(path, "data"), "wb") as f:
            f.write(bytes(1 << 20))

    def close(self):
        for path in reversed(self.mounted):
            subprocess.run(["umount", path], check=True)


def one(b, name, pattern, folder, times):
    """(CPU ns of a call, rows lost)"""
    run = measure.Run(b, tracers.tracer(name), workloads.Workload(pattern, pattern, (), times, split=False))
    run.block, run.data = BLOCK, folder
    return measure.least(run)


def run_rounds(args, b, folders):
    """What bench.interleaved() returns, of (kind, pattern, tracer)."""
    cells = [(kind, pattern, name) for kind in folders.paths for pattern in PATTERNS for name in TRACERS]

    def measured(cell):
        kind, pattern, name = cell
        return one(b, name, pattern, folders.paths[kind], args.times)

    def summary(this):
        return ", ".join(f"{kind} {pattern} {added(this, kind, pattern):.0f} ns" for kind, pattern, name in cells
                         if name != "none")

    return bench.interleaved(args.rounds, cells, measured, summary)


# --- figures --------------------------------------------------------------------------------------

def added(this, kind, pattern):
    return this[kind, pattern, "dltraced"] - this[kind, pattern, "none"]


def table(rounds, kinds):
    for pattern, what in PATTERNS.items():
        for kind in kinds:
            more = [added(r, kind, pattern) for r in rounds]
            yield [what, kind, page.number(median(r[kind, pattern, "none"] for r in rounds)), page.spread(more),
                   page.spread([1 + ns / r[kind, pattern, "none"] for r, ns in zip(rounds, more)]),
                   page.spread([ns / added(r, PLAIN, pattern) for r, ns in zip(rounds, more)]) if kind != PLAIN else "1"]


def main():
    args = page.options("-n", "--times", 20000)
    before = os.getloadavg()[0]
    with bench.of_few_files() as b:
        b.take_disk()
        with contextlib.closing(Folders(b)) as folders, bench.in_front(figures=args.times >= 1000):
            rounds, loads, lost = run_rounds(args, b, folders)
    heading = machine.heading(f"{len(rounds)} rounds of {args.times} times each", before, loads) + f" Rows lost: {lost}."
    rows = [["calls", "file system", "CPU ns of a call, untraced", "added by dltraced", "slowdown", f"added, {PLAIN} = 1"],
            *table(rounds, folders.paths)]
    text, summary = ("\n".join([heading, "", *page.table(some[0], some[1:])]) for some in (rows, page.few(rows, IN_DOCS)))
    page.show(args, text, BEGIN, END, summary)
    sys.exit(lost != 0)


if __name__ == "__main__":
    main()
