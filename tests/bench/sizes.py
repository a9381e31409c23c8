# SPDX-License-Identifier: BSD-2-Clause
"""sizes: the bytes that a call takes in a trace, in each form of it, beside DFTracer's own trace of the same job, as a part of
docs/report-speed.md.

sizes [-r ROUNDS] [-n READS] [-p PAGE]

The jobs make as many reads from the page cache: 4 KiB one after the other, or random lengths at random places. Parquet is
left out where there is no DuckDB, and DFTracer where it is not installed (tests/peers/environment makes both). Prints a
table, and writes it into PAGE between its marks. The status is 1 where dltraced lost rows.
"""
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

import bench
import goals
import machine
import page
import tracers

BEGIN, END = "<!-- BENCH=sizes tests/bench/run -->", "<!-- end of sizes -->"
BUILD = os.path.realpath(tracers.BUILD)
PYTHON = "/usr/bin/python3"
DUCKDB = os.path.join(BUILD, "peers-exports/bin/python3")
GOAL = 10  # bytes of a row in Parquet

JOB = """
import os, random, sys
how, path, reads = sys.argv[1], sys.argv[2], int(sys.argv[3])
numbers = random.Random(1)
fd = os.open(path, os.O_RDONLY)
blocks = os.fstat(fd).st_size // 4096
for i in range(reads):
    if how == "random":
        os.pread(fd, numbers.randrange(1, 4097), numbers.randrange(blocks) * 4096)
    elif not os.read(fd, 4096):
        os.lseek(fd, 0, os.SEEK_SET)
"""
JOBS = {"one after the other, 4 KiB": "sequential", "random places and lengths": "random"}
TEXT, ZSTD, PARQUET, PFW = "text", "segments, `--compress zstd`", "`export -f parquet`", "`export -f pfw`, .pfw.gz"
DFTRACER, METADATA = "DFTracer, .pfw.gz", "DFTracer, .pfw.gz, with metadata"


def run(argv, **more):
    got = subprocess.run(argv, capture_output=True, text=True, check=False, **more)
    if got.returncode != 0:
        sys.exit(f"sizes: status {got.returncode} of {argv[:6]}: {got.stderr[-500:]}")


def with_duckdb(folder):
    """Returns the environment in which there is a command duckdb, or None."""
    if shutil.which("duckdb"):
        return dict(os.environ)
    if not os.path.exists(DUCKDB):
        return None
    os.mkdir(os.path.join(folder, "bin"))
    stand_in = os.path.join(folder, "bin/duckdb")
    with open(stand_in, "w", encoding="utf-8") as f:
        f.write(f'#!/bin/sh\nexec "{DUCKDB}" -c "import sys, duckdb; duckdb.connect().execute(sys.stdin.read())"\n')
    os.chmod(stand_in, 0o755)
    return {**os.environ, "PATH": os.path.dirname(stand_in) + ":" + os.environ["PATH"]}


def ours(folder, job, environ):
    """Returns ({form: bytes of all}, rows, lost)."""
    trace, got = os.path.join(folder, "trace"), {}
    for form, options in ((ZSTD, ("--rotate", "16M", "--compress", "zstd")), (TEXT, ())):
        shutil.rmtree(trace, ignore_errors=True)
        run([tracers.DLTRACED, "start", "-q", "--report=none", "--collectors", "none", "--min-free", "0", "-P",
             "vfs_rw", *options, "-o", trace, "--", *job])
        got[form] = sum(entry.stat().st_size for entry in os.scandir(trace) if entry.name.startswith("vfs_rw."))
    with open(os.path.join(trace, "manifest.json"), encoding="utf-8") as f:
        probe = next(p for p in json.load(f)["probes"] if p["name"] == "vfs_rw")
    pfw, parquet = os.path.join(folder, "trace.pfw.gz"), os.path.join(folder, "parquet")
    run([tracers.DLTRACED, "export", trace, "-f", "pfw", "-P", "vfs_rw", "-o", pfw])
    got[PFW] = os.stat(pfw).st_size
    if environ:
        shutil.rmtree(parquet, ignore_errors=True)
        run([tracers.DLTRACED, "export", trace, "-f", "parquet", "-P", "vfs_rw", "-o", parquet], env=environ)
        got[PARQUET] = sum(os.stat(os.path.join(top, name)).st_size for top, _, names in os.walk(parquet) for name in names)
    return got, probe["rows"], probe["lost"]


