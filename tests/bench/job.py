# SPDX-License-Identifier: BSD-2-Clause
"""job: what sums of CPU scheduling, regions of PyTorch and allocations cost a PyTorch job: interleaved rounds, for
docs/performance.md.

job [-r ROUNDS] [-e EPOCHS] [-p PAGE]

The job is tests/workloads/train.py, with two loaders. Prints a table, and writes it into PAGE between its marks. The
status is 1 where dltraced lost rows. Without torch it says so, and the status is 0.

Regions cost less than two runs of the job differ by. So their parts are measured, too: what is imported and patched at
the start, in a process that has imported torch, and a region, as many times as the job has regions.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from statistics import median

import bench
import bpfstats
import goals
import machine
import measure
import page
import regions
import tracers
from switches import rows_of

BEGIN, END = "<!-- BENCH=job tests/bench/run -->", "<!-- end of job -->"
IN_DOCS = 0, 1, 3, 4, 5, 6  # the columns of the table that docs/performance.md has
PYTHON = "/usr/bin/python3"  # the distribution's, which has python3-torch
TRAIN = os.path.realpath(os.path.join(tracers.HERE, "../workloads/train.py"))
TIMED = os.path.join(tracers.HERE, "timed.py")
FILES, BYTES, WORKERS = 512, 16384, 2
GOAL = 1  # percent of the job's CPU time
OF_SCHED = ("sched_switch", "sched_waking", "sched_wakeup_new", "sched_send", "sched_tasks", "sched_sock", "sched_sock_stat",
            "sched_hrtimer_b", "sched_hrtimer_e", "sched_timer_beg", "sched_timer_end", "sched_irq_begin", "sched_irq_ends",
            "sched_softirq_b", "sched_softirq_e")  # in bpf/sched/sched.bpf.c

GOAL_REGIONS = 0.5  # percent of the job's CPU time without them
GOAL_ALLOC = 15  # percent of the untraced job's CPU time, with every allocation from 4 KiB on and its stack
PACKAGE = os.path.join(regions.TOP, "python")
STARTS = 11

# What --regions auto makes Python do at its start and when torch is imported, after what the job imports anyway. A
# distribution may have a sitecustomize of its own.
START = f"""
import sys, time, torch.utils.data
sys.path.insert(0, {os.path.join(PACKAGE, "dltraced/site")!r})
sys.modules.pop("sitecustomize", None)
begun = time.process_time_ns()
import sitecustomize
sys.meta_path[0].find_spec("torch")
print(time.process_time_ns() - begun)
if "dltraced.auto" not in sys.modules:
    sys.exit("the package was not imported")
