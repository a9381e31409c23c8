# SPDX-License-Identifier: BSD-2-Clause
"""bios TRACE DISK BEFORE AFTER [splits]: are the rows that bio.out has of DISK, which takes bios and not
requests, what the disk counted itself between two copies of its stat file, and marked as bios? Splits: it counts each piece
of a bio that it divides, as dm-crypt does.
"""
import collections
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
# An empty flush is counted as a write of nothing, and so is one before a write (dm.c, dm_io_acct), but not by 7.2. A disk
# without a cache is asked for none. Until 5.11 the write is put into the disk's queue once more when its flush is done, and is
# counted again, with its bytes (dm.c, dec_pending and start_io_acct).
got["W", "bios"] += got["F", "bios"]
if got["W", "bios"] != stat[4]:
    got["W", "bios"] += flushes
if got["W", "bytes"] != stat[6] * 512:
    got["W", "bytes"] += flushed
for key, n in {("R", "bios"): stat[0], ("R", "bytes"): stat[2] * 512,
               ("W", "bios"): stat[4], ("W", "bytes"): stat[6] * 512}.items():
    trace.require(n > 0, f"nothing of {' '.join(key)} to compare")
    trace.require(got[key] == n or (splits and "bios" in key and 0 < got[key] < n), f"{' '.join(key)}: {got[key]} in the rows, {disk} counted {n}")
trace.finish()
