# SPDX-License-Identifier: BSD-2-Clause
"""framework_regions FOLDER REPORT ACCOUNT auto|batched|callback: regions.out has a step for each batch that
tests/workloads/frameworks.py trained with, of the right epoch.

auto: by --regions auto, with the fetches, backward passes and samples, too; batched: the data set puts batches together
itself, and the number of their samples is not known. callback: by the trainer's callback of the package dltraced, which
marks epochs, too. The parts of the steps are the time of the steps.
"""
import collections
import json
import pathlib
import sys

import tracefolder


def main():
    trace = tracefolder.Trace(sys.argv[1])
    report, account = (json.loads(pathlib.Path(name).read_text()) for name in sys.argv[2:4])
    how = sys.argv[4]
    counts = collections.Counter((row["CAT"], row["NAME"], row["EPOCH"]) for row in trace["regions"] if row["ARGS"] != "end=1")

    def of(cat, name):
        return [counts[cat, name, str(epoch)] for epoch in range(len(account["batches"]))]

    names = [("compute", "step"), ("dataloader", "fetch")] + [("compute", "backward")] * (how != "callback")
    for cat, name in names:
        trace.require(of(cat, name) == account["batches"], f"{cat}.{name}: {of(cat, name)}, not {account['batches']}")
    steps = report["steps"]
    trace.require([s["steps"] for s in steps] == account["batches"], f"steps: {steps}")
    parts = ("fetch_ns", "compute_ns", "checkpoint_ns", "comm_ns", "other_ns")
    trace.require(all(s["wall_ns"] == sum(s[part] for part in parts) for s in steps), f"parts of {steps}")
    trace.require(all(0 < s["fetch_ns"] < s["wall_ns"] for s in steps), f"fetches of {steps}")
    samples = [None] * len(steps) if how == "batched" else account["samples"]
    trace.require([s["samples"] for s in steps] == samples, f"samples of {steps}, not {samples}")
    if how == "callback":
        trace.require(of("pipeline", "epoch") == [1] * len(account["epochs"]), f"epochs: {counts}")
        epochs = [row for row in trace["regions"] if (row["CAT"], row["NAME"]) == ("pipeline", "epoch") and row["RET"] == "0"]
        for row, (begin, end) in zip(epochs, account["epochs"]):
            mine = row.n("TIMESTAMP") - row.n("LAT_NS"), row.n("TIMESTAMP")
            overlap = min(end, mine[1]) - max(begin, mine[0])
            trace.require(overlap > 0.9 * max(end - begin, mine[1] - mine[0]), f"{row}: the epoch is {begin} to {end}")
    else:
        trace.require({row["SOURCE"] for row in trace["regions"]} == {"torch"}, "other sources")
    trace.finish()


main()
