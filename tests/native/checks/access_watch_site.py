# SPDX-License-Identifier: BSD-2-Clause
"""access_watch_site FOLDER TALLY: in access.out each round of accesses that TALLY lists has its 1000 of the watched block, but for those
before the first one, and no others.
"""
import sys

import tracefolder


def main():
    trace = tracefolder.Trace(sys.argv[1])
    rows = trace["access"]
    stacks = {row["SITE"]: row["FRAMES"] for row in trace["sites"]}
    blocks = {(row["PID"], row["ADDR"], row["SITE"]): row for row in trace["alloc"]}
    for row in rows:
        trace.require(row["SOURCE"] == "watch" and row["BYTES"] == row["TOUCHED"] == "8" and row["COUNT"] == "1" and row["WRITTEN"] == "-",
                      f"a row of something else: {row}")
        trace.require(":3:watched;" in stacks[row["SITE"]], f"stack {stacks[row['SITE']]}")
        trace.require((row["PID"], row["ADDR"], row["SITE"]) in blocks, f"not a block of alloc.out: {row}")
        trace.require(row["TID"] == row["PID"] and row["IP"] != "-", f"not the program's: {row}")
    addrs, sites = {row["ADDR"] for row in rows}, {row["SITE"] for row in rows}
    trace.require(len(addrs) == 1 and any(row["ADDR"] in addrs and row["SITE"] not in sites for row in trace["alloc"] if row["FUNC"] != "free"),
                  "the block's address was not used again")
    times = [row.n("TIMESTAMP") for row in rows]
    with open(sys.argv[2], encoding="ascii") as f:
        rounds = [(words[0], int(words[1]), int(words[2])) for words in map(str.split, f)]
    begun = seen = 0
    for name, begin, end in rounds:
        n = sum(begin <= at <= end for at in times)
        trace.require(n == (1000 if begun and name == "watched" else 0) or (not begun and n <= 1000), f"{n} rows in a round of {name}")
        begun = begun or n
        seen += n
    trace.require(begun and rounds[-1][0] == "other", "nothing was watched, or nothing was freed")
    trace.require(seen == len(rows), f"{len(rows) - seen} rows between the rounds")
    trace.require(trace.counters["access"]["lost"] == 0, "lost rows")
    trace.finish()


main()
