#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check.py KIND REPORT.json TRACE ACCOUNT SMI: holds a trace of job.py against the job's own clock, and gpu_dev.out and gpu.out
against SMI, lines of `nvidia-smi --query-gpu=timestamp,utilization.gpu,memory.used --format=csv,noheader,nounits'.

Prints a line of figures. Shares are within 10 points, the use of the GPU too: both tools sample it.
"""
import datetime
import json
import pathlib
import sys

CODES = {"read": ["storage-read", "decode-cpu"], "inline": ["storage-read", "decode-cpu"], "compute": ["trainer-bound"],
         "save": ["checkpoint-write"]}


def rows(path):
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n") for line in f if not line.startswith("#")]
    head = lines[0].split("\t")
    return [dict(zip(head, line.split("\t"))) for line in lines[1:]]


def samples(path):
    """Yields seconds since the epoch, utilization in %, MiB."""
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        at, use, memory = line.split(", ")
        yield datetime.datetime.strptime(at, "%Y/%m/%d %H:%M:%S.%f").timestamp(), float(use), float(memory)


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else 0


def near(what, got, want, within):
    if abs(got - want) > within:
        sys.exit(f"{what}: {got:.3f} and not {want:.3f}")


def main():
    kind, trace = sys.argv[1], pathlib.Path(sys.argv[3])
    report, account = (json.loads(pathlib.Path(p).read_text(encoding="utf-8")) for p in (sys.argv[2], sys.argv[4]))
    smi = list(samples(sys.argv[5]))
    begin, end = account["begin"], account["end"]
    wall = end - begin
    found = report["bottleneck"]
    if found["code"] not in CODES[kind]:
        sys.exit(f"{kind}: {found['code']} and none of {CODES[kind]}")
    if kind == "save":
        near("share of the checkpoints", found["share"], account["save"] / wall, 0.1)
    if kind == "compute":
        near("share of training", found["share"], account["step"] / wall, 0.1)
    if report["rows_missing"]:
        sys.exit(f"{report['rows_missing']} rows are missing")

    trainer = report["waited"]["trainers"][0]["pid"]
    of_trainer = [r for r in rows(trace / "gpu.out") if r["pid"] == str(trainer)]
    if not of_trainer:
        sys.exit(f"gpu.out has no row of process {trainer}")
    devices = rows(trace / "gpu_dev.out")
    near("most memory, MiB", max(float(r["fb"]) for r in devices), max(s[2] for s in smi), 64)
    near("mean use, %", mean(float(r["sm"]) for r in devices if begin < int(r["TIMESTAMP"]) <= end + 1e9),
         mean(s[1] for s in smi if account["begin_at"] < s[0] <= account["end_at"]), 10)
    steps = report["steps"]
    if steps:
        if sum(s["steps"] for s in steps) != account["steps"]:
            sys.exit(f"{sum(s['steps'] for s in steps)} steps and not {account['steps']}")
        near("fetching, by steps", sum(s["fetch_ns"] for s in steps) / wall, account["fetch"] / wall, 0.02)
        near("all steps", sum(s["wall_ns"] for s in steps) / wall, 1, 0.05)
    print(f"{kind}{', regions' if steps else ''}: {found['code']} {100 * found['share']:.1f} %; the job's own clock: "
          + ", ".join(f"{name} {100 * account[name] / wall:.1f} %" for name in ("fetch", "step", "save"))
          + f"; {len(devices)} samples of the GPU, {len(of_trainer)} of the process")


if __name__ == "__main__":
    main()
