# SPDX-License-Identifier: BSD-2-Clause
"""regions: what a region costs the program that marks it, in interleaved rounds, as a part of docs/performance.md.

regions [-r ROUNDS] [-n REGIONS] [-p PAGE]

In C (tests/workloads/regions.c), in Python by the extension and without it (tests/workloads/regions.py), and by NVTX with
our library (tests/workloads/nvtx.c), untraced and traced; beside them NVTX without a library, record_function of PyTorch
and a region of DFTracer, where these are installed (build/peers). All of it is CPU time of the thread, which other work of
the machine changes little. Prints tables, and writes them into PAGE between its marks. The status is 1 where dltraced lost
rows.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

import bench
import goals
import machine
import page
import tracers

BEGIN, END = "<!-- BENCH=regions tests/bench/run -->", "<!-- end of regions -->"
TOP = os.path.realpath(os.path.join(tracers.HERE, "../.."))
PYTHON = "/usr/bin/python3"  # the distribution's, which has setuptools and perhaps python3-torch
LIBRARY = os.path.join(os.path.realpath(tracers.BUILD), "libdltraced-nvtx.so")
JOB = os.path.join(TOP, "tests/workloads/regions.py")
PEERS = os.path.join(os.path.realpath(tracers.BUILD), "peers/bin/python3")
PEER_REGIONS = 20000  # of others, which cost more

# A region around nothing by others' names for it; the median of three, as in regions.py.
TIMED = """
import time
took = []
for _ in range(3):
    begun = time.thread_time_ns()
    for i in range({n}):
        {body}
            pass
    took.append((time.thread_time_ns() - begun) / {n})
print("{form}", sorted(took)[1])
"""
RECORD_FUNCTION = "import torch\n" + TIMED.format(n=PEER_REGIONS, form="with_new", body='with torch.autograd.profiler.record_function("x"):')
DFTRACER = ("import sys\nfrom dftracer.python import ai, dftracer\nlog = dftracer.initialize_log(sys.argv[1], None, -1)\n"
            "region = ai.compute.step\n" + TIMED.format(n=PEER_REGIONS, form="with_reused", body="with region:") + "log.finalize()\n")

FORMS = {"region": "DLTRACED_REGION", "with_reused": "`with`, one object", "with_new": "`with`, new objects",
         "decorator": "decorated function", "iterator": "iterator", "push": "push and pop",
         "push_domain": "push and pop in a domain, a registered string"}
IN_DOCS = ("region", "with_reused", "with_new", "push")
UNTRACED, TRACED = "untraced", "traced"
GOALS = (("C", "region", UNTRACED, 350), ("C", "region", TRACED, 1200), ("Python, extension", "with_reused", UNTRACED, 450),
         ("Python, extension", "with_reused", TRACED, 1300))


class Program(NamedTuple):
    argv: list
    environ: dict
    ours: bool = False  # dltraced records its regions


def package(folder):
    """Copies the package into FOLDER and builds its extension there. Returns whether that can be done here."""
    shutil.copytree(os.path.join(TOP, "python"), folder, ignore=shutil.ignore_patterns("__pycache__", "build"))
    shutil.copy(os.path.join(TOP, "include/dltraced.h"), folder)
    subprocess.run([PYTHON, "setup.py", "-q", "build_ext", "--inplace"], cwd=folder, capture_output=True, check=False)
    return subprocess.run([PYTHON, "-c", "import dltraced._region"], cwd=folder, capture_output=True, check=False).returncode == 0


def version(python, module):
    """Returns the version of MODULE's package, or None where PYTHON lacks it."""
    if not os.path.exists(python):
        return None
    got = subprocess.run([python, "-c", f"import {module}, importlib.metadata as m; print(m.version('{module.split('.')[0]}'))"],
                         capture_output=True, text=True, check=False)
    return got.stdout.split("+")[0].strip() if got.returncode == 0 else None


def pure(path):
    """The workload with the package below PATH, without its extension."""
    return Program([PYTHON, JOB, "bench", "fallback"], {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}, True)


