# SPDX-License-Identifier: BSD-2-Clause
"""torch TRACE DATA LOG: are the rows what tests/workloads/train.py did with the folder DATA?

LOG is its output, whose last line has its own count.
"""
import collections
import os
import sys

import tracefolder

EPOCHS = 2


def check_samples(trace, folder, workers):
    """In each epoch, each sample is opened once, by a worker of that epoch, and read to its end."""
    names = [name for name in os.listdir(folder) if name.startswith("sample.")]
    trace.require(len(names) == 512, f"{len(names)} samples")
    opens, moved = collections.defaultdict(list), collections.Counter()
    for row in trace["open"]:
        opens[row.b("REALPATH")].append(row)
    for row in trace["vfs_rw"]:
        moved[row["PID"], row["FID"], row["RW"]] += row.ret
    for name in names:
        path = os.path.join(folder, name)
        epochs = [workers.get(row["PID"]) for row in opens[path.encode()]]
        trace.require(sorted(map(str, epochs)) == ["1", "2"], f"{name} is opened in epochs {epochs}")
        for row in opens[path.encode()]:
            read = moved[row["PID"], row["FID"], "R"]
            opened = sum(r["PID"] == row["PID"] for r in opens[path.encode()])
            trace.require(read == opened * os.path.getsize(path), f"{name}: {read} bytes by {row['PID']}")


def check_checkpoints(trace, folder, root):
    path = os.path.join(folder, "checkpoint.pt").encode()
    tmp = path + b".tmp"
    created = [row for row in trace["create_del"] if row["FUNC"] == "create" and row.b("PATH") == tmp]
    renamed = [row for row in trace["create_del"] if row["FUNC"].startswith("rename") and
               (row.b("PATH"), row.b("PATH2")) == (tmp, path)]
    trace.require(len(created) == len(renamed) == EPOCHS, f"checkpoints: {created} {renamed}")
    for create, rename in zip(created, renamed):
        fid = create["FID"]
        written = sum(row.ret for row in trace["vfs_rw"] if row["FID"] == fid and row["RW"] == "W")
        trace.require(rename.ret == 0 and rename["FID"] == fid and trace.paths(fid) == {tmp, path}, f"{rename}")
        trace.require(create["PID"] == rename["PID"] == root, f"not by the trainer: {create}")
        trace.require(written >= os.path.getsize(path), f"checkpoint: {written} bytes")


def check_workers(trace, workers, root):
    forks = {row["PID"]: row for row in trace["pids"] if row["EVENT"] == "fork"}
    exits = {row["PID"]: row["STATUS"] for row in trace["pids"] if row["EVENT"] == "exit" and row["STATUS"] != "-"}
    for pid in workers:
        trace.require(pid in forks and forks[pid]["PPID"] == root, f"worker {pid}: {forks.get(pid)}")
        trace.require(exits.get(pid) == "0", f"worker {pid}: status {exits.get(pid)}")
    for name, row in trace.calls():
        trace.require(row["PID"] in exits and row["COMM"] != "-", f"{name}: {row}")


def main():
    folder, data, log = sys.argv[1:]
    trace, data = tracefolder.Trace(folder), os.path.realpath(data)
    with open(os.path.join(data, "workers"), encoding="ascii") as f:
        workers = {pid: epoch for epoch, _, pid in map(str.split, f)}
    with open(log, encoding="utf-8") as f:
        last = f.read().splitlines()[-1]
    trace.require(last.startswith(f"samples {512 * EPOCHS} "), last)
    trace.require(len(workers) == 2 * EPOCHS, f"workers: {workers}")
    root = str(trace.manifest["workload"]["pid"])
    check_samples(trace, data, workers)
    check_checkpoints(trace, data, root)
    check_workers(trace, workers, root)
    trace.finish()


main()