"""

UNTRACED, OFF, DEFAULT, COUNTED = "untraced", "dltraced -P -sched", "dltraced", "dltraced, BPF programs timed"
NO_REGIONS, ALLOC = "dltraced --regions off", "dltraced --probes +alloc"
WAYS = {UNTRACED: None, OFF: ("-P", "-sched"), NO_REGIONS: ("--regions", "off"), DEFAULT: (), ALLOC: ("--probes", "+alloc"), COUNTED: ()}


class JobRun(measure.Place):
    """One run of the job."""

    def __init__(self, b, argv):
        super().__init__(b, b.disk)
        self.job = [PYTHON, "-B", TIMED, self.path("gate"), *argv]

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return json.load(f)


def train(b, epochs):
    return [PYTHON, "-B", TRAIN, os.path.join(b.folder, "samples"), "--files", str(FILES), "--bytes", str(BYTES),
            "--workers", str(WORKERS), "--epochs", str(epochs)]


def programs(process, counts):
    return bpfstats.runs(process.pid) if counts else {}


def timed(run, argv, counts):
    """Starts ARGV, which runs the job between its gates. Returns what the job and dltraced took."""
    with measure.gated(run) as (gate, log):
        process = measure.spawn(argv, run, stdout=log, stderr=log)
        gate.wait("ready", process)
        before, cpu_ns = programs(process, counts), measure.cpu_ns(process.pid)
        gate.go()
        gate.wait("done", process)
        after, cpu_ns = programs(process, counts), measure.cpu_ns(process.pid) - cpu_ns
        gate.go()
        status = process.wait(measure.LIMIT_S)
    measure.require_ok(run, status)
    return {**run.read("gate.result"), "tracer_cpu_ns": cpu_ns, "programs": bpfstats.between(before, after)}


def of_trace(run):
    manifest = run.read("trace/manifest.json")
    own = manifest["self"]
    pids = {pid for (pid,) in rows_of(run, "pids.out", "PID")}
    sums = list(rows_of(run, "sched.out", "PID", "CALL", "COUNT")) if os.path.exists(run.path("trace/sched.out")) else []
    return {"own_cpu_ns": 1000 * (own["cpu_user_us"] + own["cpu_system_us"]), "rows": len(sums),
            "lost": sum(p["lost"] for p in manifest["probes"]),
            **{name: sum(p["rows"] for p in manifest["probes"] if p["name"] == name) for name in ("regions", "alloc")},
            "sums": sum(int(n) for pid, call, n in sums if call == "-" and pid in pids)}


def one(b, way, argv):
    run, options, counts = JobRun(b, argv), WAYS[way], way == COUNTED
    argv = run.job if options is None else tracers.dltraced(run, run.job, *options)
    with bpfstats.counted() if counts else nullcontext():
        got = timed(run, argv, counts)
    return got if options is None else {**got, **of_trace(run)}


def share(m, ours):
    """Returns the run time of the BPF programs of sched (OURS), or of all others, in percent of the job's CPU time."""
    return 100 * sum(ns for name, (ns, _) in m["programs"].items() if (name in OF_SCHED) == ours) / m["cpu_ns"]


def say(nr, way, m):
    more = f", own {m['own_cpu_ns'] / 1e9:.3f} s, {m['rows']} rows, lost {m['lost']}" if "rows" in m else ""
    more += f", sched's programs {share(m, True):.3f} %" if m["programs"] else ""
    bench.say(f"{nr} {way:28} cpu {m['cpu_ns'] / 1e9:.2f} wall {m['wall_ns'] / 1e9:.2f} s,"
              f" {m['switches']} switches{more}")


def parts():
    """Returns ns that regions take at the start of a program, and ns a region, a value a round of each."""
    with tempfile.TemporaryDirectory(prefix="bench.", dir=os.path.realpath(tracers.BUILD)) as folder:
        starts = [int(subprocess.run([PYTHON, "-B", "-c", START], capture_output=True, check=True, cwd=folder).stdout)
                  for _ in range(STARTS)]
        pure = regions.pure(PACKAGE)
        each = [max(regions.one(folder, pure, regions.TRACED)[0].values()) for _ in range(3)]
    return starts, each


def run_rounds(args):
    got, loads, b = {way: [] for way in WAYS}, [], bench.Bench(1000)  # the few files belong to other workloads
    argv = train(b, args.epochs)
    try:
        b.take_disk()
        subprocess.run([*argv, "--prepare"], check=True)
        one(b, UNTRACED, argv)  # brings its data into the page cache
        # as the first run with a package does, but for the option -B
        subprocess.run([PYTHON, "-m", "compileall", "-q", os.path.join(PACKAGE, "dltraced")], check=True)
        for nr in range(1, args.rounds + 1):
            for way in random.sample(list(WAYS), len(WAYS)):
                loads.append(os.getloadavg()[0])
                try:
                    got[way].append({**one(b, way, argv), "round": nr})
                except measure.Failed as e:
                    bench.say(f"{nr} {way}: {e}")
                    continue
                say(nr, way, got[way][-1])
    finally:
        b.close()
    return got, loads


# --- the table ------------------------------------------------------------------------------------

def values(runs, key, scale=1.0):
    return [m[key] / scale for m in runs if key in m]


def added(got, way, key, to=UNTRACED):
    """Returns the differences in percent, a value per round."""
    base = {m["round"]: m[key] for m in got[to]}
    return [100 * (m[key] / base[m["round"]] - 1) for m in got[way] if m["round"] in base]


