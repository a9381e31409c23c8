# SPDX-License-Identifier: BSD-2-Clause
"""reading: dltraced.read() beside the engines' own read_csv of the same file, with the same types and NULLs; the table of docs/report-speed.md.

reading [-r ROUNDS] [-n ROWS] [-p PAGE]

A generated vfs_rw.out, plain and as 200 segments packed by zstd, is read by each engine both ways in turn, each time in a process of
its own. A process's time is from the call to the frame, its CPU time that of all its threads, its memory what its peak is above that
of the imports. Both frames must be equal. The status is 1 where the medians are above 1.5 times the CPU time, or 1.3 times the
memory. The packages are those of tests/peers/exports.txt, in an environment under build/; READING_PYTHON names another interpreter
that has them.
"""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from statistics import median

import machine
import page

HERE = os.path.dirname(os.path.realpath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
BEGIN, END = "<!-- BENCH=reading tests/bench/run -->", "<!-- end of reading -->"
SEGMENTS = 200
TIMES, MEMORY = 1.5, 1.3  # at most
ENGINES = ("pandas", "polars")
FORMS = ("plain", "zstd")

# One reading: argv is ENGINE WAY FOLDER. Where both ways are the same frame (WAY both), it says so.
READING = r'''
import glob, io, json, os, sys, time
engine, way, folder = sys.argv[1:]
import dltraced
from dltraced import _columns, _packed, _read
if engine == "pandas":
    import pandas
else:
    import polars
_read._engine(engine)  # its imports are not what is measured
types = {c.name: c.type for c in _columns.of("vfs_rw")}
files = sorted(glob.glob(os.path.join(folder, "vfs_rw.*")))

def by_pandas(file):
    wanted = {name: {"int64": "Int64", "uint64": "UInt64"}.get(kind, "string") for name, kind in types.items() if kind != "time"}
    frame = pandas.read_csv(file, sep="\t", skiprows=1, dtype=wanted, na_values=["-", "?"], keep_default_na=False, quoting=3)
    frame["TIME"] = pandas.to_datetime(frame["TIME"], utc=True, format="ISO8601").astype("datetime64[ns, UTC]")
    return frame

def by_polars(file):
    wanted = {name: {"int64": polars.Int64, "uint64": polars.UInt64}.get(kind, polars.String) for name, kind in types.items()}
    frame = polars.read_csv(file, separator="\t", skip_rows=1, schema_overrides=wanted, null_values=["-", "?"], quote_char=None)
    return frame.with_columns(polars.col("TIME").str.to_datetime("%Y-%m-%dT%H:%M:%S%.9fZ", time_unit="ns", time_zone="UTC"))

def own():
    frames = [(by_pandas if engine == "pandas" else by_polars)(file) for file in files]
    if len(frames) == 1:
        return frames[0]
    return pandas.concat(frames, ignore_index=True) if engine == "pandas" else polars.concat(frames)

def peak():
    with open("/proc/self/status") as f:
        return int(next(line for line in f if line.startswith("VmHWM")).split()[1]) / 1024

def ours():
    return dltraced.read(folder, "vfs_rw", engine=engine)

if way == "both":
    frame, other = ours(), own()
    if engine == "pandas":
        pandas.testing.assert_frame_equal(frame[list(types)], other[list(types)])
    else:
        from polars.testing import assert_frame_equal
        assert_frame_equal(frame.select(list(types)), other.select(list(types)))
    print(json.dumps({"rows": len(frame)}))
    sys.exit()
before, begun, used = peak(), time.monotonic(), time.process_time()
frame = ours() if way == "ours" else own()
print(json.dumps({"wall_s": time.monotonic() - begun, "cpu_s": time.process_time() - used, "mib": peak() - before, "rows": len(frame)}))
'''


def interpreter():
    named = os.environ.get("READING_PYTHON")
    if named:
        return named
    run = subprocess.run([os.path.join(TOP, "tests/peers/environment"), "exports"], stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode:
        sys.exit("reading: no environment with pandas and Polars: name an interpreter that has them in READING_PYTHON")
    return run.stdout.strip()


def make(folder, rows):
    """The trace in its two forms, {form: folder}. Two thirds of the generated rows are of vfs_rw."""
    folders = {form: os.path.join(folder, form) for form in FORMS}
    subprocess.run([os.path.join(TOP, "build/tests/gen_trace"), "-r", str(rows * 3 // 2), folders["plain"]], check=True, stdout=subprocess.DEVNULL)
    for name in os.listdir(folders["plain"]):
        if name not in ("vfs_rw.out", "manifest.json"):
            os.unlink(os.path.join(folders["plain"], name))
    os.mkdir(folders["zstd"])
    shutil.copy(os.path.join(folders["plain"], "manifest.json"), folders["zstd"])
    with open(os.path.join(folders["plain"], "vfs_rw.out"), "rb") as f:
        header, lines = f.readline() + f.readline(), f.readlines()
    each = -(-len(lines) // SEGMENTS)
    for i in range(SEGMENTS):
        file = os.path.join(folders["zstd"], f"vfs_rw.{i + 1:06}.out.zst")
        subprocess.run(["zstd", "-q", "-o", file], input=header + b"".join(lines[i * each:(i + 1) * each]), check=True)
    return folders


def read(python, engine, way, folder):
    env = {**os.environ, "PYTHONPATH": os.path.join(TOP, "python"), "PYTHONDONTWRITEBYTECODE": "1",
           "DLTRACED_PROGRAM": os.path.join(TOP, "build/dltraced")}
    run = subprocess.run([python, "-c", READING, engine, way, folder], stdout=subprocess.PIPE, check=False, env=env)
    if run.returncode:
        sys.exit(f"reading: {engine}, {way}: status {run.returncode}")
    return json.loads(run.stdout)


def versions(python):
    """Returns those of Python and of the packages."""
    names = "import platform, pandas, polars, pyarrow\nprint('; '.join(['Python ' + platform.python_version()] + [" \
            "f'{m.__name__} {m.__version__}' for m in (pandas, polars, pyarrow)]))"
    return subprocess.run([python, "-c", names], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()


def measure(python, folders, rounds, loads):
    runs = {(engine, form, way): [] for engine in ENGINES for form in FORMS for way in ("own", "ours")}
    for _ in range(rounds):
        turns = list(runs)
        random.shuffle(turns)
        for engine, form, way in turns:
            runs[engine, form, way].append(read(python, engine, way, folders[form]))
            loads.append(os.getloadavg()[0])
    return runs


def main():
    args, before, loads = page.options("-n", "--rows", 5_000_000), os.getloadavg()[0], []
    python = interpreter()
    with tempfile.TemporaryDirectory(prefix="bench.", dir=os.path.join(TOP, "build")) as folder:
        folders = make(folder, args.rows)
        for engine in ENGINES:
            for form in FORMS:
                rows = read(python, engine, "both", folders[form])["rows"]
        runs = measure(python, folders, args.rounds, loads)
    lines, over = [], []
    for engine in ENGINES:
        for form in FORMS:
            own, ours = ({key: median(run[key] for run in runs[engine, form, way]) for key in ("cpu_s", "wall_s", "mib")} for way in ("own", "ours"))
            ratio = {key: ours[key] / own[key] for key in own}
            over += [f"{engine}, {form}: {ratio[key]:.2f} times the {what}, at most {most}" for key, what, most in
                     (("cpu_s", "CPU time", TIMES), ("mib", "memory", MEMORY)) if ratio[key] > most]
            name = f"{engine}, {'one file' if form == 'plain' else f'{SEGMENTS} segments, zstd'}"
            lines.append([name, *(f"{page.number(own[key])}; {page.number(ours[key])} ({ratio[key]:.2f}x)" for key in ("cpu_s", "wall_s", "mib"))])
    text = "\n".join([machine.heading(f"{args.rounds} rounds of {rows} rows", before, loads) + f" {versions(python)}.", "",
                      *page.table(["own read_csv; read()", "CPU time, s", "time, s", "memory, MiB"], lines)])
    page.show(args, text, BEGIN, END)
    for line in over:
        print(f"reading: {line}", file=sys.stderr)
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
