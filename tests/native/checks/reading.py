# SPDX-License-Identifier: BSD-2-Clause
"""reading GOLDEN TRACE...: does the package for Python read each TRACE as gzip, zstd and a loop over lines do, with the rows that
its manifest counts? How does it treat what is damaged or missing? With pandas: are GOLDEN's values
what the text has, and are the overlaps of summary() exact?"""
import contextlib
import gzip
import importlib.util
import io
import json
import os
import random
import re
import subprocess
import sys
import warnings

import dltraced

assert not [name for name in sys.modules if re.fullmatch(r"dltraced\._(read|report|summary|lines|folder|columns|program)", name)], \
    "importing the package imports what reads traces"

from dltraced import _columns, _folder, _lines, _select  # noqa: E402
from tracefolder import unescape  # noqa: E402

golden, traces = sys.argv[1], sys.argv[2:]


def text_of(file):
    if file.endswith(".gz"):
        with gzip.open(file) as f:
            return f.read()
    if file.endswith(".zst"):
        return subprocess.run(["zstd", "-dcq", file], stdout=subprocess.PIPE, check=True).stdout
    with open(file, "rb") as f:
        return f.read()


def plain_rows(trace, probe):
    files = sorted((f for f in os.listdir(trace) if re.fullmatch(probe + r"(\.\d+)?\.out(\.gz|\.zst)?", f)),
                   key=lambda f: int((re.search(r"\.(\d+)\.", f) or [0, "9" * 9])[1]))
    return [line for f in files for line in text_of(os.path.join(trace, f)).split(b"\n")[2:] if line]


def package_rows(trace, probe, size=0):
    lines = []
    for file in _folder.segments(trace, probe):
        names = _lines.header(file, probe)
        blocks = list(_lines.blocks(file, size))
        if not file.endswith((".gz", ".zst")):
            assert [b.begin for b in blocks[1:]] == [b.end for b in blocks[:-1]] and blocks[-1].end == os.path.getsize(file), blocks
        for block in blocks:
            lines += _lines.rows(block, len(names))
    return lines


def shown(text):
    """TEXT as Python's own decoder reads it; bytes that are not UTF-8 as \\ooo."""
    return "".join(f"\\{ord(c) & 255:03o}" if "\udc80" <= c <= "\udcff" else c for c in unescape(text).decode(errors="surrogateescape"))


def whole(trace):
    with open(os.path.join(trace, "manifest.json"), encoding="utf-8") as f:
        manifest = json.load(f)
    n = 0
    for probe in manifest["probes"]:
        if not _folder.segments(trace, probe["name"]):
            continue
        wanted = plain_rows(trace, probe["name"])
        assert len(wanted) == probe["rows"], (probe["name"], len(wanted), probe["rows"])
        for size in (0, 1, 1000, 1 << 20):
            got = package_rows(trace, probe["name"], size)
            assert got == wanted, f"{trace}: {probe['name']} in blocks of {size}: {len(got)} rows, not {len(wanted)}"
        n += len(wanted)
    assert n > 1000, n
    host, = _folder.hosts(trace)
    assert host == (manifest["host"], trace), host
    kinds = set()
    for row in _lines.records(trace, "files"):
        assert _columns.unescape(row["REALPATH"]) == shown(row["REALPATH"]), row
        is_text = unescape(row["REALPATH"]).decode(errors="ignore").encode() == unescape(row["REALPATH"])
        kinds.add("no UTF-8" if not is_text else "escaped" if "\\" in row["REALPATH"] else "plain")
    assert kinds == {"escaped", "plain", "no UTF-8"}, kinds


