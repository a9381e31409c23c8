# SPDX-License-Identifier: BSD-2-Clause
"""micro: DFTracer's micro-benchmark, in C and Python, untraced, under DFTracer and under dltraced, in interleaved rounds, as a
part of docs/performance.md.

micro [-r ROUNDS] [-n FILES] [-p PAGE]

The benchmark of DFTracer's paper (SC'24): open, 1000 reads of 4 KiB, close. A process does it FILES times, so that its own
start and that of a library count for little. All of the job's CPU time counts: what DFTracer does at its end, too; and
what dltraced itself takes is in a column of its own. With BENCH_BEFORE, another dltraced takes part. DFTracer is left out
where it is not installed (tests/peers/environment does that). Prints a table, and writes it into PAGE between its marks.
The status is 1 where dltraced lost rows.
"""
import os
import random
import sys
from statistics import median

import bench
import goals
import job
import machine
import measure
import page
import sizes
import tracers

BEGIN, END = "<!-- BENCH=micro tests/bench/run -->", "<!-- end of micro -->"
READS, BLOCK = 1000, 4096
CALLS = READS + 2  # for each file
GOAL = 50  # percent of what DFTracer with metadata costs
PYTHON = """
import os, sys
path, files = sys.argv[1], int(sys.argv[2])
for _ in range(files):
    fd = os.open(path, os.O_RDONLY)
    for _ in range(1000):
        os.read(fd, 4096)
    os.close(fd)
"""
UNTRACED, DFTRACER, METADATA, OURS, BEFORE = "untraced", "DFTracer", "DFTracer, with metadata", "dltraced", "dltraced before"


def jobs(b, files):
    """Returns {language: argv}."""
    data = os.path.join(b.folder, "large")
    with open(data, "wb") as f:
        f.write(bytes(READS * BLOCK))
    return {"C": [measure.LOAD, "-n", str(files), "-o", "/dev/null", "-d", b.folder, "micro"],
            "Python": [job.PYTHON, "-c", PYTHON, data, str(files)]}


def preloaded(run, library, metadata):
    """Returns the job's command, with DFTracer in its process."""
    os.mkdir(run.path("dftracer"))
    environ = sizes.dftracer(library, run.path("dftracer/job"), metadata)
    at = run.job.index(run.path("gate")) + 1  # behind what measures
    return [*run.job[:at], "env", *(f"{name}={value}" for name, value in environ.items()), *run.job[at:]]


def one(b, way, argv, library):
    """Returns what the job took, and dltraced."""
    run = job.JobRun(b, argv)
    if way in (DFTRACER, METADATA):
        return job.timed(run, preloaded(run, library, way == METADATA), False)
    if way == UNTRACED:
        return job.timed(run, run.job, False)
    got = job.timed(run, tracers.dltraced(run, run.job, program=tracers.BEFORE if way == BEFORE else tracers.DLTRACED), False)
    return {**got, **job.of_trace(run)}


def run_rounds(args, b, alone):
    """Returns {(language, way): [measurements]}, loads, rows lost."""
    library, got, loads, lost = sizes.preload(), {}, [], 0
    if not library:
        bench.say("micro: without DFTracer: tests/peers/environment has not been run")
    found = jobs(b, args.files)
    ways = [UNTRACED, *([DFTRACER, METADATA] if library else []), *([BEFORE] if tracers.BEFORE else []), OURS]
    cells = [(language, way) for language in found for way in ways]
    for nr in range(1, args.rounds + 1):
        for language, way in random.sample(cells, len(cells)):
            alone.wait()
            loads.append(os.getloadavg()[0])
            m = one(b, way, found[language], library)
            lost += m.get("lost", 0)
            got.setdefault((language, way), []).append(m)
            bench.say(f"{nr} {language:8} {way:24} cpu {m['cpu_ns'] / args.files / CALLS:6.0f} ns a call, wall"
                      f" {m['wall_ns'] / args.files / CALLS:6.0f} ns" + (f", lost {m['lost']}" if "lost" in m else ""))
    return got, loads, lost


