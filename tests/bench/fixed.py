# SPDX-License-Identifier: BSD-2-Clause
"""fixed: what a start costs however little it traces, and CPU time for small traces, as a part of docs/performance.md.

fixed [-r ROUNDS] [-n READS] [-p PAGE]

A command that does nothing, and a loop of READS reads and less (tests/workloads/storm.c), take turns alone and under dltraced.
CPU time is that of all processes, as wait4(2) has it, from the start to the last line; memory is the peak of the largest
process; of the rings it has the parts that records have reached. The status is 1 where dltraced lost rows.
"""
import json
import os
import random
import shutil
import sys
import tempfile
import time
from typing import NamedTuple

import bench
import machine
import page
import tracers

BEGIN, END = "<!-- BENCH=fixed tests/bench/run -->", "<!-- end of fixed -->"
STORM = os.path.join(os.path.realpath(tracers.BUILD), "workloads/storm")
START, NO_REPORT, NO_TOOLS = "dltraced start", "dltraced start --report none", "dltraced start --report none --collectors none"
CALLS = "dltraced start --report none --collectors none -P vfs_rw"
WAYS = (START, NO_REPORT, NO_TOOLS, CALLS)
IN_DOCS = START, CALLS


class Run(NamedTuple):
    wall_s: float
    cpu_s: float
    rss_mib: float
    rows: int = 0
    lost: int = 0


def spawned(argv, folder):
    """Runs it: (seconds, CPU seconds of all its processes, MiB of the largest)."""
    begun = time.monotonic()
    pid = os.posix_spawnp(argv[0], argv, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, fd, os.path.join(folder, "out"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for fd in (1, 2)])
    _, status, used = os.wait4(pid, 0)
    if status:
        with open(os.path.join(folder, "out"), encoding="utf-8", errors="replace") as f:
            sys.exit(f"fixed: status {status} of {argv}: {f.read()[-500:]}")
    return time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def one(folder, way, command):
    trace = os.path.join(folder, "trace")
    shutil.rmtree(trace, ignore_errors=True)
    if not way:
        return Run(*spawned(command, folder))
    argv = [tracers.DLTRACED, *way.split()[1:], "--min-free", "0", "-o", trace, "--", *command]
    took = spawned(argv, folder)
    with open(os.path.join(trace, "manifest.json"), encoding="utf-8") as f:
        probes = json.load(f)["probes"]
    return Run(*took, sum(p["rows"] for p in probes), sum(p["lost"] - p.get("lost_by", {}).get("unseen", 0) for p in probes))


def run_rounds(args, folder):
    """Returns {(way, reads): [Run]}, loads; reads 0: the command is `true`."""
    data = os.path.join(folder, "data")
    with open(data, "wb") as f:
        f.write(bytes(1 << 20))
    sizes = [args.reads // 100, args.reads // 10, args.reads]
    parts = [(way, 0) for way in ("", *WAYS)] + [(way, n) for way in ("", NO_TOOLS) for n in sizes]
    got, loads = {}, []
    for nr in range(1, args.rounds + 1):
        for way, reads in random.sample(parts, len(parts)):
            loads.append(os.getloadavg()[0])
            run = one(folder, way, [STORM, "-n", str(reads), data] if reads else ["true"])
            got.setdefault((way, reads), []).append(run)
            bench.say(f"{nr} {way or 'alone'}, {reads or 'true'}: {run.wall_s:.3f} s, CPU {run.cpu_s:.3f} s, {run.rss_mib:.0f} MiB,"
                      f" {run.rows} rows, lost {run.lost}")
    return got, loads


# --- the tables -----------------------------------------------------------------------------------

def start_rows(got, ways):
    for way in ways:
        runs = got[way, 0]
        memory = page.spread([r.rss_mib for r in runs]) if way else "-"  # before its exec it is a copy of this program
        yield [f"`{way} -- true`" if way else "`true`", page.spread([r.cpu_s for r in runs]), page.spread([r.wall_s for r in runs]), memory]


def small_rows(got):
    for way, reads in sorted(got):
        if way != NO_TOOLS or not reads:
            continue
        more = [(r.cpu_s - a.cpu_s, r.rows) for r, a in zip(got[way, reads], got["", reads])]
        yield [f"{page.mid([rows for _, rows in more]):.0f}", page.spread([cpu_s for cpu_s, _ in more]),
               page.spread([cpu_s / rows * 1e6 for cpu_s, rows in more])]


def main():
    args = page.options("-n", "--reads", 1000000)
    before, others = os.getloadavg()[0], machine.tracing_programs()
    folder = tempfile.mkdtemp(prefix="bench.", dir=os.path.realpath(tracers.BUILD))
    try:
        with bench.in_front(figures=args.reads >= 100000):
            got, loads = run_rounds(args, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lost = sum(r.lost for runs in got.values() for r in runs)
    heading = (machine.heading(f"{args.rounds} rounds, reads of {args.reads} and less", before, loads) + f" Rows lost: {lost}."
               + (f" Another tracer was running: {others} BPF programs were attached before." if others else ""))
    text, summary = ("\n".join([
        heading, "", *page.table(["command", "CPU, s", "wall, s", "peak of resident memory, MiB"], start_rows(got, ways)),
        *page.table(["rows", "CPU beyond the job's alone, s", "of a million rows"], small_rows(got))])
        for ways in (("", *WAYS), IN_DOCS))
    page.show(args, text, BEGIN, END, summary)
    sys.exit(lost != 0)


if __name__ == "__main__":
    main()