def preload():
    for top, _, names in os.walk(os.path.join(BUILD, "peers/lib")):
        if "libdftracer_preload.so" in names:
            return os.path.join(top, "libdftracer_preload.so")
    return None


def dftracer(library, log, metadata):
    """Returns the variables by which DFTracer traces a process into files whose names begin with LOG."""
    return {"DFTRACER_ENABLE": "1", "DFTRACER_INIT": "PRELOAD", "DFTRACER_DATA_DIR": "all", "LD_PRELOAD": library, "DFTRACER_LOG_FILE": log,
            "DFTRACER_INC_METADATA": str(int(metadata)), "DFTRACER_TRACE_COMPRESSION": "1"}


def theirs(folder, job, library, metadata):
    """Returns the bytes of an event."""
    logs = os.path.join(folder, "dftracer")
    shutil.rmtree(logs, ignore_errors=True)
    os.mkdir(logs)
    run(job, env={**os.environ, **dftracer(library, os.path.join(logs, "job"), metadata)})
    size = events = 0
    for entry in os.scandir(logs):
        size += entry.stat().st_size
        if entry.stat().st_size:
            with gzip.open(entry.path, "rt", encoding="utf-8") as f:
                events += sum('"cat":"POSIX"' in line for line in f)
    return size / events


def run_rounds(args, folder):
    """Returns {(form, job): [bytes of a row]}, lost, loads."""
    data, library, environ, got, lost, loads = os.path.join(folder, "data"), preload(), with_duckdb(folder), {}, 0, []
    for what, missing in (("DFTracer", not library), ("Parquet", not environ)):
        if missing:
            bench.say(f"sizes: without {what}: tests/peers/environment has not been run")
    with open(data, "wb") as f:
        f.write(bytes(64 << 20))
    for nr in range(1, args.rounds + 1):
        for what, how in JOBS.items():
            job = [PYTHON, "-c", JOB, how, data, str(args.reads)]
            loads.append(os.getloadavg()[0])
            sizes, rows, gone = ours(folder, job, environ)
            lost += gone
            of = {form: size / rows for form, size in sizes.items()}
            if library:
                of[DFTRACER], of[METADATA] = (theirs(folder, job, library, metadata) for metadata in (False, True))
            bench.say(f"{nr} {what}: " + ", ".join(f"{form} {size:.1f}" for form, size in of.items()))
            for form, size in of.items():
                got.setdefault((form, what), []).append(size)
    return got, lost, loads


def table(got):
    for form in (TEXT, ZSTD, PARQUET, PFW, DFTRACER, METADATA):
        yield [form, *(page.spread(got.get((form, what), [])) for what in JOBS)]


def main():
    args = page.options("-n", "--reads", 1000000)
    before = os.getloadavg()[0]
    folder = tempfile.mkdtemp(prefix="bench.", dir=BUILD)
    try:
        got, lost, loads = run_rounds(args, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    parquet = [size for what in JOBS for size in got.get((PARQUET, what), [])]
    text = "\n".join([
        machine.heading(f"{args.rounds} rounds of {args.reads} reads", before, loads) + f" Rows lost: {lost}.", "",
        *page.table(["bytes of a row", *JOBS], table(got)),
        f"Goal: a row has less than {GOAL} bytes in Parquet: {goals.verdict(size < GOAL for size in parquet)}.", ""])
    page.show(args, text, BEGIN, END)
    sys.exit(lost != 0)


if __name__ == "__main__":
    main()
