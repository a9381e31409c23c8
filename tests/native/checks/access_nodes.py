# SPDX-License-Identifier: BSD-2-Clause
"""access_nodes FOLDER TALLY: the rows of access.out in the memory that tests/workloads/touches has listed in TALLY have its nodes; or
"-" where this machine has memory on one node alone.
"""
import collections
import sys

import tracefolder


def main():
    trace = tracefolder.Trace(sys.argv[1])
    with open("/sys/devices/system/node/has_memory", encoding="ascii") as f:
        single = f.read().strip().isdigit()
    with open(sys.argv[2], encoding="ascii") as f:
        halves = [(words[1], int(words[2], 16), int(words[3], 16), "-" if single else words[4])
                  for words in map(str.split, f) if words[0] == "node"]
    trace.require(len(halves) == 4, f"{len(halves)} halves")
    trace.require(single or len({node for *_, node in halves}) == 2, f"the halves are on one node: {halves}")
    touched = collections.Counter()
    for row in trace["access"]:
        begin = int(row["ADDR"], 16)
        for pid, first, end, node in halves:
            common = min(begin + row.n("BYTES"), end) - max(begin, first)
            if row["PID"] != pid or common <= 0:
                continue
            trace.require(row["NODE"] == node, f"not node {node}: {row}")
            touched[pid, first] += common
    for pid, first, end, _ in halves:
        trace.require(touched[pid, first] >= end - first, f"{touched[pid, first]} touched bytes of {pid} from {first:#x} on")
    if single:
        print("note: this machine has one node")
    trace.require(trace.counters["access"]["lost"] == 0, "lost rows")
    trace.finish()


main()
