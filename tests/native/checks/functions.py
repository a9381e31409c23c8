# SPDX-License-Identifier: BSD-2-Clause
"""functions.py TRACE JSON: the table of calls by function is that of the trace's rows.

Counts, bytes, times, and the smallest and largest value are equal to the digit, quantiles within two percent.
"""
import collections
import json
import sys

import tracefolder

trace = tracefolder.Trace(sys.argv[1])
reported = {(f["probe"], f["func"], f["rw"]): f for f in json.load(open(sys.argv[2], encoding="utf-8"))["functions"]}
rows = collections.defaultdict(list)
for probe, row in trace.calls():
    if probe != "bio":
        rows[probe, row["FUNC"], row.get("RW")].append(row)
trace.require(sorted(map(str, reported)) == sorted(map(str, rows)), f"functions: {sorted(map(str, reported))}, in rows {sorted(map(str, rows))}")


def quantile(values, per_mille):
    return sorted(values)[max((len(values) * per_mille + 999) // 1000, 1) - 1]


def equal(key, what, got, wanted):
    trace.require(got == wanted, f"{key}: {what} is {got}, in rows {wanted}")


def near(key, what, got, wanted):
    trace.require(abs(got - wanted) <= wanted / 50 + 1, f"{key}: {what} is {got}, in rows {wanted}")


for key, mine in rows.items():
    f, result = reported.get(key, {}), "RETURNED" if key[0] == "vfs_rw" else "RET"
    ended = [r for r in mine if r[result] != "?"]
    lat = [int(r["LAT_NS"]) for r in ended]
    size = [int(r["RETURNED"]) for r in ended if key[0] == "vfs_rw" and r["RETURNED"].isdigit()]
    if key[:2] == ("mmap", "mmap"):
        size = [int(r["LEN"]) for r in ended if r["RET"][0] != "-" and r["FID"] != "-"]
    equal(key, "calls", f.get("calls"), len(mine))
    equal(key, "failed", f.get("failed"), sum(r[result].startswith("-") and r[result] != "-" for r in ended))
    equal(key, "running", f.get("running"), len(mine) - len(ended))
    equal(key, "time", f.get("time_ns"), sum(lat))
    equal(key, "bytes", f.get("bytes"), sum(size) if size else None)
    if size:
        equal(key, "size", [f["size_min_bytes"], f["size_mean_bytes"], f["size_max_bytes"]], [min(size), sum(size) // len(size), max(size)])
        for q in (25, 50, 75):
            near(key, f"size's p{q}", f[f"size_p{q}_bytes"], quantile(size, 10 * q))
    if lat:
        equal(key, "longest", f["max_ns"], max(lat))
        for q in (50, 99):
            near(key, f"p{q}", f[f"p{q}_ns"], quantile(lat, 10 * q))
trace.require(len(rows) > 5, f"functions of the trace: {len(rows)}")
trace.finish()
