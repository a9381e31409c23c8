# SPDX-License-Identifier: BSD-2-Clause
"""exports.py READER REPORT FOLDER [ARG]: has READER the counts, bytes and times of REPORT (`dltraced report --json') in FOLDER?

FOLDER holds the exports of one trace: csv/, parquet/, rows.ndjson, trace.db, trace.pftrace, pfw/trace.pfw.gz; trace is the
trace itself, for the package for Python. What is compared
are rows and ns of each file of the trace, and of each process and of the files that the report lists: calls, bytes, ns. The
status is 1, with a line for each difference, when there is one.
"""
import collections
import csv
import glob
import hashlib
import json
import os
import subprocess
import sys

reader, report_path, folder = sys.argv[1:4]
arg = sys.argv[4] if len(sys.argv) > 4 else None
CALLS = ("close", "create_del", "mmap", "open", "sync", "vfs_rw")
with open(report_path, encoding="utf-8") as f:
    report = json.load(f)
probes = {p["name"]: p for p in report["probes"] if "time_ns" in p}
calls = [name for name in CALLS if name in probes]
differences = []

# A process: reads, read bytes, writes, written bytes. A file: read bytes, written bytes, ns, calls.
Facts = collections.namedtuple("Facts", "probes processes files")
wanted = Facts(
    {name: (p["rows"], p["time_ns"]) for name, p in probes.items()},
    {p["pid"]: (p["reads"], p["read_bytes"], p["writes"], p["write_bytes"]) for p in report["processes"]},
    {f["path"]: (f["read_bytes"], f["write_bytes"], f["time_ns"], f["calls"])
     for name in ("files_by_bytes", "files_by_time", "files_by_opens") for f in report[name]})


def differ(what, got, of):
    if got != of:
        differences.append(f"{what}: {got}, the report has {of}")


def compare(got):
    for kind in Facts._fields:
        have, of = getattr(got, kind), getattr(wanted, kind)
        if not of:
            differences.append(f"{kind}: the report has none")
        for key, value in of.items():
            differ(f"{kind} {key}", tuple(int(v) for v in have.get(key, ())), value)
    differ("processes", len(got.processes), len(wanted.processes))


# --- SQL ------------------------------------------------------------------------------------------------------------------

def by_sql(run, tables):
    """RUN returns the rows of a query; TABLES maps names of files to what is written after FROM."""
    moved = "CASE WHEN RETURNED > 0 THEN RETURNED ELSE 0 END"
    union = " UNION ALL ".join(
        f"SELECT FID, LAT_NS, {f'RW, {moved}' if name == 'vfs_rw' else 'NULL, 0'} FROM {tables[name]}" for name in calls)
    sums = f"sum(CASE WHEN RW = 'R' THEN {moved} ELSE 0 END)", f"sum(CASE WHEN RW = 'W' THEN {moved} ELSE 0 END)"
    return Facts(
        {name: run(f"SELECT count(*), sum(LAT_NS) FROM {tables[name]}")[0] for name in probes},
        {row[0]: row[1:] for row in run(
            f"SELECT PID, sum(CASE WHEN RW = 'R' THEN 1 ELSE 0 END), {sums[0]}, sum(CASE WHEN RW = 'W' THEN 1 ELSE 0 END), {sums[1]} "
            f"FROM {tables['vfs_rw']} GROUP BY PID")},
        {row[0]: row[1:] for row in run(
            "WITH calls(FID, LAT_NS, RW, moved) AS (" + union + "), named AS "
            # a renamed file has a row for each name, and is listed under its last one
            f"(SELECT f.FID AS FID, max(f.REALPATH) AS path FROM {tables['files']} f JOIN (SELECT FID AS of, max(\"TIMESTAMP\") AS last "
            f"FROM {tables['files']} GROUP BY FID) l ON f.FID = l.of AND f.\"TIMESTAMP\" = l.last GROUP BY f.FID) "
            "SELECT path, sum(CASE WHEN RW = 'R' THEN moved ELSE 0 END), sum(CASE WHEN RW = 'W' THEN moved ELSE 0 END), "
            "sum(LAT_NS), count(*) FROM calls JOIN named USING (FID) GROUP BY path")})


def duckdb_of(pattern):
    import duckdb
    db = duckdb.connect()
    by_sql_tables = {name: f"'{pattern.format(name)}'" for name in (*probes, "files")}
    compare(by_sql(lambda sql: db.execute(sql).fetchall(), by_sql_tables))


