# SPDX-License-Identifier: BSD-2-Clause
"""
The numbers of DFAnalyzer's summary: what the job consists of, and how its computing and its I/O overlap.

An interval is a call or a region, from its begin to its end. Times are exact: the length of the union of intervals of all
processes and threads, by UTC where there are several hosts. What is not overlapped is the union of both less that of the other.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

import pandas

from . import _folder, _read, _select
from ._folder import Host, Path

# Of (app-level I/O, computing, I/O), for {"name": ..., "cat": ...}: once for each pair of these.
Classify = Callable[[Dict[str, str]], Tuple[bool, bool, bool]]

CALLS = ("close", "create_del", "mmap", "open", "sync", "vfs_rw")
WAITS = ("anon", "chr", "fifo", "sock")  # on these types of files for other processes or devices: no I/O of files
LABELS = (
    ("Allocation", (("nodes", "Nodes"), ("processes", "Processes"), ("compute_threads", "Compute Threads"),
                    ("io_threads", "I/O Threads"), ("events", "Events Recorded"))),
    ("Dataset", (("files", "Files"),)),
    ("Time", (("total_ns", "Total Time"), ("app_io_ns", "Overall App Level I/O"), ("app_io_alone_ns", "Unoverlapped App I/O"),
              ("app_compute_alone_ns", "Unoverlapped App Compute"), ("compute_ns", "Compute"), ("io_ns", "Overall I/O"),
              ("io_alone_ns", "Unoverlapped I/O"), ("compute_alone_ns", "Unoverlapped Compute"))),
)
POINTS = ("mark", "meta")  # no regions: an instant, a fact
REGION_HEADS = ("of time", "count", "processes", "total", "own", "mean", "median", "p99", "max")
REGION_TIMES = ("total_ns", "own_ns", "mean_ns", "p50_ns", "p99_ns", "max_ns")
SIZES = ("min", "p25", "mean", "median", "p75", "max")


class Kind(NamedTuple):
    app_io: bool
    compute: bool
    io: bool


def default_classify(event: Dict[str, str]) -> Tuple[bool, bool, bool]:
    """Regions of data and checkpoints are I/O of the application, calls and page faults that waited are I/O."""
    cat = event["cat"]
    return cat in ("data", "dataloader", "checkpoint"), cat in ("compute", "device"), cat in ("POSIX", "fault")


def union_ns(spans: Iterable[Tuple[int, int]]) -> int:
    """The length of the union of SPANS."""
    total, end = 0, None
    for begin, until in sorted(spans):
        if end is None or begin > end:
            total, end = total + until - begin, until
        elif until > end:
            total, end = total + until - end, until
    return total


def _rows(host: Host, probe: str, columns: List[str]) -> Optional[Any]:
    if not _folder.segments(host.folder, probe):
        return None
    return _read.read(host.folder, probe, columns=["TIMESTAMP", "PID", "TID", "LAT_NS", *columns])


def _calls_of(host: Host) -> List[Any]:
    files = _read.read(host.folder, "files", columns=["FID", "TYPE"]) if _folder.segments(host.folder, "files") else None
    types = {} if files is None else dict(zip(files["FID"], files["TYPE"]))
    frames = []
    for probe in CALLS:
        rows = _rows(host, probe, ["FUNC", "FID", *(["RW", "RETURNED"] if probe == "vfs_rw" else [])])
        if rows is None:
            continue
        rows = rows[~rows["FID"].map(types).isin(WAITS) & ~rows["FUNC"].isin(("snapshot", "create"))]  # a create has its open
        frames.append(rows.assign(name=rows["FUNC"], cat="POSIX"))
    faults = _rows(host, "fault", ["FID"])
    if faults is not None:
        frames.append(faults[faults["LAT_NS"].notna()].assign(name="fault", cat="fault"))
    return frames


def _events(hosts: List[Host]) -> Any:
    """The calls on files and the regions of HOSTS: name, cat, host, PID, TID, begin, end, FID, RETURNED."""
    frames = []
    for number, host in enumerate(hosts):
        regions = _rows(host, "regions", ["CAT", "NAME", "BYTES", "LANE", "ARGS"])
        found = _calls_of(host)
        if regions is not None:
            found.append(regions.assign(name=regions["NAME"].fillna(""), cat=regions["CAT"].fillna("")))
        after = _select.utc_offset_ns(host) if len(hosts) > 1 else 0
        for frame in found:
            if frame.empty:
                continue
            end = frame["TIMESTAMP"].astype("int64") + after
            frames.append(frame.assign(begin=end - frame["LAT_NS"].astype("int64"), end=end, host=number))
    if not frames:
        raise ValueError(f"{', '.join(host.folder for host in hosts)}: neither calls on files nor regions were recorded")
    events = pandas.concat(frames, ignore_index=True)
    return events if "FID" in events else events.assign(FID=pandas.NA)  # regions alone


def _kinds(events: Any, classify: Classify) -> Any:
    of = {pair: Kind(*map(bool, classify({"name": pair[0], "cat": pair[1]})))
          for pair in events[["name", "cat"]].drop_duplicates().itertuples(index=False, name=None)}
    return pandas.DataFrame([of[pair] for pair in zip(events["name"], events["cat"])], columns=Kind._fields, index=events.index)


def _n(events: Any, *columns: str) -> int:
    return len(events[list(columns)].dropna().drop_duplicates())


def _functions(events: Any) -> Dict[str, Dict[str, Any]]:
    """{function: number and sizes}, of calls; sizes of reads and writes that moved data."""
    found = {}
    for name, rows in events[events["cat"] == "POSIX"].groupby("name"):
        moved = rows["RETURNED"].dropna().astype("int64") if "RETURNED" in rows else pandas.Series(dtype="int64")
        moved = moved[moved > 0]
        sizes = (moved.min(), moved.quantile(.25), moved.mean(), moved.median(), moved.quantile(.75), moved.max()) if len(moved) else ()
        found[str(name)] = {"count": len(rows), "size_bytes": dict(zip(SIZES, map(float, sizes)))}
    return found


def _own_ns(regions: Any) -> Any:
    """Of each of REGIONS, which are in the order of their ends, the time in which no other of its thread and lane lies within it."""
    closed: Dict[Tuple[int, int, int, int], List[Tuple[int, int]]] = {}  # (begin, length) of those that nothing has enclosed yet
    own = []
    for host, pid, tid, lane, begin, end in zip(*(regions[c].fillna(-1).astype("int64") for c in ("host", "PID", "TID", "LANE", "begin", "end"))):
        before, within = closed.setdefault((host, pid, tid, lane), []), 0
        while before and before[-1][0] >= begin:
            within += before.pop()[1]
        before.append((begin, end - begin))
        own.append(max(end - begin - within, 0))
    return own


def _bytes(regions: Any) -> Any:
    """The bytes that REGIONS name; DFTracer's programs name them in ARGS."""
    named = regions["ARGS"].astype("string").str.extract(r"(?:^|\n)image_size=(\d+)(?:\n|$)")[0]
    return regions["BYTES"].fillna(pandas.to_numeric(named).astype("Int64"))


