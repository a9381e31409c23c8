# SPDX-License-Identifier: BSD-2-Clause
"""export_cuts.py INTERVALS [--OPTION VALUE]... FOLDER...: do the exports here have exactly the rows that the cuts leave?

The expected rows are read here from the .out files: INTERVALS in ns since the trace began, --pid, --path and --probes as
for the export. Checks rows.ndjson, csv/, trace.db, trace.pftrace, trace.pfw, stacks, and parquet/ and db.duckdb where
they are there.
"""
import collections
import csv
import glob
import json
import os
import sqlite3
import sys

intervals, args = eval(sys.argv[1]), sys.argv[2:]  # a literal in the script
cuts = {}
while args[0].startswith("--"):
    cuts[args[0]] = args[1]
    args = args[2:]
pids = cuts.get("--pid", "").split(",")
path = cuts.get("--path", "").rstrip("/")
WHOLE = ("files", "pids", "time_align")
wanted = collections.Counter()  # (host, file, TIMESTAMP)
ns_of_calls = 0


def read(folder, name):
    with open(f"{folder}/{name}.out", encoding="utf-8") as f:
        columns, *rows = [line.split("\t") for line in f.read().split("\n")[1:-1]]
    return [dict(zip(columns, row)) for row in rows if not row[0].startswith("#")]


for folder in args:
    with open(f"{folder}/manifest.json", encoding="utf-8") as f:
        host = json.load(f)["host"]
    zero = int(read(folder, "time_align")[0]["TIMESTAMP"])
    fids = {row["FID"] for row in read(folder, "files") if row["REALPATH"] == path or row["REALPATH"].startswith(path + "/")}
    calls = {}
    for name in (os.path.basename(file)[:-4] for file in glob.glob(f"{folder}/*.out")):
        if "--probes" in cuts and name not in cuts["--probes"].split(","):
            continue
        for row in read(folder, name):
            at = int(row["TIMESTAMP"]) - zero
            if name not in WHOLE and not any(begin <= at < end for begin, end in intervals):
                continue
            if ("--pid" in cuts and row.get("PID", pids[0]) not in pids) or ("--path" in cuts and "FID" in row and row["FID"] not in fids):
                continue
            wanted[host, name, int(row["TIMESTAMP"])] += 1
            if "FUNC" in row and "LAT_NS" in row:
                calls[row["TIMESTAMP"], row["TID"]] = int(row["LAT_NS"])
    ns_of_calls += sum(calls.values())
if not any(name not in WHOLE for _, name, _ in wanted) or len(intervals) == 0:
    sys.exit("nothing would be left")


def compare(what, got):
    for key in (wanted - got, got - wanted):
        if key:
            sys.exit(f"{what}: {list(key.items())[:3]} of {len(key)} are {'there' if key == got - wanted else 'missing'}")


with open("rows.ndjson", encoding="utf-8") as f:
    compare("ndjson", collections.Counter((row["host"], row["probe"], row["TIMESTAMP"]) for row in map(json.loads, f)))
got = collections.Counter()
for file in glob.glob("csv/*.csv"):
    with open(file, encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            got[row["host"], os.path.basename(file)[:-4], int(row["TIMESTAMP"])] += 1
compare("csv", got)
db = sqlite3.connect("trace.db")
tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('runs', 'allocs', 'access_runs')")]
compare("sqlite", collections.Counter(
    (row[0], name, row[1]) for name in tables for row in db.execute(f'SELECT host, "TIMESTAMP" FROM "{name}"')))

with open("stacks", encoding="utf-8") as f:
    ns = sum(int(line.rsplit(" ", 1)[1]) for line in f)
if ns != ns_of_calls:
    sys.exit(f"folded: {ns} ns, not {ns_of_calls}")
requests = sum(n for (_, name, _), n in wanted.items() if name == "bio")
with open("trace.pfw", encoding="utf-8") as f:
    got = sum('"cat":"bio"' in line for line in f)
if got != requests:
    sys.exit(f"pfw: {got} requests, not {requests}")

if os.path.exists("db.duckdb"):
    import duckdb
    db = duckdb.connect()
    db.execute("ATTACH 'db.duckdb' AS traces (READ_ONLY)")
    got = {"parquet": collections.Counter(), "duckdb": collections.Counter()}
    for name in {os.path.basename(file)[:-4] for folder in args for file in glob.glob(f"{folder}/*.out")}:
        files = glob.glob(f"parquet/*/{name}.parquet")
        if not files:
            continue
        for host, ns in db.execute(f"SELECT host, \"TIMESTAMP\" FROM read_parquet('parquet/host=*/{name}.parquet')").fetchall():
            got["parquet"][host, name, ns] += 1
        for host, ns in db.execute(f'SELECT host, "TIMESTAMP" FROM traces.{name}').fetchall():
            got["duckdb"][host, name, ns] += 1
    for what, rows in got.items():
        compare(what, rows)