def warned(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return function(), [str(w.message) for w in caught]


def without_numpy(function):
    """What FUNCTION returns where numpy cannot be imported."""
    there = sys.modules.pop("numpy", None)
    sys.modules["numpy"] = None
    try:
        return function()
    finally:
        del sys.modules["numpy"]
        if there:
            sys.modules["numpy"] = there


def refused(function, kind, words):
    try:
        function()
    except kind as error:
        assert words in str(error), f"{words!r} is not in {error!s}"
        return
    raise AssertionError(f"nothing was refused: {words}")


def with_file(name, text):
    os.makedirs("made", exist_ok=True)
    for old in os.listdir("made"):
        os.unlink(os.path.join("made", old))
    with open(os.path.join("made", name), "wb") as f:
        f.write(text)


HEADER = b"# dltraced close 1\nTIMESTAMP\tTIME\tPID\n"
GOOD = [b"%d\t2026-11-21T01:02:03.123456789Z\t7" % i for i in range(3)]


def trace_of(folder, **files):
    """Makes a trace. FILES: rows of the columns that matter, {column: text}."""
    os.makedirs(folder)
    for name, rows in files.items():
        columns = [c.name for c in _columns.of(name)]
        with open(os.path.join(folder, name + ".out"), "w", encoding="utf-8") as f:
            f.write(f"# dltraced {name} 1\n" + "\t".join(columns) + "\n")
            f.writelines("\t".join(str(row.get(c, "-")) for c in columns) + "\n" for row in rows)


def selected():
    """Ranks and processes come from pids.out; an epoch that only one host shows is found on the others by UTC."""
    hosts = _folder.hosts(os.path.join(golden, "trace-panels"))
    names = [c.name for c in _columns.of("vfs_rw")]
    lines = package_rows(hosts[0].folder, "vfs_rw")
    pids = {rank: {r["PID"] for r in _lines.records(hosts[0].folder, "pids") if r["RANK"] == str(rank)} for rank in (0, 1)}
    assert pids == {0: {"1000", "1002"}, 1: {"1001", "1003"}}, pids
    for query, wanted in (({"rank": 1}, pids[1]), ({"rank": (0, 1)}, pids[0] | pids[1]), ({"rank": 0, "pid": 1002}, {"1002"}),
                          ({"rank": 0, "pid": 1003}, set()), ({"rank": 7}, set()), ({"pid": [1000, 1003]}, {"1000", "1003"})):
        keep = _select.selections(hosts, "vfs_rw", names, **query)[hosts[0].folder]
        assert [line for line in lines if keep(line)] == [line for line in lines if line.decode().split("\t")[2] in wanted], query

    # regions only on the first host: epoch 3 from 2 s to 3 s after its begin; the clock of the other host is 5000 s
    # behind
    second = 10**9
    zero = 1795000000 * second
    trace_of("hosts/one", time_align=[{"TIMESTAMP": 9000 * second, "REALTIME_NS": zero, "EVENT": "start"}],
             regions=[{"TIMESTAMP": 9003 * second, "LAT_NS": second, "PID": 1, "TID": 1, "CAT": "pipeline", "NAME": "epoch", "EPOCH": 3, "RET": 0}],
             close=[{"TIMESTAMP": 9001 * second + i * second // 2, "PID": 1, "TID": 1, "LAT_NS": 5} for i in range(6)])
    trace_of("hosts/two", time_align=[{"TIMESTAMP": 4000 * second, "REALTIME_NS": zero, "EVENT": "start"}],
             close=[{"TIMESTAMP": 4001 * second + i * second // 2, "PID": 1, "TID": 1, "LAT_NS": 5} for i in range(6)])
    hosts = _folder.hosts("hosts/*")
    assert [host.name for host in hosts] == ["one", "two"], hosts
    keep = _select.selections(hosts, "close", [c.name for c in _columns.of("close")], epoch=3)
    for host, begin in zip(hosts, (9002, 4002)):
        kept = [int(line.split(b"\t")[0]) for line in package_rows(host.folder, "close") if keep[host.folder](line)]
        assert kept == [begin * second, begin * second + second // 2], (host, kept)


def selected_regions():
    """A region is of the epoch that it names; without one, of that in which it begins, as a checkpoint that ends in the next one."""
    second = 10**9

    def region(begin, end, cat, name, number="-"):
        return {"TIMESTAMP": int((1000 + end) * second), "LAT_NS": int((end - begin) * second), "PID": 1, "TID": 1, "CAT": cat, "NAME": name,
                "EPOCH": number, "RET": 0}

    rows = [region(0.1, 0.9, "compute", "step", 0), region(0, 1, "pipeline", "epoch", 0),
            region(1.2, 1.4, "io", "own"),
            region(1, 2, "pipeline", "epoch", 1), region(0.9, 2.1, "io", "around"),
            region(1.8, 2.3, "checkpoint", "save"),
            region(1.9, 2.4, "checkpoint", "save", 0), region(2.2, 2.5, "io", "own"),
            region(2.15, 3, "pipeline", "epoch", 2), region(3.1, 3.2, "io", "after")]
    reads = [{"TIMESTAMP": (1000 + at) * second + 1, "LAT_NS": 1, "PID": 1, "TID": 1, "FUNC": "read", "RW": "R", "RETURNED": 1} for at in range(4)]
    trace_of("epochs", regions=rows, vfs_rw=reads)
    with open("epochs/manifest.json", "w", encoding="utf-8") as f:
        json.dump({"tool": "dltraced", "schema": 1, "complete": True, "probes": []}, f)
    hosts = _folder.hosts("epochs")
    names = [c.name for c in _columns.of("regions")]
    lines = package_rows("epochs", "regions")
    for query, wanted in ((0, {0, 1, 4, 6}), (1, {2, 3, 5}), (2, {7, 8}), ((0, 2), {0, 1, 4, 6, 7, 8})):
        keep = _select.selections(hosts, "regions", names, epoch=query)["epochs"]
        got = {i for i, line in enumerate(lines) if keep(line)}
        assert got == wanted, (query, got, wanted)


def damaged():
    """Text after the header | the expected rows | a word of the warning."""
    one, two, three = GOOD
    lines = b"\n".join
    for text, wanted, word in (
            (lines([one, two, b""]), [one, two], None),
            (lines([one, two[:9]]), [one], "cut off"),
            (lines([one, b"# a banner", two, b""]), [one, two], None),
            (lines([one, b"5\tlittle", two, b""]), [one, two], "1 damaged"),
            (lines([one, b"\0" * 9 + two, three, b""]), [one, three], "1 damaged"),
            (lines([one, two + b"\tlater column", b""]), [one, two], None),
            (lines([one, two + b"\tmore", b"5\tlittle", three, b""]), [one, two, three], "1 damaged"),  # as many tabs as there should be
            (lines([b"5\tlittle", two + b"\tmore", three, b""]), [two, three], "1 damaged"),
            (lines([one, b"", two + b"\tmore\tmore", b""]), [one, two], "1 damaged"),
            (lines([one + b"\x1b", two, b""]), [one + rb"\033", two], None),
            (lines([one + b" \r\x7f\"#", b""]), [one + rb"\040\015\177\042\043"], None),
            (lines([one + b"\xff\xc3\xa9", b""]), [one + b"\\377\xc3\xa9"], None),
            (b"", [], None)):
        with_file("close.out", HEADER + text)
        without, _ = warned(lambda: without_numpy(lambda: package_rows("made", "close")))
        got, warning = warned(lambda: package_rows("made", "close"))
        assert got == wanted and without == wanted, (text, got, without)
        assert bool(warning) == bool(word) and (not word or word in warning[0]), (text, warning)
    for text in (b"", b"# dltr", HEADER[:25], b"# dltraced close 1\n# Linux 6.18\n"):
        with_file("close.out", text)
        assert _lines.header("made/close.out", "close") == [], text
    for text, word in ((b"TIMESTAMP\n" * 9, "does not begin with"), (HEADER.replace(b"close", b"open"), "does not begin with"),
                       (HEADER.replace(b" 1\n", b" 99\n"), "newer dltraced")):
        with_file("close.out", text)
        refused(lambda: _lines.header("made/close.out", "close"), ValueError, word)


def cut_off():
    """A packed file without its last member or frame: a warning says so."""
    first, second = HEADER + GOOD[0] + b"\n", GOOD[1] + b"\n"
    packers = {".gz": gzip.compress}
    if any(trace.endswith("zstd") for trace in traces):
        packers[".zst"] = lambda text: subprocess.run(["zstd", "-cq"], input=text, stdout=subprocess.PIPE, check=True).stdout
    for suffix, pack in packers.items():
        packed = pack(first) + pack(second)
        with_file("close.out" + suffix, packed)
        assert package_rows("made", "close", 1) == GOOD[:2], suffix
        with_file("close.out" + suffix, packed[:-5])
        got, warning = warned(lambda: package_rows("made", "close", 1))
        assert got == GOOD[:1] and "cut off" in warning[0], (suffix, got, warning)
    with_file("close.000001.out.gz", gzip.compress(first))
    with open("made/close.000001.out", "wb") as f:  # as after a crash: the segment is there twice
        f.write(first)
    assert _folder.segments("made", "close") == ["made/close.000001.out"]


def missing():
    refused(lambda: _folder.hosts("nowhere"), FileNotFoundError, "no such trace folder")
    os.makedirs("empty", exist_ok=True)
    refused(lambda: _folder.hosts("empty"), FileNotFoundError, "no trace")
    assert [host.folder for host in _folder.hosts([traces[0], traces[0] + "/", "trace.*"])] == traces
    refused(lambda: _columns.of("vfs"), ValueError, "vfs_rw")
    refused(lambda: _columns.chosen(_columns.of("close"), ["LATNS"]), ValueError, "LAT_NS")
    refused(lambda: dltraced.read(traces[0], "close", engine="spark"), ValueError, "polars")
    refused(lambda: dltraced.unknown, AttributeError, "unknown")
    with_file("close.out", HEADER + GOOD[0] + b"\n")
    for tool_schema, word in ((2, "newer dltraced"), (True, None), ("2", None), (1, None)):
        with open("made/manifest.json", "w") as f:
            json.dump({"tool": "dltraced", "schema": tool_schema}, f)
        if word:
            refused(lambda: dltraced.read("made", "close"), ValueError, word)
        else:
            assert len(dltraced.read("made", "close")) == 1, tool_schema
    os.remove("made/manifest.json")
    hosts = _folder.hosts(traces[0])
    refused(lambda: _select.selections(hosts, "files", ["TIMESTAMP"], pid=1), ValueError, "no process")
    refused(lambda: _select.selections(hosts, "close", ["TIMESTAMP", "PID"], epoch=3), ValueError, "no epoch 3")
    assert dltraced.report(traces[0])["complete"] is True
    program = os.environ["DLTRACED_PROGRAM"]
    os.environ["DLTRACED_PROGRAM"] = "nothing/dltraced"
    refused(lambda: dltraced.report(traces[0]), FileNotFoundError, "install dltraced")
    os.environ["DLTRACED_PROGRAM"] = "false"
    refused(lambda: dltraced.report(traces[0]), RuntimeError, "failed: status 1")
    os.environ["DLTRACED_PROGRAM"] = program


def golden_values():
    """Compares each value of each golden file, as pandas reads it, with the text as Python reads it."""
    import pandas
    for name in sorted(_columns._files()):
        source = os.path.join(golden, name + ".txt")
        if not os.path.exists(source):
            continue
        with open(source, "rb") as f:
            with_file(name + ".out", f.read())
        frame = dltraced.read("made", name)
        rows = list(_lines.records("made", name))
        assert len(frame) == len(rows), name
        for column in _columns.of(name):
            for row, got in zip(rows, frame[column.name]):
                text = row[column.name]
                if text in "-?":
                    assert pandas.isna(got), (name, column, text, got)
                elif "int" in column.type:
                    assert int(got) == int(text), (name, column, text, got)
                elif column.type == "time":
                    assert f"{got:%Y-%m-%dT%H:%M:%S}.{got.microsecond * 1000 + got.nanosecond:09}Z" == text, (name, text, got)
                else:
                    assert got == (shown(text) if column.type == "text" else text), (name, column, text, got)
        assert set(frame["host"]) <= {"made"} and set(frame["folder"]) <= {"made"}, name


def summed_up():
    """The lines of summary(): of made-up rows, whose overlaps are easy to count by hand; of a golden trace, compared with
    the report.
    """
    def read(begin, end, fid, pid=1, moved=10, func="read"):
        return {"TIMESTAMP": end, "LAT_NS": end - begin, "PID": pid, "TID": pid, "FUNC": func, "FID": fid, "RETURNED": moved, "RW": "R"}

    def region(begin, end, cat, name):
        return {"TIMESTAMP": end, "LAT_NS": end - begin, "PID": 1, "TID": 1, "CAT": cat, "NAME": name}

    trace_of("summed",
             files=[{"TIMESTAMP": 1, "FID": 1, "TYPE": "reg"}, {"TIMESTAMP": 1, "FID": 2, "TYPE": "fifo"}, {"TIMESTAMP": 1, "FID": 3, "TYPE": "reg"}],
             # I/O: 100-200, 150-300 in another process, 1000-1100; a wait for a pipe is not I/O
             vfs_rw=[read(100, 200, 1), read(150, 300, 3, pid=2, moved=30), read(0, 900, 2), read(1000, 1100, 1, moved=-5, func="pread64")],
             # fetches 90-310; computing 250-1050, of which 300-400 is covered twice
             regions=[region(90, 310, "dataloader", "fetch"), region(250, 1050, "compute", "forward"), region(300, 400, "compute", "backward")])
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        got = dltraced.summary("summed")
    wanted = {"nodes": 1, "processes": 2, "compute_threads": 1, "io_threads": 2, "events": 6, "files": 2, "total_ns": 1010,
              "app_io_ns": 220, "app_io_alone_ns": 160, "app_compute_alone_ns": 740, "compute_ns": 800,
              "io_ns": 300, "io_alone_ns": 150 + 50, "compute_alone_ns": 700}
    assert {name: got[name] for name in wanted} == wanted, got
    assert got["functions"]["read"] == {"count": 2, "size_bytes": {"min": 10, "p25": 15, "mean": 20, "median": 20, "p75": 25, "max": 30}}, got
    assert got["functions"]["pread64"] == {"count": 1, "size_bytes": {}}, got
    assert "Unoverlapped I/O:" in printed.getvalue() and re.search(r"read +2 +10 +15 +20 ", printed.getvalue()), printed.getvalue()
    events = []
    with contextlib.redirect_stdout(io.StringIO()):
        got = dltraced.summary("summed", classify=lambda event: events.append(event) or (False, event["name"] == "backward", event["cat"] == "POSIX"))
    assert got["compute_ns"] == 100 and got["app_io_ns"] == 0 and got["io_alone_ns"] == 300, got
    assert {"name": "forward", "cat": "compute"} in events and len(events) == 5, events

    trace = os.path.join(golden, "trace-panels")
    with contextlib.redirect_stdout(io.StringIO()):
        functions = dltraced.summary(trace)["functions"]
    for of in dltraced.report(trace)["functions"]:
        if of["func"] != "create":
            got = functions[of["func"]]
            assert got["count"] == of["calls"], (got, of)
            for mine, theirs in (("min", "size_min_bytes"), ("mean", "size_mean_bytes"), ("max", "size_max_bytes")):
                assert of["probe"] != "vfs_rw" or int(got["size_bytes"][mine]) == of[theirs], (mine, got, of)


def regions_summed():
    """summary()'s table of regions: by hand, and of random trees of regions as the report has them."""
    def region(pid, begin, end, cat, name, lane="-", moved="-", args="-"):
        return {"TIMESTAMP": end, "LAT_NS": end - begin, "PID": pid, "TID": pid, "CAT": cat, "NAME": name, "LANE": lane, "BYTES": moved,
                "ARGS": args}

    def tree(pid, begin, end, depth, lane):
        names = (("Data", "read"), ("data", "read"), ("compute", "step"), ("app", "x"))
        while begin < end:
            until = min(end, begin + made.randint(1, (end - begin) // 2 + 1))
            if depth:
                yield from tree(pid, begin + (until - begin) // 4, until - (until - begin) // 4, depth - 1, lane)
            moved = made.choice(("-", 0, 70))
            args = made.choice(("-", "image_size=9", "a=1\\012image_size=5\\012b=2", "his_image_size=4"))
            yield region(pid, begin, until, *made.choice(names), lane, moved, args)
            begin = until + made.randint(1, 50)

    made = random.Random(7)
    begin = 10**12
    rows = [row for pid in (1, 2) for lane in ("-", 0, 3) for row in tree(pid, begin, begin + 10**5, 3, lane)]
    for folder, regions in (("by_hand", [region(1, 110, 140, "io", "read", moved=10), region(1, 150, 160, "IO", "read"),
                                         region(1, 100, 200, "app", "Epoch"),
                                         region(2, 150, 210, "io", "read", moved=50), region(2, 220, 220, "mark", "now")]),
                            ("by_trees", sorted(rows, key=lambda row: row["TIMESTAMP"]))):
        trace_of(folder, regions=regions)
        with open(f"{folder}/manifest.json", "w", encoding="utf-8") as f:
            json.dump({"tool": "dltraced", "schema": 1, "complete": True, "probes": []}, f)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        hand, trees = (dltraced.summary(folder)["regions"] for folder in ("by_hand", "by_trees"))
    assert [(r["cat"], r["name"]) for r in hand] == [("app", "Epoch"), ("io", "read")], hand
    wanted = {"count": 3, "processes": 2, "total_ns": 100, "own_ns": 100, "nested_ns": 0, "covered_ns": 90, "share": 90 / 120, "mean_ns": 100 / 3,
              "min_ns": 10, "p25_ns": 20, "p50_ns": 30, "p75_ns": 45, "max_ns": 60, "bytes": 60, "bytes_per_s": 60 / 100e-9}
    assert {key: hand[1][key] for key in wanted} == wanted, hand
    assert (hand[0]["own_ns"], hand[0]["nested_ns"], hand[0]["bytes"]) == (60, 40, None), hand
    assert re.search(r"75\.0 % +3 +2 .* io\.read\n", printed.getvalue()), printed.getvalue()
    keys = ("count", "processes", "total_ns", "own_ns", "nested_ns", "covered_ns", "min_ns", "max_ns", "bytes")
    theirs = {(r["cat"].lower(), r["name"]): [r[key] for key in keys] for r in dltraced.report("by_trees")["regions"]}
    assert len(theirs) == 3 and {(r["cat"].lower(), r["name"]): [r[key] for key in keys] for r in trees} == theirs, (trees, theirs)


for trace in traces:
    whole(trace)
selected()
selected_regions()
damaged()
cut_off()
missing()
if importlib.util.find_spec("pandas"):
    golden_values()
    summed_up()
    regions_summed()
else:
    print("note: without pandas, golden values and summary() were not tested")
