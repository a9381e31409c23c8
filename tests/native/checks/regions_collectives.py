# SPDX-License-Identifier: BSD-2-Clause
"""regions_collectives FOLDER TALLY: the regions of comm are the calls that tests/workloads/collectives_torch.py lists, with their
bytes, in the order of each process.
"""
import collections
import sys

import tracefolder


def main():
    trace = tracefolder.Trace(sys.argv[1])
    wanted, found = collections.defaultdict(list), collections.defaultdict(list)
    for line in open(sys.argv[2], encoding="ascii"):
        pid, name, size, asynchronous = line.rstrip("\n").split("\t")
        wanted[pid].append((name, size, "async=1" if asynchronous == "1" else "-"))
    for row in trace["regions"]:
        if row["CAT"] == "comm":
            trace.require(row["SOURCE"] == "torch" and row["RET"] == "0", f"not of torch, or failed: {row}")
            found[row["PID"]].append((row["NAME"], row["BYTES"], row["ARGS"]))
    trace.require(len(wanted) == 2, f"ranks: {list(wanted)}")
    for pid, calls in wanted.items():
        trace.require(found[pid] == calls, f"rank {pid}: {found[pid]}, not {calls}")
    trace.require(found.keys() == wanted.keys(), f"of {list(found)}, not {list(wanted)}")
    trace.finish()


main()