def duckdb_ndjson():
    import duckdb
    db = duckdb.connect()
    rows = f"read_json('{folder}/rows.ndjson', format='newline_delimited', union_by_name=true, sample_size=-1)"
    compare(by_sql(lambda sql: db.execute(sql).fetchall(),
                   {name: f"(SELECT * FROM {rows} WHERE probe = '{name}')" for name in (*probes, "files")}))


def sqlite():
    import sqlite3
    db = sqlite3.connect(f"file:{folder}/trace.db?mode=ro", uri=True)
    compare(by_sql(lambda sql: db.execute(sql).fetchall(), {name: f'"{name}"' for name in (*probes, "files")}))


# --- frames: each reader has one function, from the name of a file to {column: list} --------------------------------------

def by_columns(load):
    tables = {name: load(name) for name in (*probes, "files")}
    paths = dict(zip(tables["files"]["FID"], tables["files"]["REALPATH"]))
    processes = collections.defaultdict(lambda: [0] * 4)
    files = collections.defaultdict(lambda: [0] * 4)
    for name in calls:
        t = tables[name]
        n = len(t["LAT_NS"])
        for pid, fid, ns, rw, moved in zip(t["PID"], t["FID"], t["LAT_NS"], t.get("RW", [None] * n), t.get("RETURNED", [0] * n)):
            at = {"R": 0, "W": 1}.get(rw) if name == "vfs_rw" else None
            if at is not None:
                processes[pid][2 * at] += 1
                processes[pid][2 * at + 1] += max(moved, 0)
            if fid in paths:
                file = files[paths[fid]]
                file[2] += ns
                file[3] += 1
                if at is not None:
                    file[at] += max(moved, 0)
    compare(Facts({name: (len(tables[name]["LAT_NS"]), sum(tables[name]["LAT_NS"])) for name in probes}, processes, files))


WANTED = ("PID", "FID", "LAT_NS", "RW", "RETURNED", "REALPATH")


def parquet(name):
    return f"{glob.glob(f'{folder}/parquet/host=*')[0]}/{name}.parquet"


def pyarrow_parquet(name):
    import pyarrow.parquet as pq
    return {k: v for k, v in pq.read_table(parquet(name)).to_pydict().items() if k in WANTED}


def pandas_columns(frame):
    return {k: frame[k].astype(object).where(frame[k].notna(), None).tolist() for k in WANTED if k in frame}


def pandas_csv(name):
    import pandas
    return pandas_columns(pandas.read_csv(f"{folder}/csv/{name}.csv", dtype_backend="pyarrow", engine="pyarrow"))


def pandas_parquet(name):
    import pandas
    return pandas_columns(pandas.read_parquet(parquet(name), dtype_backend="pyarrow"))


def pandas_ndjson(name):
    import io
    import pandas
    with open(f"{folder}/rows.ndjson", encoding="utf-8") as rows:
        text = "".join(line for line in rows if f'"probe":"{name}"' in line[:200])
    return pandas_columns(pandas.read_json(io.StringIO(text), lines=True, dtype_backend="pyarrow", convert_dates=False))


def polars_csv(name):
    import polars
    return polars.read_csv(f"{folder}/csv/{name}.csv", infer_schema_length=None).to_dict(as_series=False)


def polars_parquet(name):
    import polars
    return polars.read_parquet(parquet(name), hive_partitioning=False).to_dict(as_series=False)


def polars_ndjson(name):
    import polars
    frame = polars.scan_ndjson(f"{folder}/rows.ndjson", infer_schema_length=None)
    return frame.filter(polars.col("probe") == name).collect().to_dict(as_series=False)


def dask_parquet(name):
    import dask.dataframe
    frame = dask.dataframe.read_parquet(parquet(name), dtype_backend="pyarrow").compute(scheduler="synchronous")
    return pandas_columns(frame)


def own_pandas(name):
    import dltraced
    return pandas_columns(dltraced.read(f"{folder}/trace", name))


def own_polars(name):
    import dltraced
    return dltraced.read(f"{folder}/trace", name, engine="polars").to_dict(as_series=False)


def own_pyarrow(name):
    import dltraced
    return dltraced.read(f"{folder}/trace", name, engine="pyarrow").to_pydict()


def own_dask(name):
    import dltraced
    return pandas_columns(dltraced.read(f"{folder}/trace", name, engine="dask").compute(scheduler="synchronous"))


# --- Perfetto -------------------------------------------------------------------------------------------------------------

