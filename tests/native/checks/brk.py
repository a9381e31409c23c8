# SPDX-License-Identifier: BSD-2-Clause
"""brk TRACE OUTPUT: mmap.out has strace's calls of brk and madvise of an identical run, in their order."""
import re
import sys

import tracefolder

LINE = re.compile(r"\d+ +(\w+)\(([^)]*)\) += (-?\w+)(?: (E\w+).*)?")


def strace_calls(path):
    """Yields brk with the bytes by which the heap changes, madvise with its length, advice and whether it failed."""
    last = 0
    with open(path, encoding="ascii") as f:
        for line in f:
            found = LINE.match(line)
            if not found:
                continue
            func, args, result, error = found.groups()
            args = args.split(", ")
            if func == "brk":
                end = int(result, 0)
                yield func, 0 if args[0] == "NULL" else abs(end - last)
                last = end
            else:
                yield func, int(args[1], 0), args[2], error is not None


def traced_calls(trace):
    for row in trace["mmap"]:
        if row["FUNC"] == "brk":
            yield "brk", row.n("LEN")
        elif row["FUNC"] == "madvise":
            yield "madvise", row.n("LEN"), row["FLAGS"], row.ret < 0


def main():
    trace = tracefolder.Trace(sys.argv[1])
    want, got = list(strace_calls(sys.argv[2])), list(traced_calls(trace))
    trace.require(got == want, f"strace: {want}, rows: {got}")
    trace.require(len([c for c in want if c[0] == "brk" and c[1]]) > 2 and len({c[2] for c in want if c[0] == "madvise"}) == 4,
                  f"too few calls: {want}")
    end = None
    for row in trace["mmap"]:
        if row["FUNC"] == "brk":
            # a program begins by asking where its heap ends
            trace.require(row["ADDR"] == "0" or row["OLD_ADDR"] == end, f"the heap ended at {end}: {row}")
            end = row["RET"]
    trace.finish()


main()