def programs(folder, regions):
    copy = os.path.join(folder, "python")
    c = os.path.join(os.path.realpath(tracers.BUILD), "workloads/regions")
    found = {"C": Program([c, "bench", str(regions)], {}, True)}
    if package(copy):
        found["Python, extension"] = pure(copy)._replace(argv=[PYTHON, JOB, "bench"])
    else:
        bench.say("regions: without the extension: needs python3-setuptools, a C compiler and python3-dev")
    found["Python, pure"] = pure(copy)
    nvtx = [os.path.join(os.path.realpath(tracers.BUILD), "workloads/nvtx"), "bench", str(regions)]
    found["NVTX, our library"] = Program(nvtx, {"NVTX_INJECTION64_PATH": LIBRARY}, True)
    found["NVTX, no library"] = Program(nvtx, {})
    for python in (PYTHON, PEERS):
        torch = version(python, "torch")
        if torch:
            found[f"record_function of PyTorch {torch}"] = Program([python, "-c", RECORD_FUNCTION], {})
    dftracer = version(PEERS, "dftracer.python")
    if dftracer:
        found[f"DFTracer {dftracer}"] = Program([PEERS, "-c", DFTRACER, os.path.join(folder, "dftracer")], {"DFTRACER_ENABLE": "1"})
    else:
        bench.say("regions: without DFTracer: tests/peers/environment has not been run")
    return found


def one(folder, program, how):
    """Returns ({form: ns}, rows, lost)."""
    trace = os.path.join(folder, "trace")
    shutil.rmtree(trace, ignore_errors=True)
    start = [tracers.DLTRACED, "start", "-q", "--report=none", "--collectors", "none", "--min-free", "0", "-P", "regions",
             "-o", trace, "--"] if how == TRACED else []
    got = subprocess.run([*start, *program.argv], env={**os.environ, **program.environ}, capture_output=True, text=True,
                         cwd=folder, check=False)
    if got.returncode != 0:
        sys.exit(f"regions: status {got.returncode} of {program.argv}: {got.stderr[-500:]}")
    words = [line.split() for line in got.stdout.splitlines() if line.strip()]
    forms = {(line[0] if len(line) > 1 else "region"): float(line[-1]) for line in words}
    if how == UNTRACED:
        return forms, 0, 0
    with open(os.path.join(trace, "manifest.json"), encoding="utf-8") as f:
        probe = next(p for p in json.load(f)["probes"] if p["name"] == "regions")
    return forms, probe["rows"], probe["lost"]


def run_rounds(args, folder):
    """Returns {(program, form, how): [ns]}, rows, lost, loads."""
    found, got, rows, lost, loads = programs(folder, args.regions), {}, 0, 0, []
    ways = [(name, how) for name, program in found.items() for how in ((UNTRACED, TRACED) if program.ours else (UNTRACED,))]
    for nr in range(1, args.rounds + 1):
        for name, how in random.sample(ways, len(ways)):
            loads.append(os.getloadavg()[0])
            forms, n, gone = one(folder, found[name], how)
            rows, lost = rows + n, lost + gone
            bench.say(f"{nr} {name}, {how}: " + ", ".join(f"{form} {ns:.0f} ns" for form, ns in forms.items())
                      + (f", {n} rows, lost {gone}" if how == TRACED else ""))
            for form, ns in forms.items():
                got.setdefault((name, form, how), []).append(ns)
    return got, rows, lost, loads


# --- the tables -----------------------------------------------------------------------------------

def table(got, forms):
    for name, form in dict.fromkeys((name, form) for name, form, _ in sorted(got)):
        if form in forms:
            yield [name, FORMS[form], *(page.spread(got.get((name, form, how), [])) for how in (UNTRACED, TRACED))]


def goal_rows(got, rows, lost):
    for name, form, how, most in GOALS:
        values = got.get((name, form, how), [])
        yield [f"{name}, {FORMS[form]}, {how}", f"<= {most} ns", page.spread(values),
               goals.verdict(ns <= most for ns in values)]
    yield ["lost rows", "0", f"{lost} of {rows}", "met" if not lost else "NOT MET"]


def main():
    args = page.options("-n", "--regions", 1000000)
    before, others = os.getloadavg()[0], machine.tracing_programs()
    folder = tempfile.mkdtemp(prefix="bench.", dir=os.path.realpath(tracers.BUILD))
    try:
        with bench.in_front(figures=args.regions >= 10000):
            got, rows, lost, loads = run_rounds(args, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text, summary = ("\n".join([
        machine.heading(f"{args.rounds} rounds of {args.regions} regions in C, 300000 of each form in Python", before, loads)
        + (f" Another tracer was running: {others} BPF programs were attached before." if others else ""), "",
        *page.table(["program", "form", "CPU ns of a region, untraced", "traced"], table(got, forms))]) for forms in (FORMS, IN_DOCS))
    reached = list(goal_rows(got, rows, lost))
    others = [f"{goal} {target}: {met}" for goal, target, _, met in reached if met != "met"]
    page.show(args, text + "\n" + "\n".join(page.table(["goal", "target", "here", ""], reached)), BEGIN, END,
              summary + "\n" + "; ".join([f"{len(reached) - len(others)} of {len(reached)} goals are met", *others]) + ".\n")
    sys.exit(lost != 0)


if __name__ == "__main__":
    main()