def perfetto():
    """ARG: the folder of its trace processor."""
    here = os.path.dirname(os.path.abspath(__file__))
    moved = "max(extract_arg(slice.arg_set_id, 'debug.RETURNED'), 0)"
    is_rw = {rw: f"category = 'vfs_rw' AND extract_arg(slice.arg_set_id, 'debug.RW') = '{rw}'" for rw in "RW"}
    of_calls = "category IN (" + ", ".join(f"'{name}'" for name in calls) + ")"
    queries = {
        "errors": "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0",
        "probes": "SELECT category, count(*), sum(dur) FROM slice WHERE category IS NOT NULL GROUP BY 1",
        "open": "SELECT count(*) FROM slice WHERE dur < 0",
        "processes": "SELECT pid, " + ", ".join(f"sum({is_rw[rw]}), sum(CASE WHEN {is_rw[rw]} THEN {moved} ELSE 0 END)" for rw in "RW") +
                     " FROM slice JOIN thread_track ON track_id = thread_track.id JOIN thread USING (utid) JOIN process USING (upid) "
                     "WHERE category = 'vfs_rw' GROUP BY pid",
        "files": "SELECT extract_arg(slice.arg_set_id, 'debug.FID'), " +
                 ", ".join(f"sum(CASE WHEN {is_rw[rw]} THEN {moved} ELSE 0 END)" for rw in "RW") +
                 f", sum(dur), count(*) FROM slice WHERE {of_calls} GROUP BY 1",
        "disks": "SELECT track.name, count(*), sum(dur) FROM slice JOIN track ON track_id = track.id WHERE category = 'bio' GROUP BY 1",
    }
    answers = json.loads(subprocess.run(["node", f"{here}/trace_processor.mjs", arg, f"{folder}/trace.pftrace"], text=True,
                                        input=json.dumps(queries), stdout=subprocess.PIPE, check=True).stdout)
    paths = {}
    with open(f"{folder}/rows.ndjson", encoding="utf-8") as rows:
        for row in map(json.loads, rows):
            if row["probe"] == "files":
                paths[row["FID"]] = row["REALPATH"]
    differ("error stats", answers["errors"], [])
    differ("slices without an end", answers["open"], [[0]])
    compare(Facts({row[0]: row[1:] for row in answers["probes"]}, {row[0]: row[1:] for row in answers["processes"]},
                  {paths.get(row[0]): row[1:] for row in answers["files"]}))
    disks = collections.defaultdict(lambda: [0, 0])
    for name, n, ns in answers["disks"]:
        disks[name.split(" ")[0]][0] += n
        disks[name.split(" ")[0]][1] += ns
    differ("disks", dict(disks), {d["name"]: [sum(o["requests"] for o in d["ops"]), sum(o["time_ns"] for o in d["ops"])]
                                  for d in report["disks"]})


# --- readers of DFTracer's format -----------------------------------------------------------------------------------------

def tool(name, *args):
    ran = subprocess.run([os.path.join(os.path.dirname(sys.executable), name), *args], text=True, capture_output=True, check=False)
    if ran.returncode:
        sys.exit(f"{name}: status {ran.returncode}\n{ran.stdout[-2000:]}{ran.stderr[-4000:]}")
    return ran.stdout


def functions():
    """Returns {libc's name: report's} of calls: a row create is not a call."""
    return {f["func"]: f for f in report["functions"] if f["func"] != "create"}


