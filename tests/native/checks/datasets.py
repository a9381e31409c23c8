# SPDX-License-Identifier: BSD-2-Clause
"""datasets TRACE JSON ACCOUNT: is the table of data sets in `dltraced report --json` what the job of datasets.sh has
counted?

And do all its rows together have what the rows of the trace have on files?
"""
import collections
import csv
import json
import os
import sys

import probes
from tracefolder import escape

with open(sys.argv[2], encoding="utf-8") as f:
    sets = json.load(f)["datasets"]
with open(sys.argv[3], encoding="utf-8") as f:
    account = json.load(f)


def equal(what, got, wanted):
    if got != wanted:
        sys.exit(f"{what}: {got}, not {wanted}, in\n" + "\n".join(map(str, sets)))


def rows_of(name):
    with open(os.path.join(sys.argv[1], name + ".out"), encoding="utf-8") as f:
        return list(csv.DictReader(f.readlines()[1:], delimiter="\t", quoting=csv.QUOTE_NONE))


# the job's account
by_path = {d["path"]: d for d in sets}
COUNTS = "files", "opens", "read_bytes", "write_bytes", "mapped_bytes"
for path, own in account.items():
    row = by_path.get(escape(os.fsencode(path)))
    if not row:
        sys.exit(f"no data set {path!r}, but {list(by_path)}")
    equal(f"{path!r}", [row[c] for c in COUNTS], [own[c] for c in COUNTS])
    equal(f"kind of {path!r}", row["kind"], "output" if own["write_bytes"] else "data")
    # a call takes no longer than its caller has measured
    if not 0 < row["time_ns"] <= own["ns"] or row["rw_ns"] + row["open_ns"] > row["time_ns"]:
        sys.exit(f"time of {path!r}: {row}, and {own}")
own_set = next(d for path, d in by_path.items() if path and path.endswith("/set/train"))
shards = next(d for path, d in by_path.items() if path and path.endswith("/shards"))
# each file was read once from the disk, in whole pages, and once from the page cache
if not 200 * 9000 <= own_set["disk_bytes"] <= 200 * 12288:
    sys.exit(f"bytes from disk: {own_set}")
equal("the share of shards that came from disk", shards["disk_share"], 1)
if not any(d["kind"] == "software" and d["path"] and "python3" in d["path"] for d in sets):
    sys.exit(f"no row of what Python itself needs: {list(by_path)}")
if len(sets) > 20:
    sys.exit(f"{len(sets)} rows")

# sums of the rows
files = {row["FID"]: row for row in rows_of("files")}
want, called = collections.Counter(), set()
for probe in probes.EACH_CALL:
    for row in rows_of(probe):
        if row["FID"] == "-" or files[row["FID"]]["TYPE"] not in ("blk", "dir", "reg", "shm"):
            continue
        ended = row["LAT_NS"] != "?"
        want["calls"] += 1
        want["time_ns"] += int(row["LAT_NS"]) if ended else 0
        want["opens"] += probe == "open" and row["RET"][0] != "-" and row["FUNC"] != "snapshot"
        want["open_ns"] += int(row["LAT_NS"]) if probe == "open" else 0
        want["rw_ns"] += int(row["LAT_NS"]) if probe == "vfs_rw" else 0
        if probe == "vfs_rw":
            want["read_bytes" if row["RW"] == "R" else "write_bytes"] += max(int(row["RETURNED"]), 0)
        if probe == "mmap" and row["FUNC"] == "mmap" and row["RET"][0] != "-":
            want["mapped_bytes"] += int(row["LEN"])
        if files[row["FID"]]["TYPE"] != "dir":
            called.add(row["FID"])
want["files"] = len(called)
for what, n in want.items():
    equal(f"{what} of all rows", sum(d[what] for d in sets), n)
