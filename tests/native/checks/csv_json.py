# SPDX-License-Identifier: BSD-2-Clause
"""csv_json.py JSON FOLDER: each CSV file that a table of JSON has holds its rows, and nothing else."""
import csv
import decimal
import json
import os
import re
import sys

report = json.load(open(sys.argv[1], encoding="utf-8"), parse_float=decimal.Decimal)
folder = sys.argv[2]
INSIDE = {"shm": "largest", "logs": "busiest", "slowest": "longest", "waits": "longest", "running": "longest", "running_waits": "longest"}
NESTED = {"disks": "ops", "epochs": ("read_sizes", "slowest_files")}
OWN = {"phases", "process_medians", "histogram_counts", "files", "uses"}  # JSON has these in another form, or does not have them
WHOLE = {"logs": ("pid", "fid"), "processes": ("pid",), "shm": ("fid",)}  # JSON has the first ones; what tells their rows apart
compared = 0


def rows_of(name):
    path = os.path.join(folder, name + ".csv")
    with open(path, encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


def text(escaped):
    """Returns a field as in a CSV file, from the escaped text of .out files: see csv.h."""
    raw = re.sub(rb"\\([0-3][0-7]{2})", lambda m: bytes([int(m[1], 8)]), escaped.encode())
    out = ""
    while raw:
        for n in (1, 2, 3, 4):
            try:
                c = raw[:n].decode()
                break
            except UnicodeDecodeError:
                c = None
        if c is None or (ord(c) < 32 and c not in "\t\n\r") or 127 <= ord(c) < 160:
            out += "".join("\\%03o" % b for b in raw[: n if c else 1])
            raw = raw[n if c else 1 :]
        else:
            out += c
            raw = raw[n:]
    return "'" + out if out[:1] and out[0] in "=+-@\t\r'\uff1d\uff0b\uff0d\uff20" else out


def same(name, key, cell, value):
    if value is None:
        ok = cell == ""
    elif isinstance(value, bool):
        ok = cell == str(int(value))
    elif isinstance(value, str):
        ok = cell == ("" if value == "-" else text(value))
    elif key.endswith("_ns"):
        ok = abs(decimal.Decimal(cell) * 10**9 - value) < 1
    elif isinstance(value, decimal.Decimal) or "share" in key or key == "per_s":
        ok = abs(decimal.Decimal(cell) - value) <= abs(decimal.Decimal(value)) / 10**5 + decimal.Decimal("0.000001")
    else:
        ok = cell == str(value)
    if not ok:
        sys.exit(f"{name}.csv: {key} is {cell!r}, in JSON {value!r}")


def member(row, name):
    for key in (name, name[:-2] + "_ns" if name.endswith("_s") else None):
        if key in row:
            return key
    return None


def compare(name, wanted):
    global compared
    rows = rows_of(name)
    if name in WHOLE:
        of = {tuple(row[k] for k in WHOLE[name]): row for row in rows}
        rows = [of[tuple(str(value[k]) for k in WHOLE[name])] for value in wanted]
    if len(rows) != len(wanted):
        sys.exit(f"{name}.csv: {len(rows)} rows, in JSON {len(wanted)}")
    for row, value in zip(rows, wanted):
        known = {k: v for k, v in value.items() if not isinstance(v, (list, dict))}
        for cell in row:
            key = member(known, cell)
            if key:
                same(name, key, row[cell], known.pop(key))
                compared += 1
        if known and name != "histograms":
            sys.exit(f"{name}.csv: no column for {sorted(known)}")


def probes():
    for p in report["probes"]:
        yield p
        for side in ("reads", "writes"):
            if side in p:
                yield {**p[side], "name": f"{p['name']} {side}"}


files = {f[:-4] for f in os.listdir(folder) if f.endswith(".csv")} - OWN
for name in sorted(files):
    outer = next((o for o in NESTED if name.startswith(o + "_")), None)
    if outer:
        inner = name[len(outer) + 1 :]
        compare(name, [{**({"name": o["name"]}), **({"bios": o["bios"]} if "bios" in o else {}), **i} for o in report[outer] for i in o[inner]])
    elif name == "probes":
        compare(name, list(probes()))
    elif name in report:
        compare(name, report[name][INSIDE[name]] if name in INSIDE else report[name])
    elif rows_of(name):
        sys.exit(f"{name}.csv: rows that JSON knows nothing of")
arrays = {k for k, v in report.items() if isinstance(v, list) and v and isinstance(v[0], dict)}
missing = arrays - files - {"rules", "facts", "collectors", "process_histograms"}
if missing or not compared:
    sys.exit(f"no CSV file for {sorted(missing)}; {compared} values compared")
if "cpu" in report:
    cpu = {f: list(csv.DictReader(open(os.path.join(folder, "cpu", f), encoding="utf-8"))) for f in os.listdir(os.path.join(folder, "cpu"))}
    run = sum(decimal.Decimal(row["cpu_s"]) for row in cpu["tasks.csv"]) * 10**9
    if run != report["cpu"]["by_task_ns"]:
        sys.exit(f"cpu/tasks.csv: {run} ns, in JSON {report['cpu']['by_task_ns']}")