def _regions(events: Any, total_ns: int) -> List[Dict[str, Any]]:
    """A row for each category, in whatever case, and name: those with the most time first."""
    if "CAT" not in events:
        return []
    regions = events[events["CAT"].notna() & ~events["CAT"].isin(POINTS)].sort_values("end", kind="stable")
    regions = regions.assign(own=_own_ns(regions), bytes=_bytes(regions), key=regions["cat"].str.lower())
    found = []
    for _, rows in regions.groupby(["key", "name"]):
        ns, moved = rows["LAT_NS"].astype("int64"), rows["bytes"].dropna()
        total, covered = int(ns.sum()), union_ns(zip(rows["begin"], rows["end"]))
        quantiles = {f"p{percent}_ns": float(ns.quantile(percent / 100)) for percent in (25, 50, 75, 99)}
        found.append({
            "cat": rows["cat"].iloc[0], "name": rows["name"].iloc[0], "count": len(rows), "processes": _n(rows, "host", "PID"),
            "total_ns": total, "own_ns": int(rows["own"].sum()), "nested_ns": total - int(rows["own"].sum()),
            "covered_ns": int(covered), "share": covered / total_ns if total_ns else 0.0,
            "mean_ns": total / len(rows), "min_ns": int(ns.min()), **quantiles, "max_ns": int(ns.max()),
            "bytes": int(moved.sum()) if len(moved) else None,
            "bytes_per_s": int(moved.sum()) / total * 1e9 if len(moved) and total else None,
        })
    return sorted(found, key=lambda row: -row["total_ns"])


