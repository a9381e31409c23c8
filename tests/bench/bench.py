# SPDX-License-Identifier: BSD-2-Clause
"""bench: runs the workloads under the tracers, in interleaved rounds; see docs/performance.md.

bench [-r ROUNDS] [-w WORKLOAD]... [-t TRACER]... [-d DIVISOR] [-o RESULTS] [-p PAGE]
bench -s RESULTS [-p PAGE]

Runs all of them, or only those of -w and -t; writes the measurements to RESULTS (build/bench.json) and
the tables made of it to stdout, and into PAGE. -d makes every workload so many times smaller: that
shows whether all is counted, not what it costs. -s makes the tables anew of what was measured before.
The status is 1 where dltraced's rows and losses were not exactly the calls that were made.
"""
import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import extras
import figures
import goals
import machine
import measure
import page
import tracers
import workloads


class Bench:
    """The places of a run: a folder on the disk, one in memory, a disk of its own for dltraced's --disk."""

    def __init__(self, part=1):
        self.part = part
        self.folder = tempfile.mkdtemp(prefix="bench.", dir=tracers.BUILD)
        self.tmpfs = tempfile.mkdtemp(prefix="dltraced-bench.", dir="/dev/shm")
        self.loop = self.disk = None
        for folder in (self.folder, self.tmpfs):
            os.chmod(folder, 0o755)
            for name in ("small", "new"):
                os.mkdir(os.path.join(folder, name))
            with open(os.path.join(folder, "data"), "wb") as f:
                f.write(bytes(1 << 20))
        for i in range(workloads.FILES // part):
            with open(os.path.join(self.folder, "small", str(i)), "wb") as f:
                f.write(b"x" * 4096)

    def take_disk(self):
        """dltraced's probe of disks sees all of the machine's: with a disk of the bench's own, it has nothing to record."""
        image = os.path.join(self.folder, "disk.img")
        with open(image, "wb") as f:
            f.truncate(1 << 20)
        got = subprocess.run(["losetup", "-f", "--show", image], capture_output=True, text=True)
        if got.returncode == 0:
            self.loop = got.stdout.strip()
            self.disk = os.path.basename(self.loop)

    def close(self):
        if self.loop:
            subprocess.run(["losetup", "-d", self.loop])
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.tmpfs, ignore_errors=True)


@contextlib.contextmanager
def in_front(figures=True):
    """Where FIGURES count, bench, tracers and workloads all get the CPU before other work of the machine: the whole session,
    where the scheduler groups by it (autogroup), and each process.
    """
    if not figures:
        yield
        return
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as f:
        f.write("-20")
    os.nice(-20)
    try:
        yield
    finally:
        with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as f:
            f.write("0")


def say(text):
    print(text, file=sys.stderr, flush=True)


def pairs(args, missing):
    """Yields the runs of a round, in an order that differs from round to round."""
    for w in workloads.WORKLOADS:
        if args.workload and w.name not in args.workload:
            continue
        chosen = [t for t in tracers.TRACERS
                  if t.name not in missing and (not t.only or w.name in t.only)
                  and (not w.only or t.name in w.only)
                  and (not args.tracer or t.name in args.tracer)]
        if w.calls and not w.stall_s and w.rounds > 1:  # the runs to compare with, more often than others
            again = {"none": 2, "dltraced": 1}
            chosen += [t for t in chosen for _ in range(again.get(t.name, 0))]
        random.shuffle(chosen)
        for t in chosen:
            yield t, w


@contextlib.contextmanager
def of_few_files():
    """A Bench for a program whose workloads do not use its files, and make as many calls as the program says."""
    b = Bench(1000)
    b.part = 1
    try:
        yield b
    finally:
        b.close()


def interleaved(rounds, cells, measured, summary):
    """Measures each of CELLS once a round, in random order: MEASURED(cell) returns ns and the rows lost. Prints SUMMARY(round).
    Returns [{cell: ns}], a dict a round; loads; rows lost.
    """
    got, loads, lost = [], [], 0
    for nr in range(1, rounds + 1):
        this = {}
        for cell in random.sample(cells, len(cells)):
            loads.append(os.getloadavg()[0])
            this[cell], gone = measured(cell)
            lost += gone
        got.append(this)
        say(f"{nr} {summary(this)}")
    return got, loads, lost


def one(bench, t, w, nr):
    load = os.getloadavg()[0]
    try:
        got = measure.measure(bench, t, w)
    except measure.Failed as e:
        say(f"{nr} {w.name:18} {t.name:28} failed: {e}")
        return {"round": nr, "tracer": t.name, "workload": w.name, "failed": str(e)}
    say(f"{nr} {w.name:18} {t.name:28} cpu {got['cpu_ns']:8.1f} wall {got['wall_ns']:8.1f} ns"
        f"  calls {got['calls']} rows {got['rows']} lost {got['lost']}")
    return dict(got, round=nr, load=load)


def run_extras(bench, results):
    say("bytes per row, the peak while loading")
    results["sizes"] = [extras.sizes(bench, w) for w in ("reads", "small files")]
    results["load_peak"] = max(extras.load_peak(bench) for _ in range(3))


def save(args, results):
    with open(args.output, "w") as f:
        json.dump(results, f, indent=1)


def run(args):
    missing = {t.name: t.missing() for t in tracers.TRACERS if t.missing()}
    for name, why in missing.items():
        say(f"{name}: absent ({why})")
    results = {"when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "load_before": os.getloadavg(),
               "machine": machine.describe(), "rounds": args.rounds, "absent": missing, "runs": [],
               "others": machine.tracing_programs(), "bystanders": []}
    begin = time.monotonic()
    whole = not args.workload and not args.tracer
    bench = Bench(args.divide)
    try:
        bench.take_disk()
        for nr in range(1, args.rounds + 1):
            for t, w in pairs(args, missing):
                if nr <= w.rounds:
                    results["runs"].append(one(bench, t, w, nr))
            if whole:
                results["bystanders"] += extras.bystanders(bench, nr)
            results["minutes"] = (time.monotonic() - begin) / 60
            save(args, results)  # after each round, so that an interrupted bench has results
        if whole:
            run_extras(bench, results)
    finally:
        bench.close()
    results["minutes"] = (time.monotonic() - begin) / 60
    return results


def main():
    p = argparse.ArgumentParser()
    p.add_argument("-r", "--rounds", type=int, default=5)
    p.add_argument("-w", "--workload", action="append")
    p.add_argument("-t", "--tracer", action="append")
    p.add_argument("-d", "--divide", type=int, default=1)
    p.add_argument("-o", "--output", default=os.path.join(tracers.BUILD, "bench.json"))
    p.add_argument("-p", "--page")
    p.add_argument("-s", "--show")
    args = p.parse_args()
    args.output = os.path.abspath(args.output)  # the workloads run in another folder
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # so that files and mounts are cleaned up
    if args.show:
        with open(args.show) as f:
            results = json.load(f)
    else:
        with in_front(figures=args.divide == 1):
            results = run(args)
        save(args, results)
    f = figures.Figures(results)
    text = page.page(f)
    print(text)
    if args.page:
        page.replace(args.page, page.summary(f))
    sys.exit(1 if goals.unaccounted(f) else 0)


if __name__ == "__main__":
    main()