# --- the table ------------------------------------------------------------------------------------

def added(got, language, way, key, own=0):
    """Returns the differences from the untraced run in percent, a value a round; OWN: with dltraced's own CPU time."""
    return [100 * ((m[key] + own * m.get("tracer_cpu_ns", 0)) / base[key] - 1)
            for m, base in zip(got[language, way], got[language, UNTRACED])]


def table(got, calls):
    for language, way in sorted(got, key=lambda cell: cell[0]):
        runs = got[language, way]
        row = [language, way, page.spread([m["cpu_ns"] / calls for m in runs])]
        if way == UNTRACED:
            yield [*row, "", "", ""]
            continue
        yield [*row, page.spread(added(got, language, way, "cpu_ns")), page.spread(added(got, language, way, "wall_ns")),
               page.spread(own(got, language, way)) if "lost" in runs[0] else ""]


def own(got, language, way=OURS):
    """Returns dltraced's own CPU time in percent of the untraced job's, a value a round."""
    return [100 * m["tracer_cpu_ns"] / base["cpu_ns"] for m, base in zip(got[language, way], got[language, UNTRACED])]


def shares(got, language, theirs, with_own=0):
    """Returns what dltraced adds, in percent of what THEIRS adds, a value a round."""
    return [100 * ours / more for ours, more in zip(added(got, language, OURS, "cpu_ns", with_own),
                                                    added(got, language, theirs, "cpu_ns"))]


def share_table(got):
    for language in dict.fromkeys(language for language, _ in sorted(got)):
        if (language, METADATA) not in got:
            continue
        for theirs in (METADATA, DFTRACER):
            ours = shares(got, language, theirs)
            yield [f"{language}, {theirs}", page.spread(ours), page.spread(shares(got, language, theirs, 1)),
                   goals.verdict(share < GOAL for share in ours) if theirs == METADATA else ""]


def summary(got, calls):
    """Returns the table of docs/performance.md: a line a language."""
    found = [way for way in (METADATA, OURS) if ("C", way) in got]
    yield ["job", "CPU ns of a call", *(f"{way}, % more" for way in found), "its own, %",
           *([f"% of DFTracer's; goal: {GOAL}"] if METADATA in found else [])]
    for language in ("C", "Python"):
        share = shares(got, language, METADATA) if METADATA in found else []
        yield [language, page.number(median(m["cpu_ns"] / calls for m in got[language, UNTRACED])),
               *(page.spread(added(got, language, way, "cpu_ns")) for way in found), page.spread(own(got, language)),
               *([f"{page.spread(share)}, {goals.verdict(s < GOAL for s in share)}"] if share else [])]


def main():
    args = page.options("-n", "--files", 500)
    before, alone = os.getloadavg()[0], machine.Alone()
    with bench.of_few_files() as b, bench.in_front(figures=args.files >= 10):
        b.take_disk()
        got, loads, lost = run_rounds(args, b, alone)
    heading = (machine.heading(f"{args.rounds} rounds of {args.files} times {CALLS} calls", before, loads)
               + f" Rows lost: {lost}." + alone.note())
    calls, shared = args.files * CALLS, list(share_table(got))
    text = "\n".join([
        heading, "",
        *page.table(["job", "tracer", "CPU ns of a call, all of the job", "CPU time added, %", "wall time added, %",
                     "dltraced's own CPU time, % of the untraced job's"], table(got, calls)),
        *(page.table(["compared with", "CPU time that dltraced adds, % of what that adds", "with its own CPU time",
                      f"goal: below {GOAL}"], shared) if shared else [])])
    few = list(summary(got, calls))
    page.show(args, text, BEGIN, END, "\n".join([heading, "", *page.table(few[0], few[1:])]))
    sys.exit(lost != 0)


if __name__ == "__main__":
    main()
