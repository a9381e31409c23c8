# SPDX-License-Identifier: BSD-2-Clause
"""bio TRACE DISK BEFORE AFTER [may-lose]: are the rows of bio.out what the disk counted between two copies of its stat file
(Documentation/block/stat.rst)? May-lose: except for rows that are counted as lost.
"""
import collections
import sys

import tracefolder

folder, disk, before, after = sys.argv[1:5]
trace = tracefolder.Trace(folder, may_lose=("bio", "pids") if "may-lose" in sys.argv[5:] else ())
lost = trace.counters["bio"]["lost"]
with open(before, encoding="ascii") as a, open(after, encoding="ascii") as b:
    stat = [int(y) - int(x) for x, y in zip(a.read().split(), b.read().split())]

got = collections.Counter()
requested = 0  # flushes before (PREFLUSH) and after (FUA) a write; a loop device does not have FUA itself
for row in trace["bio"]:
    kind = {"Z": "W"}.get(row["T"], row["T"])  # the kernel counts zeroes as written
    got[kind, "requests"] += 1
    requested += sum(flag in row["FLAGS"].split("|") for flag in ("PREFLUSH", "FUA")) * (kind == "W")
    got[kind, "bytes"] += int(row["BYTES"].replace("-", "0"))
    trace.require(row["DISK"] == disk, f"of another disk: {row}")
    trace.require(row["STATUS"] in ("0", "?"), f"failed: {row}")
    trace.require(row["T"] in "RWDFZ", f"of no kind: {row}")
    if row["QLAT_NS"] != "-":
        trace.require(row.n("QLAT_NS") <= row.n("LAT_NS"), f"issued after it was done: {row}")
    trace.require("SELF" not in row["FLAGS"].split("|"), f"dltraced's own: {row}")

wanted = {("R", "requests"): stat[0], ("R", "bytes"): stat[2] * 512,
          ("W", "requests"): stat[4], ("W", "bytes"): stat[6] * 512,
          ("D", "requests"): stat[11], ("D", "bytes"): stat[13] * 512}
if len(stat) > 15:  # since Linux 5.5
    wanted["F", "requests"] = stat[15]
# A flush without a write is counted as an empty write, too, at its end (blk-flush.c, blk_flush_restore_request); the
# driver and bio.out have only the flush.
wanted["W", "requests"] -= got["F", "requests"] - requested
for key, n in wanted.items():
    least = 0 if lost and "bytes" in key else n - lost
    trace.require(least <= got[key] <= n,
                  f"{' '.join(key)}: {got[key]} in the rows, the disk counted {n}, {lost} are lost")
for kind in "RWF":
    trace.require(got[kind, "requests"] > 0, f"nothing of kind {kind} to compare")
trace.finish()
