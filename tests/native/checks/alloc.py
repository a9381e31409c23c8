# SPDX-License-Identifier: BSD-2-Clause
"""alloc FOLDER TALLY: the rows of alloc.out are the calls that tests/workloads/alloc.c counted itself, to the byte, and
each block's rows are those of one life after another.
"""
import collections
import sys

import tracefolder

GIVES = ("free", "end")


def check_lives(trace, rows):
    """No block is in use twice, and what is told of it when it goes is what its allocation's row has."""
    live = {}
    for row in rows:
        got = None if row["FUNC"] in GIVES else (row["PID"], row["ADDR"])
        gone = (row["PID"], row["ADDR"] if row["FUNC"] in GIVES else row["OLD_ADDR"])
        if gone[1] != "-":
            of = live.pop(gone, None)
            if not trace.require(of, f"not in use: {row}"):
                continue
            size = row["SIZE" if row["FUNC"] in GIVES else "OLD_SIZE"]
            trace.require(size == of["SIZE"] and row["ALLOC_TID"] == of["TID"], f"another block than {of}: {row}")
            trace.require(row.n("LIFE_NS") == row.n("TIMESTAMP") - of.n("TIMESTAMP"), f"its life is not since {of}: {row}")
            site = row["SITE" if row["FUNC"] in GIVES else "OLD_SITE"]
            trace.require(site == of["SITE"], f"not the stack of {of}: {row}")
        if got:
            trace.require(got not in live, f"in use twice: {row}, {live.get(got)}")
            live[got] = row
    trace.require(not live, f"{len(live)} blocks have no end, such as {list(live.values())[:1]}")


def check_sites(trace, rows):
    known = {row["SITE"]: row for row in trace["sites"]}
    trace.require(len(known) == len(trace["sites"]), "a site has two rows")
    used = {row["SITE"] for row in rows}
    trace.require("-" not in used, "rows without a stack")
    for site in used - {"-"}:
        row = known.get(site)
        if not trace.require(row and row["KIND"] == "native", f"site {site}: {row}"):
            continue
        for frame in row["FRAMES"].split(";"):
            module = known.get(frame.split("+")[0])
            trace.require(module and module["KIND"] == "module", f"site {site}: {frame} is in no module: {row}")
    modules = [row.b("FRAMES") for row in known.values() if row["KIND"] == "module"]
    trace.require(any(m.endswith(b"/alloc") for m in modules) and any(b"libc" in m for m in modules), f"modules: {modules}")


def main():
    trace = tracefolder.Trace(sys.argv[1])
    rows = trace["alloc"]
    made = {}
    with open(sys.argv[2], encoding="utf-8") as f:
        for line in f:
            func, *numbers = line.split()
            made[func] = tuple(map(int, numbers))
    del made["peak"]
    found = collections.defaultdict(lambda: (0, 0))
    for row in rows:
        n, size = found[row["FUNC"]]
        if trace.require(row["SIZE"] != "-", f"its allocation is not known: {row}"):
            found[row["FUNC"]] = n + 1, size + row.n("SIZE")
    trace.require(made["free"][0] > 100 and all(n for n, _ in made.values()), f"the tally is too small: {made}")
    for func in sorted({*made, *found}):
        trace.require(made.get(func) == found[func], f"{func}: {made.get(func)} calls and bytes, not {found[func]}")
    check_lives(trace, rows)
    check_sites(trace, rows)
    counts = trace.manifest["alloc"]
    for what in ("unread_threads", "uncovered_processes", "unkept_blocks", "refused_pages", "skipped", "siteless", "live_blocks", "live_bytes"):
        trace.require(counts[what] == 0, f"manifest: {what}: {counts}")
    trace.finish()


main()
