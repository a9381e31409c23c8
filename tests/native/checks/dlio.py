# SPDX-License-Identifier: BSD-2-Clause
"""dlio FOLDER OUTPUT REPORT: the regions of DLIO in the trace FOLDER, and their steps, epochs and bytes in REPORT, are those
of its own output: OUTPUT/RANK_output.json, per_epoch_stats.json, summary.json, and the options in .hydra/config.yaml.
"""
import collections
import datetime
import json
import pathlib
import re
import sys

import tracefolder

STEP, SAMPLE = ("ai_framework", "TorchFramework.compute"), ("reader", "NPZReader.get_sample")


def main():
    trace = tracefolder.Trace(sys.argv[1])
    out = pathlib.Path(sys.argv[2])
    report = json.loads(pathlib.Path(sys.argv[3]).read_text())
    ranks = [json.loads(path.read_text()) for path in sorted(out.glob("*_output.json"))]
    epochs = json.loads((out / "per_epoch_stats.json").read_text())
    summary = json.loads((out / "summary.json").read_text())
    length = int(re.search(r"record_length: (\d+)", (out / ".hydra/config.yaml").read_text())[1])
    of = collections.defaultdict(list)
    for row in trace["regions"]:
        of[row["CAT"], row["NAME"]].append(row)

    # each rank computed as often in each epoch as it says, and for as long as it slept for that
    computed = {rank: [n for epoch in epochs for n in output[epoch]["compute"]["block1"]] for rank, output in enumerate(ranks)}
    by_pid = collections.defaultdict(list)
    for row in of[STEP]:
        by_pid[row["PID"]].append(row)
    trace.require(len(ranks) > 1 and len(by_pid) == len(ranks), f"ranks: {len(by_pid)}, not {len(ranks)}")
    for (pid, rows), wanted in zip(by_pid.items(), computed.values()):
        trace.require(len(rows) == len(wanted), f"{pid}: {len(rows)} steps, not {len(wanted)}")
        trace.require(all(row.n("LAT_NS") >= s * 1e9 for row, s in zip(rows, wanted)), f"{pid}: a step is shorter than it slept")

    # by its clock, an epoch's steps lie within it
    per_epoch = len(of[STEP]) // len(epochs)
    for i, (epoch, stats) in enumerate(epochs.items()):
        begin, end = (datetime.datetime.fromisoformat(stats[key]).astimezone().timestamp() for key in ("start", "end"))
        for row in of[STEP][i * per_epoch:(i + 1) * per_epoch]:
            at = tracefolder.ns_of(row["TIME"]) / 1e9
            trace.require(begin <= at - row.n("LAT_NS") / 1e9 + 1e-5 and at <= end + 1e-5, f"epoch {epoch}: a step outside of it")

    # the report has these steps and epochs
    got = sorted((s["epoch"], s["steps"]) for s in report["steps"])
    wanted = sorted((int(epoch), len(output[epoch]["compute"]["block1"])) for epoch in epochs for output in ranks)
    trace.require(got == wanted, f"steps: {got}, not {wanted}")
    got = [e["name"] for e in report["epochs"]]
    trace.require(got == [f"epoch {epoch}" for epoch in epochs], f"epochs: {got}")

    # each sample of each epoch was read once, with all its bytes
    samples = summary["num_files_train"] * summary["num_samples_per_file"] * summary["epochs"]
    sums = {(r["cat"], r["name"]): r for r in report["regions"]}
    trace.require(sums[SAMPLE]["count"] == len(of[SAMPLE]) == samples, f"samples: {sums[SAMPLE]['count']}, not {samples}")
    trace.require(sums[SAMPLE]["bytes"] == samples * length, f"bytes: {sums[SAMPLE]['bytes']}, not {samples * length}")
    trace.require(round(summary["data_size_per_host_GB"] * 2**30) * summary["epochs"] == samples * length, "bytes, as it says")
    trace.finish()


main()
