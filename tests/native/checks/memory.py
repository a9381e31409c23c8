# SPDX-License-Identifier: BSD-2-Clause
"""memory TRACE BEFORE AFTER BYTES: does memory.out agree with /proc/meminfo before and after the trace, and show BYTES of
shared memory that came in between?
"""
import sys

import tracefolder

COLUMNS = {"FREE": "MemFree", "AVAILABLE": "MemAvailable", "CACHED": "Cached", "DIRTY": "Dirty", "WRITEBACK": "Writeback",
           "ANON": "AnonPages", "SHMEM": "Shmem", "SWAP_FREE": "SwapFree"}


def known(path):
    with open(path, encoding="ascii") as file:
        return {line.split(":")[0]: int(line.split()[1]) * 1024 for line in file}


def main():
    trace, come = tracefolder.Trace(sys.argv[1]), int(sys.argv[4])
    before, after = known(sys.argv[2]), known(sys.argv[3])
    rows = trace["memory"]
    for row in rows:
        trace.require(all(row.n(column) >= 0 and row.n(column) % 1024 == 0 for column in COLUMNS), f"no bytes: {row}")
    for a, b in zip(rows, rows[1:-1]):  # the last row is read at the end
        trace.require(b.n("TIMESTAMP") - a.n("TIMESTAMP") >= 500_000_000, f"two rows of one interval: {a} {b}")
    # other processes go on: this shows that the unit is right
    for column, label in COLUMNS.items():
        low, high = sorted((before[label], after[label]))
        trace.require(low / 2 - (1 << 31) <= rows[0].n(column) <= high * 2 + (1 << 31), f"{column} is {rows[0][column]}, not {low} to {high}")
    # half of the new memory is more than other processes take and free by chance
    shared = [row.n("SHMEM") for row in rows]
    trace.require(come / 2 <= max(shared) - shared[0], f"{come} bytes came, and SHMEM was {shared}")
    trace.finish()


main()