def requests():
    """Returns {path: [requests, ns]} of bio.csv: its rows have a file's hash, as those of calls."""
    paths, of = {}, collections.defaultdict(lambda: [0, 0])
    for name in ("files", "bio"):
        if not os.path.exists(f"{folder}/csv/{name}.csv"):
            continue
        with open(f"{folder}/csv/{name}.csv", encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                if name == "files":
                    paths[row["FID"]] = row["REALPATH"]
                elif row["FID"] in paths:
                    of[paths[row["FID"]]][0] += 1
                    of[paths[row["FID"]]][1] += int(row["LAT_NS"])
    return of


def dftracer_utils():
    """Times of begin and end are whole microseconds there."""
    def grouped(by):
        answer = json.loads(tool("dftracer_stats", "-d", f"{folder}/pfw", "--json", "--report", "detailed", "--group-by", by))
        return answer[0]["detailed"]["grouped_duration"]

    names = grouped("name")
    for name, of in functions().items():
        got = names.get({"pread64": "pread", "pwrite64": "pwrite"}.get(name, name), {"count": 0, "sum": 0})
        differ(f"calls of {name}", got["count"], of["calls"])
        if abs(got["sum"] - of["time_ns"] / 1000) > of["calls"]:
            differences.append(f"us of {name}: {got['sum']}, the report has {of['time_ns']} ns of {of['calls']} calls")
    hashes, of_disks = grouped("fhash"), requests()
    for path, (_, _, ns, n) in wanted.files.items():
        n, ns = n + of_disks[path][0], ns + of_disks[path][1]
        got = hashes.get(hashlib.md5(path.encode()).digest()[::2].hex(), {"count": 0, "sum": 0})
        differ(f"calls and requests on {path}", got["count"], n)
        if abs(got["sum"] - ns / 1000) > n:
            differences.append(f"us on {path}: {got['sum']}, the report has {ns} ns")
    events = sum(group["count"] for group in names.values())
    differ("dftracer_event_count", int(tool("dftracer_event_count", "-d", f"{folder}/pfw")), events)


def dfanalyzer_of(trace):
    """Returns its summary of the folder TRACE. It takes the files in its own folder for those of the same trace, so each
    trace has one.
    """
    into = f"{folder}/dfanalyzer-{os.path.basename(trace)}"
    os.environ.setdefault("USER", "root")  # it expects the variable
    # a worker that is a process must be there and answer within 30 s, also where the machine has others to run
    os.environ["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = os.environ["DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP"] = "300s"
    tool("dfanalyzer", f"trace_path={trace}", f"hydra.run.dir={into}", "analyzer=dftracer", "analyzer/preset=posix", "cluster=local",
         "cluster.n_workers=1", "cluster.processes=false", "output=json")
    with open(f"{into}/dfanalyzer_output.json", encoding="utf-8") as answer:
        return json.load(answer)["views"]["time_range"]["summary"]


def left_out():
    """Counts the calls and bytes on files that it ignores: those of the system, by its own list."""
    from dftracer.analyzer.dftracer import IGNORED_FILE_PATTERNS
    paths, n, moved = {}, 0, 0
    for name in ("files", *calls):
        with open(f"{folder}/csv/{name}.csv", encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                if name == "files":
                    paths[row["FID"]] = row["REALPATH"]
                elif row["FUNC"] != "create" and any(part in paths.get(row["FID"], "") for part in IGNORED_FILE_PATTERNS):
                    n += 1
                    moved += max(int(row["RETURNED"]), 0) if name == "vfs_rw" else 0
    return n, moved


def dfanalyzer():
    got = dfanalyzer_of(f"{folder}/pfw")
    n, moved = left_out()
    differ("POSIX calls", got["layers"]["posix"]["count"], sum(f["calls"] for f in functions().values()) - n)
    differ("bytes", got["layers"]["posix"]["size_bytes"], probes["vfs_rw"]["bytes"] - moved)
    differ("processes", got["unique_process_count"], len(wanted.processes))
    differ("hosts", got["unique_host_count"], 1)


def own():
    """What the readers report of 200 calls of a function that DFTracer itself has written to the folder ARG: only notes."""
    got = dfanalyzer_of(arg)
    print(f"note: of DFTracer's own trace of 202 events dftracer_event_count has {tool('dftracer_event_count', '-d', arg).strip()}, "
          f"dfanalyzer {got['total_event_count']} in {got['job_time_s']:.0f} s")


readers = {
    "duckdb-csv": lambda: duckdb_of(f"{folder}/csv/{{}}.csv"),
    "duckdb-ndjson": duckdb_ndjson,
    "duckdb-parquet": lambda: duckdb_of(f"{folder}/parquet/*/{{}}.parquet"),
    "sqlite": sqlite,
    **{name.replace("_", "-"): lambda load=load: by_columns(load) for name, load in (
        ("pyarrow_parquet", pyarrow_parquet), ("pandas_csv", pandas_csv), ("pandas_parquet", pandas_parquet),
        ("pandas_ndjson", pandas_ndjson), ("polars_csv", polars_csv), ("polars_parquet", polars_parquet),
        ("polars_ndjson", polars_ndjson), ("dask_parquet", dask_parquet), ("read_pandas", own_pandas), ("read_polars", own_polars),
        ("read_pyarrow", own_pyarrow), ("read_dask", own_dask))},
    "perfetto": perfetto,
    "dftracer-utils": dftracer_utils,
    "dfanalyzer": dfanalyzer,
    "own": own,
}
if reader == "list":
    print("\n".join(name for name in readers if name not in ("perfetto", "own")))
    sys.exit(0)
readers[reader]()
if differences:
    sys.exit("\n".join(differences[:20]))
