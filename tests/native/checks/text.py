# SPDX-License-Identifier: BSD-2-Clause
"""text TRACE FILE: the rows of workload.out are FILE, line by line; a long line is several rows."""
import sys

import tracefolder

ROW_MAX = 4096

trace = tracefolder.Trace(sys.argv[1])
with open(sys.argv[2], "rb") as f:
    lines = f.read().split(b"\n")
if not lines[-1]:
    lines.pop()
wanted = [line[at:at + ROW_MAX] for line in lines for at in range(0, max(len(line), 1), ROW_MAX)]
with open(sys.argv[1] + "/workload.out", encoding="utf-8") as f:
    rows = [tuple(row.rstrip("\n").split("\t")) for row in list(f)[2:]]
got = [b"" if text == "-" else tracefolder.unescape(text) for _, _, text in rows]
trace.require(len(got) == len(wanted), f"{len(got)} rows of {len(wanted)} lines")
for nr, (is_, should) in enumerate(zip(got, wanted), 1):
    trace.require(is_ == should, f"row {nr}: {is_[:80]} instead of {should[:80]}")
for _, _, text in rows:
    trace.require(text == "-" or text == tracefolder.escape(tracefolder.unescape(text)), f"escapes: {text}")
trace.require(trace.counters["workload"]["rows"] == len(rows), f"manifest: {trace.counters['workload']}")
trace.finish()
