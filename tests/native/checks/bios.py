# SPDX-License-Identifier: BSD-2-Clause
"""bios TRACE DISK BEFORE AFTER [splits]: are the rows of DISK in bio.out what it counted itself, and marked as bios?

DISK takes bios, not requests; BEFORE and AFTER are copies of its stat file. Splits: it counts each piece of a bio that it
divides, as dm-crypt does.
"""
import collections
import platform
import sys

import tracefolder

_, folder, disk, before, after = sys.argv[:5]
splits = "splits" in sys.argv[5:]
trace = tracefolder.Trace(folder)
with open(before, encoding="ascii") as a, open(after, encoding="ascii") as b:
    stat = [int(y) - int(x) for x, y in zip(a.read().split(), b.read().split())]

got = collections.Counter()
flushes = flushed = 0
for row in trace["bio"]:
    if row["DISK"] != disk:
        continue
    trace.require("BIO" in row["FLAGS"].split("|"), f"not marked BIO: {row}")
    trace.require(row["QLAT_NS"] == "-", f"a time in no queue: {row}")
    trace.require(row["STATUS"] in ("0", "?"), f"failed: {row}")
    got[row["T"], "bios"] += 1
    got[row["T"], "bytes"] += int(row["BYTES"])
    if row["T"] == "W" and "PREFLUSH" in row["FLAGS"].split("|"):
        flushes += 1
        flushed += int(row["BYTES"])
# dm counts an empty flush as a write of nothing. Of a write with a flush before it, it does the flush, then queues the
# write again: this is counted as two writes, and until 5.18 its bytes count twice, too (dm.c: dec_pending() queues it
# again, start_io_acct() counts it; fixed by commit 8d394bc4adf5, dm_io_acct()). 7.2 counts it once. A disk without a
# cache gets no flushes: such a write has lost the flag before it is queued.
got["W", "bios"] += got["F", "bios"]
ways = {"once": (0, 0), "twice, the bytes once": (flushes, 0)}
if tuple(int(n) for n in platform.release().split("-")[0].split(".")[:2]) < (5, 18):
    ways["twice, with the bytes"] = (flushes, flushed)
counted = stat[4], stat[6] * 512
for way, (bios, size) in ways.items():
    if counted[1] == got["W", "bytes"] + size and (splits or counted[0] == got["W", "bios"] + bios):
        if flushes and not splits:
            print(f"{disk}: {flushes} writes with a flush before them counted {way}")
        got["W", "bios"] += bios
        got["W", "bytes"] += size
        break
for key, n in {("R", "bios"): stat[0], ("R", "bytes"): stat[2] * 512,
               ("W", "bios"): stat[4], ("W", "bytes"): stat[6] * 512}.items():
    trace.require(n > 0, f"nothing of {' '.join(key)} to compare")
    trace.require(got[key] == n or (splits and "bios" in key and 0 < got[key] < n), f"{' '.join(key)}: {got[key]} in the rows, {disk} counted {n}")
trace.finish()
