# SPDX-License-Identifier: BSD-2-Clause
"""alloc_torch FOLDER TALLY: the tensors of tests/workloads/alloc_torch.py are there, each with the line that made it."""
import collections
import sys

import tracefolder


def main():
    trace = tracefolder.Trace(sys.argv[1])
    with open(sys.argv[2], "rb") as f:
        want = {(int(size), line): int(n) for n, size, line in (line.rstrip(b"\n").split(b" ", 2) for line in f)}
    sites = {row["SITE"]: row for row in trace["sites"]}
    sizes = {size for size, _ in want}
    got = collections.Counter()
    for row in trace["alloc"]:
        if row["FUNC"] not in ("free", "end") and row["SIZE"] != "-" and row.n("SIZE") in sizes:
            site = sites[row["SITE"]]
            got[row.n("SIZE"), site.b("FRAMES").split(b";")[0] if site["KIND"] == "python" else b"native"] += 1
    trace.require(len(want) == 4 and got == want, f"made: {want}, rows: {dict(got)}")
    trace.finish()


main()