def table(got):
    for way, runs in got.items():
        if not runs:
            continue
        row = [way, page.spread(values(runs, "cpu_ns", 1e9)), page.spread(values(runs, "wall_ns", 1e9))]
        if way == UNTRACED:
            yield row + [""] * 6
            continue
        yield row + [page.spread(added(got, way, "cpu_ns")), page.spread(added(got, way, "wall_ns")),
                     page.number(median(values(runs, "own_cpu_ns", 1e9))),
                     page.number(median([100 * m["tracer_cpu_ns"] / m["cpu_ns"] for m in runs])),
                     page.number(median(values(runs, "rows"))), str(sum(m["lost"] for m in runs))]


def program_table(runs):
    for name in OF_SCHED:
        ran = [(*m["programs"][name], m["cpu_ns"]) for m in runs if name in m["programs"]]
        if ran:
            yield [name, page.number(median(count for _, count, _ in ran)),
                   page.number(median(ns / count for ns, count, _ in ran)),
                   page.spread([100 * ns / cpu for ns, _, cpu in ran])]
    for what, ours in (("all of sched", True), ("those of all other probes", False)):
        yield [what, "", "", page.spread([share(m, ours) for m in runs])]


def text_of(args, got, starts, each, loads, before, in_docs=False):
    """Returns all of it, or what the docs have of it."""
    rows = [["tracer", "job's CPU time, s", "job's wall time, s", "CPU time added, %", "wall time added, %",
             "own CPU time, start to end, s", "own while the job runs, % of the job's", "rows of sched.out", "lost"],
            *table(got)]
    if in_docs:
        rows = page.few((row for row in rows if row[0] != COUNTED), IN_DOCS)
    counted = got[COUNTED]
    ours = [share(run, True) for run in counted]
    by_alloc = added(got, ALLOC, "cpu_ns")
    of_cpu = [100 * (median(starts) + median(each) * run["regions"]) / run["cpu_ns"] for run in got[DEFAULT]]
    return "\n".join([
        machine.heading(f"{args.rounds} rounds of {args.epochs} epochs of {FILES} files of {BYTES} bytes, {WORKERS} loaders",
                        before, loads), "",
        *page.table(rows[0], rows[1:]),
        *([] if in_docs else [f"The job's context switches: {page.number(median(values(got[UNTRACED], 'switches')))} untraced; sched.out sums up"
           f" {page.number(median(values(got[DEFAULT], 'sums')))} (with dltraced's and the measuring parent's).", "",
           *page.table(["BPF program", "runs, on the whole machine", "ns a run", "run time, % of the job's CPU time"],
                       program_table(counted))]),
        "In percent of the job's CPU time:", "",
        f"- the BPF programs of sched: {page.spread(ours)}; goal: {GOAL}, {goals.verdict(value <= GOAL for value in ours)}."
        f" All others: {page.spread([share(run, False) for run in counted])}.",
        f"- `--regions auto`, which is the default, by its parts: {page.spread(of_cpu)}; goal: {GOAL_REGIONS},"
        f" {goals.verdict(value <= GOAL_REGIONS for value in of_cpu)}. It takes {page.spread([ns / 1e6 for ns in starts])} ms at"
        f" the start of Python and of torch, then {page.number(median(run['regions'] for run in got[DEFAULT]))} regions {page.spread(each)} ns"
        f" each, without the extension. Run against run: {page.spread(added(got, DEFAULT, 'cpu_ns', to=NO_REGIONS))}.",
        f"- `--probes +alloc`, with {page.number(median(values(got[ALLOC], 'alloc')))} rows and their stacks: {page.spread(by_alloc)};"
        f" goal: {GOAL_ALLOC}, {goals.verdict(value <= GOAL_ALLOC for value in by_alloc)}.",
        ""])


def main():
    args = page.options("-e", "--epochs", 6)
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        bench.say(f"job: skipped: {PYTHON} has no torch (install python3-torch)")
        return
    before = os.getloadavg()[0]
    with bench.in_front():
        got, loads = run_rounds(args)
        starts, each = parts()
    measured = args, got, starts, each, loads, before
    page.show(args, text_of(*measured), BEGIN, END, text_of(*measured, in_docs=True))
    sys.exit(any(m.get("lost") for runs in got.values() for m in runs))


if __name__ == "__main__":
    main()
