# SPDX-License-Identifier: BSD-2-Clause
"""tensors FOLDER TALLY: the rows of alloc.out are the calls that tests/workloads/tensors.c counted
itself, to the byte; each free has the size, the life and the thread of its block's allocation.
"""
import collections
import sys

import tracefolder

UNCOUNTED = ("77777", "12345")


def main():
    trace = tracefolder.Trace(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as f:
        made = {func: list(map(int, numbers)) for func, *numbers in map(str.split, f)}
    trace.require(made.pop("child") == [23], "the child has not ended by itself")
    found = collections.defaultdict(lambda: [0, 0])
    live, failed, crossed = {}, 0, 0
    for row in trace["alloc"]:
        func, size, block = row["FUNC"], row["SIZE"], (row["PID"], row["ADDR"])
        if func == "c10::alloc_cpu" and row["ADDR"] == "0":
            failed += size == str(1 << 50)
            continue
        if func == "c10::alloc_cpu":
            trace.require(block not in live, f"in use twice: {row}")
            live[block] = row
        elif func in ("c10::free_cpu", "end"):
            of = live.pop(block, None)
            if size == "-" and row["PID"] != trace["alloc"][0]["PID"]:
                continue  # the child has allocated it before it was followed
            if trace.require(of, f"not in use: {row}"):
                trace.require(size == of["SIZE"] and row["ALLOC_TID"] == of["TID"], f"not of {of}: {row}")
                trace.require(row.n("LIFE_NS") == row.n("TIMESTAMP") - of.n("TIMESTAMP"), f"another life than {of}: {row}")
                crossed += row["TID"] != of["TID"]
        if size not in UNCOUNTED:
            found[func][0] += 1
            found[func][1] += int(size)
    trace.require(not live, f"{len(live)} blocks have no end")
    trace.require(failed == 1, f"{failed} calls that fail")
    trace.require(crossed > 500, f"only {crossed} blocks are freed by another thread")
    for func, numbers in made.items():
        got = found.pop(func, [0, 0])[:len(numbers)]
        trace.require(got == numbers, f"{func}: {got}, not {numbers}")
    trace.require(not found, f"rows of others: {dict(found)}")
    alloc = trace.manifest["alloc"]
    trace.require(alloc["probed_processes"] == 2 and alloc["failed_probes"] == 0, f"{alloc}")
    trace.finish()


main()