def numbers(path: Union[Path, Iterable[Path]], classify: Classify) -> Dict[str, Any]:
    hosts = _folder.hosts(path)
    events = _events(hosts)
    kinds = _kinds(events, classify)
    spans = {name: list(zip(events["begin"][kinds[name]], events["end"][kinds[name]])) for name in Kind._fields}
    ns = {name: union_ns(of) for name, of in spans.items()}
    total_ns = int(events["end"].max() - events["begin"].min())
    app_both, both = union_ns(spans["app_io"] + spans["compute"]), union_ns(spans["io"] + spans["compute"])
    return {
        "nodes": len({host.name for host in hosts}),
        "processes": _n(events, "host", "PID"),
        "compute_threads": _n(events[kinds["compute"]], "host", "TID"),
        "io_threads": _n(events[kinds["io"]], "host", "TID"),
        "events": len(events),
        "files": _n(events[kinds["io"]], "host", "FID"),
        "total_ns": total_ns,
        "app_io_ns": ns["app_io"], "app_io_alone_ns": app_both - ns["compute"], "app_compute_alone_ns": app_both - ns["app_io"],
        "compute_ns": ns["compute"], "io_ns": ns["io"], "io_alone_ns": both - ns["compute"], "compute_alone_ns": both - ns["io"],
        "functions": _functions(events),
        "regions": _regions(events, total_ns),
    }


def _printed(found: Dict[str, Any]) -> str:
    lines = []
    for title, rows in LABELS:
        lines.append(title)
        lines += [f"  {label + ':':26}{found[key] / 1e9:.3f} s" if key.endswith("_ns") else f"  {label + ':':26}{found[key]}"
                  for key, label in rows]
    lines.append("Calls" + " " * 13 + "".join(f"{head:>12}" for head in ("count", *SIZES)))
    for name, of in found["functions"].items():
        lines.append(f"  {name:16}{of['count']:12}" + "".join(f"{of['size_bytes'][size]:12.0f}" for size in SIZES if of["size_bytes"]))
    if found["regions"]:
        lines.append("Regions     " + "".join(f"{head:>12}" for head in REGION_HEADS))
        for row in found["regions"]:
            numbers = (f"{100 * row['share']:.1f} %", row["count"], row["processes"], *(f"{row[key] / 1e9:.3f} s" for key in REGION_TIMES))
            lines.append(" " * 12 + "".join(f"{number:>12}" for number in numbers) + f"  {row['cat']}.{row['name']}")
    return "\n".join(lines)


def summary(path: Union[Path, Iterable[Path]], classify: Optional[Classify] = None) -> Dict[str, Any]:
    """
    Prints the lines of DFAnalyzer's summary of the traces at PATH, the hosts of one job, and returns their numbers.

    CLASSIFY says what is (I/O of the application, computing, I/O), as a function for DFAnalyzer does: three booleans for
    an event's "name" and "cat", which are a region's, or a call's name and "POSIX".
    """
    found = numbers(path, classify or default_classify)
    print(_printed(found))
    return found
