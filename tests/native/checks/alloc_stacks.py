# SPDX-License-Identifier: BSD-2-Clause
"""alloc_stacks FOLDER TALLY PROGRAM CALLS: each block of tests/workloads/alloc_stacks.c has the stack of the path that it was
allocated by, by the symbols of PROGRAM.
"""
import collections
import sys

import tracefolder
from elf_symbols import Symbols


def main():
    trace, symbols = tracefolder.Trace(sys.argv[1]), Symbols(sys.argv[3])
    with open(sys.argv[2], encoding="utf-8") as f:
        paths = dict(line.split() for line in f)
    known = {row["SITE"]: row for row in trace["sites"]}
    program = next(site for site, row in known.items() if row["KIND"] == "module" and row["FRAMES"].endswith("/alloc_stacks"))
    calls, wrong = 0, collections.Counter()
    for row in trace["alloc"]:
        if row["FUNC"] != "malloc" or row["SIZE"] not in paths:
            continue
        frames = [frame.split("+") for frame in known[row["SITE"]]["FRAMES"].split(";")]
        names = [symbols.name(int(at, 16) - 1) for module, at in frames if module == program]
        path = "".join(name[-1] for name in reversed(names) if name.startswith("path_"))
        calls += 1
        wrong[paths[row["SIZE"]], path] += path != paths[row["SIZE"]]
    trace.require(calls == int(sys.argv[4]), f"{calls} calls")
    trace.require(not wrong.total(), f"{wrong.total()} wrong stacks of {calls}, (path, found): {wrong.most_common(5)}")
    trace.require(len({site["FRAMES"] for site in known.values()}) > 100, "too few stacks")
    trace.finish()


main()
