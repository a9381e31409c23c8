# SPDX-License-Identifier: BSD-2-Clause
"""alloc_lines FOLDER TALLY: the stacks of malloc's rows are those that tests/workloads/alloc_lines.py has noted itself,
with their calls and bytes.
"""
import collections
import sys

import tracefolder

FRAMES_BYTES = 4096  # of a row, in whole frames


def cut(stack):
    """What there is room for."""
    while len(stack) >= FRAMES_BYTES:
        stack = stack[:stack.rindex(b";")]
    return stack


def main():
    trace = tracefolder.Trace(sys.argv[1])
    noted = collections.Counter()
    sizes = set()
    with open(sys.argv[2], "rb") as f:
        for line in f:
            calls, size, stack = line.rstrip(b"\n").split(b" ", 2)
            noted[cut(stack), int(size) // int(calls)] += int(calls)
            sizes.add(int(size) // int(calls))
    sites = {row["SITE"]: row for row in trace["sites"]}
    found = collections.Counter()
    for row in trace["alloc"]:
        if row["FUNC"] != "malloc" or row.n("SIZE") not in sizes:
            continue
        site = sites[row["SITE"]]
        trace.require(site["KIND"] == "python", f"no lines: {row}, {site}")
        found[site.b("FRAMES"), row.n("SIZE")] += 1
    trace.require(len(noted) > 100, f"the tally is too small: {len(noted)}")
    for what in noted.keys() | found.keys():
        trace.require(noted[what] == found[what], f"{noted[what]} calls, not {found[what]}: {what}")
    counts = trace.manifest["alloc"]
    trace.require(counts["python_programs"] and not counts["unread_python_programs"] and counts["unread_python"] is None, f"manifest: {counts}")
    trace.require(not counts["siteless"] and not counts["skipped"], f"manifest: {counts}")
    trace.finish()


main()
