# SPDX-License-Identifier: BSD-2-Clause
"""regions_torch FOLDER WORKERS METHOD PERSISTENT: regions.out has the regions of tests/workloads/regions_torch.py, two epochs of eight
batches.

Checks how many there are of each kind, of which process, with which steps and epochs, and what the loader says of itself.
WORKERS: batches come from other processes than steps. METHOD, PERSISTENT (1 or 0): how these were started.
"""
import collections
import sys

import tracefolder


def main():
    trace = tracefolder.Trace(sys.argv[1])
    workers = sys.argv[2] == "workers"
    rows = collections.defaultdict(list)
    for row in trace["regions"]:
        rows[row["CAT"] + "." + row["NAME"]].append(row)
        trace.require(row["SOURCE"] == "torch" and row["RET"] == "0", f"not of torch, or failed: {row}")
    counts = {"dataloader.start": 2, "dataloader.fetch": 18, "data.batch": 16, "compute.backward": 16, "compute.step": 16, "checkpoint.save": 2,
              "checkpoint.load": 1}
    found = {name: len(some) for name, some in rows.items()}
    if not trace.require(found == counts, f"{found}, not {counts}"):
        trace.finish()
    trainers = {row["PID"] for name, some in rows.items() if name != "data.batch" for row in some}
    readers = {row["PID"] for row in rows["data.batch"]}
    trace.require(len(trainers) == 1, f"trainers: {trainers}")
    trace.require(not readers & trainers if workers else readers == trainers, f"batches of {readers}, steps of {trainers}")
    for name in ("compute.backward", "compute.step"):
        steps = [(row["EPOCH"], row["STEP"]) for row in rows[name]]
        trace.require(steps == [(str(n // 8), str(n)) for n in range(16)], f"{name}: epochs and steps: {steps}")
    samples = [row["ARGS"] for row in rows["compute.backward"]]
    trace.require(samples == ["samples=8"] * 16, f"samples: {samples}")
    fetches = [(row["EPOCH"], row["STEP"], row["ARGS"]) for row in rows["dataloader.fetch"]]
    wanted = []
    for epoch in range(2):
        wanted += [(str(epoch), str(epoch * 8 + n), "-") for n in range(8)] + [(str(epoch), str(epoch * 8 + 8), "end=1")]
    trace.require(fetches == wanted, f"fetches: {fetches}")
    numbers = collections.Counter(row["ARGS"] for row in rows["data.batch"])
    trace.require(numbers == ({"worker=0": 8, "worker=1": 8} if workers else {"-": 16}), f"batches: {numbers}")
    own = "workers=2\\012prefetch=2\\012persistent={}\\012in_order=1\\012method={}\\012pin=0\\012iterable=0\\012batch=8".format(*sys.argv[4:2:-1]) \
        if workers else "workers=0\\012pin=0\\012iterable=0\\012batch=8"
    starts = [row["ARGS"] for row in rows["dataloader.start"]]
    trace.require(starts == [own] * 2, f"loaders: {starts}, not {own}")
    trace.finish()


main()
