# SPDX-License-Identifier: BSD-2-Clause
"""metrics TRACE FILE: the values of --metrics-file at the end are those of the rows, counted from the text.

Reads the format strictly by its description (exposition_formats.md of Prometheus), without a client library: each metric
has HELP and TYPE before its series, which are together; no series is there twice; histograms are cumulative, and +Inf is
the count.
"""
import collections
import math
import os
import re
import sys

HEAD = re.compile(r"# (HELP|TYPE) ([a-z_]+) (.+)")
SERIES = re.compile(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*)\} ([0-9.e+]+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')
OPS = {"R": "read", "W": "write", "D": "discard", "F": "flush", "Z": "zero", "O": "other"}
NO_CALL = "snapshot"


def parse(path):
    """Returns {metric: type}, {name: {labels without trace and experiment: value}}, (trace, experiment)."""
    types, series, whose, family = {}, collections.defaultdict(dict), set(), None
    with open(path, encoding="utf-8", newline="\n") as file:
        text = file.read()
    assert text.endswith("\n"), "cut off"
    for line in text[:-1].split("\n"):
        head = HEAD.fullmatch(line)
        if head:
            kind, family, rest = head.groups()
            assert kind == "TYPE" or family not in types, f"{family} twice"
            if kind == "TYPE":
                types[family] = rest
                assert (rest == "counter") == family.endswith("_total"), line
            continue
        found = SERIES.fullmatch(line)
        assert found, f"no series: {line}"
        name, labels, value = found.groups()
        assert re.sub("_(bucket|sum|count)$", "", name) == family or name == family, f"{name} among {family}"
        labels = {k: re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], v) for k, v in LABEL.findall(labels)}
        whose.add((labels.pop("trace"), labels.pop("experiment")))
        key = tuple(sorted(labels.items()))
        assert key not in series[name], f"twice: {line}"
        series[name][key] = float(value)
    assert len(whose) == 1, whose
    return types, series, whose.pop()


def rows(folder, probe):
    with open(os.path.join(folder, probe + ".out"), encoding="utf-8", newline="\n") as file:
        file.readline()
        columns = file.readline().rstrip("\n").split("\t")
        return [dict(zip(columns, line.rstrip("\n").split("\t"))) for line in file if not line.startswith("#")]


def check_hist(series, name, latencies, **labels):
    get = lambda suffix, **more: series[name + suffix].get(tuple(sorted({**labels, **more}.items())))
    buckets = {dict(k)["le"]: v for k, v in series[name + "_bucket"].items() if labels.items() <= dict(k).items()}
    assert "+Inf" in buckets and len(buckets) > 10, f"{name} {labels}: {buckets}"
    for le, count in buckets.items():
        wanted = sum(ns <= float(le) * 1e9 + 0.5 for ns in latencies) if le != "+Inf" else len(latencies)
        assert count == wanted, f"{name} {labels} le={le}: {count}, not {wanted}"
    assert get("_count") == len(latencies), f"{name} {labels}: count"
    assert math.isclose(get("_sum"), sum(latencies) / 1e9, abs_tol=1e-9), f"{name} {labels}: sum"


def main(folder, path):
    types, series, whose = parse(path)
    assert whose[0] == os.path.basename(os.path.realpath(folder)), whose
    # in the folder's name, bytes that no label can hold are replaced as the program does it
    files = {name[:-4]: rows(folder, name[:-4]) for name in os.listdir(folder)
             if name.endswith(".out") and name[:-4] not in ("cpu", "disk", "cgroup", "gpu", "gpu_dev")}
    counted = {dict(k)["probe"]: v for k, v in series["dltraced_rows_total"].items()}
    for name, its in files.items():
        assert counted.pop(name, 0) == len(its), f"rows of {name}: not {len(its)}"
    assert not any(counted.values()), f"rows of no file: {counted}"
    sizes = {dict(k)["probe"]: v for k, v in series["dltraced_file_bytes_total"].items()}
    for name, size in sizes.items():
        assert size == os.path.getsize(os.path.join(folder, name + ".out")), f"bytes of {name}"
    for name, its in files.items():
        if its and "LAT_NS" in its[0] and name not in ("rollup",):
            check_hist(series, "dltraced_operation_latency_seconds",
                       [int(r["LAT_NS"]) for r in its if r.get("FUNC") != NO_CALL], probe=name)
    by_disk = collections.defaultdict(list)
    for row in files.get("bio", []):
        by_disk[row["DISK"], OPS[row["T"]]].append(row)
    for (disk, op), its in by_disk.items():
        check_hist(series, "dltraced_disk_latency_seconds", [int(r["LAT_NS"]) for r in its], disk=disk, op=op)
        assert series["dltraced_disk_bytes_total"][("disk", disk), ("op", op)] == sum(int(r["BYTES"]) for r in its)
    assert len(series["dltraced_disk_bytes_total"]) == len(by_disk)
    moved = lambda rw: sum(max(int(r["RETURNED"]), 0) for r in files["vfs_rw"] if r["RW"] == rw and r["RETURNED"] != "?")
    assert series["dltraced_read_bytes_total"][()] == moved("R")
    assert series["dltraced_written_bytes_total"][()] == moved("W")
    assert series["dltraced_fetched_bytes_total"][()] == sum(
        int(r["DISK_BYTES"]) for r in files["vfs_rw"] if r["DISK_BYTES"] not in "-?")
    assert series["dltraced_tracing"][()] == 0 and series["dltraced_end_time_seconds"][()] > 0
    assert 0 < series["dltraced_resident_memory_bytes"][()] and 0 < sum(series["dltraced_cpu_seconds_total"].values())
    # docs/metrics.md lists all of them, with their types
    docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/metrics.md")
    with open(docs, encoding="utf-8") as file:
        documented = dict(re.findall(r"^\| `([a-z_]+)` \| (\w+) \|", file.read(), re.M))
    assert documented == types, f"docs/metrics.md: {set(documented.items()) ^ set(types.items())}"


if __name__ == "__main__":
    main(*sys.argv[1:])
