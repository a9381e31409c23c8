#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""parts.py DLTRACED TRACE N: the reports on N parts of TRACE add up to the report on all of it, and no part says a number
that is longer than itself. A leaf of the path may differ by 1 % of the path, as what a thread did within an interval of
sched.out is only known for all of that."""

import json
import subprocess
import sys

dltraced, trace, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(trace + "/manifest.json") as f:
    manifest = json.load(f)
length = manifest["end"]["monotonic_ns"] - manifest["start"]["monotonic_ns"]
problems = []


def report(*options):
    done = subprocess.run([dltraced, "report", "--json", *options, trace], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def part(i):
    begin, end = length * i // n, length * (i + 1) // n
    return report("--from", f"{begin / 1e9:.9f}", "--to", f"{end / 1e9:.9f}")


def probes(r):
    return {(p["name"], key): p.get(key) or 0 for p in r["probes"] for key in ("rows", "bytes")}


def cpu(r):
    keys = "run_ns", "runq_ns", "disk_ns", "blocked_ns", "sleep_ns"
    return {(t["kind"], t["name"], key): t[key] for t in r["cpu"]["tasks"] for key in keys}


def leaves(r):
    sums = {}
    for p in r["path"]["parts"] if r["path"] else ():  # a part behind the job's end has none
        leaf = p["kind"], p["detail"], p["role"], p["starting"]
        sums[leaf] = sums.get(leaf, 0) + p["ns"]
    return sums


def compare(what, of, may_differ):
    wanted, got = of(whole), {}
    for p in parts:
        for key, number in of(p).items():
            got[key] = got.get(key, 0) + number
    for key in sorted(wanted.keys() | got.keys(), key=str):
        if abs(wanted.get(key, 0) - got.get(key, 0)) > may_differ:
            problems.append(f"{what}, {key}: {wanted.get(key, 0)} in all, {got.get(key, 0)} in {n} parts")


def is_alone(i, p):
    """What P says of times is not beyond the part, nor of the whole job."""
    wall = p["window"]["end_ns"] - p["window"]["begin_ns"]
    if p["rusage"] is not None or p["own_cpu_ns"]:
        problems.append(f"part {i}: what the whole job used")
    if (p["exit_code"] is not None) != (manifest["workload"]["end"]["monotonic_ns"] < p["window"]["end_ns"]):
        problems.append(f"part {i}: exit code {p['exit_code']}")
    for thread in p["cpu"]["threads"]:
        if thread["run_ns"] > 1.01 * wall:
            problems.append(f"part {i}: a thread ran for {thread['run_ns']} of {wall} ns")
    for trainer in (p.get("waited") or {}).get("trainers") or []:
        if not p["window"]["begin_ns"] <= trainer["begin_ns"] <= trainer["end_ns"] <= p["window"]["end_ns"]:
            problems.append(f"part {i}: waits from {trainer['begin_ns']} to {trainer['end_ns']}")
    path_ns = p["path"]["wall_ns"] if p["path"] else 0
    if sum(leaves(p).values()) != path_ns or path_ns > wall:
        problems.append(f"part {i}: a path of {path_ns} ns")
    if (p["bottleneck"]["code"] == "too-short") != (wall < 5e8):
        problems.append(f"part {i}: {p['bottleneck']['code']} after {wall} ns")


whole = report()
parts = [part(i) for i in range(n)]
compare("rows and bytes", lambda r: {k: v for k, v in probes(r).items() if k[0] not in ("files", "pids", "time_align")}, 0)
compare("CPU time", cpu, 1000)
compare("path", leaves, 0.01 * whole["path"]["wall_ns"])
if sum(p["path"]["wall_ns"] for p in parts if p["path"]) != whole["path"]["wall_ns"]:
    problems.append("path: not as long as all parts of it")
for i, p in enumerate(parts):
    is_alone(i, p)
sys.exit("\n".join(problems) or 0)
