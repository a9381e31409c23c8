# SPDX-License-Identifier: BSD-2-Clause
"""What is not a workload under a tracer: bystanders, bytes per row, the peak while loading."""
import contextlib
import json
import os
import subprocess
import time

import measure
import tracers
import workloads

HOOKS = os.path.realpath(os.path.join(tracers.BUILD, "bench/hooks"))
SAMPLE = 32 << 20
PACKERS = {"gzip": ["gzip", "-6"], "zstd -3": ["zstd", "-3"], "zstd -19": ["zstd", "-19"]}
BYSTANDERS = {"others": 400000, "bytes": 300000, "reads": 150000}  # pattern of load.c: number of times
BLOCK = 500  # a block has that many, some 0.1 ms
TURNS = 6  # in each round


# --- bystanders: processes that are not traced, while something is attached ---------------------

@contextlib.contextmanager
def nothing(bench):
    yield


@contextlib.contextmanager
def hooks(bench):
    with subprocess.Popen([HOOKS, "empty"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        if p.stdout.readline() != "ready\n":
            raise measure.Failed("the empty hooks cannot be attached")
        yield
        p.stdin.close()


@contextlib.contextmanager
def dltraced(bench):
    """It traces a workload that only waits."""
    run = measure.Run(bench, tracers.tracer("dltraced"), workloads.workload("start"))
    with measure.gated(run) as (gate, log):
        process = measure.spawn(run.tracer.argv(run, run.load()), run, stdout=log, stderr=log)
        gate.wait("ready", process)
        yield
        gate.go()
        gate.wait("done", process)
        gate.go()
        process.wait(measure.LIMIT_S)


# name, what is attached during the load, how the load is run, its patterns
STANDING = (
    ("none", nothing, [], BYSTANDERS),
    ("empty hooks", hooks, [], BYSTANDERS),
    ("least row", nothing, [HOOKS, "row"], ("reads",)),  # this traces the load itself, which is as short
    ("dltraced", dltraced, [], BYSTANDERS),
)


def bystanders(bench, nr):
    for name, standing, by, patterns in STANDING * TURNS:
        with standing(bench):
            for pattern in patterns:
                result = os.path.join(bench.folder, "result")
                subprocess.run([*by, measure.LOAD, "-n", str(BYSTANDERS[pattern]), "-b", str(BLOCK),
                                "-o", result, "-d", bench.folder, pattern], check=True)
                with open(result) as f:
                    yield {"round": nr, "attached": name, "pattern": pattern,
                           "least_ns": json.load(f)["least_ns"]}


# --- bytes per row ------------------------------------------------------------------------------

def packed(argv, data):
    return len(subprocess.run([*argv, "-c"], input=data, capture_output=True, check=True).stdout)


def sizes(bench, name):
    """Returns bytes per row of a workload's vfs_rw.out, how many of them are COMM and FILE, and bytes when compressed."""
    run = measure.Run(bench, tracers.tracer("dltraced"), workloads.workload(name))
    measure.measure(bench, run.tracer, run.workload, keep=True)
    path = run.path("trace/vfs_rw.out")
    with open(path, "rb") as f:
        f.seek(max(0, os.path.getsize(path) - SAMPLE))
        f.readline()
        data = f.read()
    rows = [line.split(b"\t") for line in data.splitlines() if not line.startswith((b"#", b"TIME"))]
    n = len(rows)
    got = {"workload": name, "rows": n, "text": len(data) / n,
           "comm_file": sum(len(r[4]) + len(r[15]) for r in rows) / n}
    for packer, argv in PACKERS.items():
        got[packer] = packed(argv, data) / n
    return got


# --- the peak while loading -----------------------------------------------------------------------

def load_peak(bench):
    """Returns the highest resident memory beside the rings, read every few ms until the workload begins."""
    run = measure.Run(bench, tracers.tracer("dltraced"), workloads.workload("start"))
    peak = 0
    with measure.gated(run) as (gate, log):
        process = measure.spawn(run.tracer.argv(run, run.load()), run, stdout=log, stderr=log)
        while not gate.has_word() and process.poll() is None:
            peak = max(peak, measure.memory(process.pid)["rest"])
            time.sleep(0.001)
        for word in ("ready", "done"):
            gate.wait(word, process)
            gate.go()
        process.wait(measure.LIMIT_S)
    return peak
