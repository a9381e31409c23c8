# SPDX-License-Identifier: BSD-2-Clause
"""tracefolder: reads a trace folder strictly, by the promises of the documentation alone.

It shares no code with dltraced, so that the two check each other: here, Python's own decoder decides what valid UTF-8 is.
The rules for every complete trace without loss are checked in every test. finish() names each rule that was broken, and
ends the test.
"""
import calendar
import collections
import functools
import gc
import json
import os
import re
import sys
import time

import probes

BETWEEN_TWO = ("copy_file_range", "sendfile", "splice")
SPECIAL = b'"#\\\x7f' + bytes(range(0x21))
PLAIN_LINE = re.compile(r"[\t!$-[\]-~]*").fullmatch  # nothing needs an escape, and nothing is escaped
# Kernels may not report a switch or the end of a request (docs/traces/sched_switch.md); those of the guests report all.
MAY_MISS = () if os.environ.get("VM") else ("sched_switch",)
MAY_NOT_END = not os.environ.get("VM")  # the end of a request: it then has no row, or one without an end
MAY_BE_UNKNOWN = {"RET", "RETURNED", "STATUS", "VFS_LAT_NS", "DISK_BYTES", "OFFSET", "FID", "FILE", "PAGES",
                  "REALPATH", "BY", "BYTES", "AGAIN", "FAILED"}
gc.disable()  # a trace is hundreds of thousands of objects without circles


def escape(raw):
    """Returns the only form in which these bytes may be written."""
    if raw in (b"-", b"?"):
        return "\\%03o" % raw[0]
    out = []
    for char in raw.decode(errors="surrogateescape"):
        byte = char.encode(errors="surrogateescape")
        bad = "\udc80" <= char <= "\udcff" or (len(byte) == 1 and byte in SPECIAL)
        out.append("\\%03o" % byte[0] if bad else char)
    return "".join(out)


def unescape(text):
    return re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), text.encode())


@functools.lru_cache
def _second(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%S"))


def ns_of(utc):
    """Returns 2026-11-21T01:02:03.123456789Z as nanoseconds since the epoch."""
    return _second(utc[:19]) * 10**9 + int(re.fullmatch(r"\.(\d{9})Z", utc[19:])[1])


class Row(dict):
    """A row of text; row.n("LAT_NS") is a number, row.b("PATH") bytes."""

    def n(self, column):
        return int(self[column], 0)

    def b(self, column):
        return unescape(self[column])

    @property
    def ret(self):
        """Returns the result of the call, whatever its column is called; None where there is none."""
        text = self["RETURNED"] if "RETURNED" in self else self["RET"]
        return None if text in "-?" else int(text, 0)


def call_of(row):
    """Returns what all rows of one call share: None for rows of no call."""
    if row["FUNC"] in ("create", "snapshot"):
        return None
    if row["FUNC"].startswith("io_submit:"):
        return row["TID"], row.n("TIMESTAMP") - row.n("LAT_NS")
    return row["TID"], row.n("TIMESTAMP"), row["LAT_NS"]  # calls in flight at the end share one TIMESTAMP


class Trace:
    def __init__(self, folder, may_lose=()):
        """MAY_LOSE: the probes that may lose rows, if the losses are counted."""
        self.folder = folder
        self.may_lose = may_lose
        self.broken = []
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as f:
            self.manifest = json.load(f)
        self.counters = {p["name"]: p for p in self.manifest["probes"]}
        self.files = {name: self._read(name) for name in probes.COLUMNS if name not in ("rollup", "workload")
                      and os.path.exists(os.path.join(folder, name + ".out"))}
        self._check_times()
        self._check_bio()
        self._check_fids()
        self._check_manifest()

    def __getitem__(self, name):
        return self.files[name]

    def unseen(self):
        """Returns the number of context switches that the kernel did not report (docs/traces/sched_switch.md)."""
        return self.counters.get("sched", {}).get("unseen", 0)

    def calls(self):
        """Yields every row of every call, from all files but meta, with the file's name as PROBE. meta has by default only
        those that took long."""
        for name in sorted(probes.EACH_CALL):
            for row in self.files.get(name, ()):
                yield name, row

    def paths(self, fid):
        """Returns every path that the file had."""
        return self._paths[fid]

    def file(self, fid):
        """Returns the file's first row in files.out."""
        return self._file[fid]

    def require(self, ok, message):
        if not ok:
            self.broken.append(message)
        return ok

    def finish(self):
        """Ends the test; it fails if something was broken."""
        for line in self.broken[:20]:
            print("  " + line)
        if len(self.broken) > 20:
            print(f"  ... and {len(self.broken) - 20} more")
        sys.exit(bool(self.broken))

    def _read(self, name):
        with open(os.path.join(self.folder, name + ".out"), "rb") as f:
            lines = f.read().decode().split("\n")
        self.require(lines.pop() == "", f"{name}: the last row is not whole")
        self.require(lines[0].split(" ")[:3] == ["#", "dltraced", name], f"{name}: {lines[0]}")
        columns = lines[1].split("\t")
        rows, last = [], 0
        for nr, line in enumerate(lines[2:], 3):
            fields = line.split("\t")
            problem = self._problem(columns, fields, PLAIN_LINE(line))
            if problem:
                self.broken.append(f"{name}.out:{nr}: {problem}")
                continue
            row = Row(zip(columns, fields))
            now = row.n("TIMESTAMP")
            self.require(now >= last, f"{name}.out:{nr}: comes after {last}")
            lat = row.get("LAT_NS", "-")
            self.require(lat == "-" or int(lat) <= now, f"{name}.out:{nr}: began before time did")
            last = now
            rows.append(row)
        return rows

    def _problem(self, columns, fields, plain):
        """Returns what is wrong with a line, or None."""
        if len(fields) != len(columns):
            return f"{len(fields)} fields"
        if "" in fields:
            return "an empty field"
        if not plain:
            for text in fields:
                if not PLAIN_LINE(text) and text != escape(unescape(text)):
                    return f"not as it is to be escaped: {text!r}"
        if "?" in fields:
            unknown = {c for c, text in zip(columns, fields) if text == "?"}
            if (MAY_NOT_END or "bio" in self.may_lose) and {"DONEPID", "STATUS"} <= unknown:  # see _check_bio()
                unknown.remove("DONEPID")
            unknown -= MAY_BE_UNKNOWN
            return f"not known: {unknown}" if unknown else None
        return None

    def _check_times(self):
        """TIME corresponds to TIMESTAMP by one of the measurements in time_align.out."""
        offsets = {row.n("REALTIME_NS") - row.n("TIMESTAMP") for row in self["time_align"]}
        for name, rows in self.files.items():
            off = [row for row in rows if ns_of(row["TIME"]) - row.n("TIMESTAMP") not in offsets]
            self.require(not off, f"{name}: {len(off)} times of no clock, first: {off[:1]}")

    @staticmethod
    def may_not_end(rows):
        """Returns how many of ROWS requests may be without an end: several of a burst end while one process has the CPU. Seen on
        a busy virtual machine: 30 of 511.
        """
        return 4 + rows // 10 if MAY_NOT_END else 0

    def unended(self, counter):
        """Returns the number of requests that are lost because the kernel did not report their end; None: others are lost,
        too.
        """
        lost = counter.get("lost", 0)
        few = lost <= self.may_not_end(counter.get("rows", 0))
        return lost if few and counter.get("lost_by", {}).get("unseen", 0) == lost else None

    def skipped(self, name):
        """Returns how many rows of NAME may be missing: a kernel that preempts programs skips runs of the programs of fentry,
        and counts them (docs/traces.md). No others are lost.
        """
        counter = self.counters[name]
        self.require(counter["lost"] == counter.get("lost_by", {}).get("skipped", 0), f"{name} has lost others: {counter}")
        return counter["lost"]

    @staticmethod
    def preempted(counter):
        """Whether all losses are runs that the kernel skipped, and few: while a program of a hook is preempted, the kernel
        skips the runs of this program on that CPU, which happens on machines and guests with more to do than CPUs.
        """
        lost = counter.get("lost", 0)
        return lost <= 1 + counter.get("rows", 0) // 100 and counter.get("lost_by", {}).get("skipped", 0) == lost

    def _check_bio(self):
        """Nearly all requests have an end, and a process that ran at that time."""
        rows = self.files.get("bio", ())
        unended = [row for row in rows if row["STATUS"] == "?"]
        self.require(len(unended) <= self.may_not_end(len(rows)),
                     f"bio: {len(unended)} of {len(rows)} have not ended, first: {unended[:1]}")

    def _check_fids(self):
        self._paths = collections.defaultdict(set)
        self._file = {}
        for row in self["files"]:
            self._paths[row["FID"]].add(row.b("REALPATH"))
            self._file.setdefault(row["FID"], row)
        names = {fid: {path.rsplit(b"/", 1)[-1] or path for path in paths} for fid, paths in self._paths.items()}
        uses = {(name, row["FID"], row.get("FILE")) for name, rows in self.files.items()
                for row in rows if row.get("FID", "-") not in "-?"}
        for name, fid, file in uses:
            self.require(fid in names, f"{name}: FID {fid} is not in files.out")
            nameless = name in ("bio", "bio_map") and file == "?" and self._file[fid]["REALPATH"] == "-"  # a file only in memory
            self.require(file is None or nameless or unescape(file) in names.get(fid, ()),
                         f"{name}: FILE {file} of FID {fid}: {names.get(fid)}")

    def _check_manifest(self):
        m = self.manifest
        self.require(m["complete"] is True, "manifest: not complete")
        for name, rows in self.files.items():
            c = self.counters.get(name, {})
            size = os.path.getsize(os.path.join(self.folder, name + ".out"))
            self.require(c.get("rows") == len(rows), f"manifest: {name} {c}: {len(rows)} rows")
            self.require(c.get("bytes") == size, f"manifest: {name} {c}: {size} bytes")
            self.require(c.get("lost") == sum(c.get("lost_by", {}).values()), f"manifest: {name} {c}: not a reason for each that is lost")
            # sums, and page faults, lack no row for such an event
            unseen = c.get("unseen", 0) if name in ("sched", "fault", "waits") else c.get("lost_by", {}).get("unseen", 0)
            self.require(unseen == c.get("unseen", 0), f"manifest: {name} {c}: what the kernel did not report has another reason")
            skips = name in ("pids", "syscalls") or "this kernel preempts its programs" in c.get("why", "")
            for what in ("lost", "late"):
                may = what == "lost" and (name in (*self.may_lose, *MAY_MISS) or name == "bio" and self.unended(c) is not None
                                         or skips and self.preempted(c))
                self.require(c.get(what) == 0 or may, f"manifest: {name} {what} {c}")
            self.require(name not in ("sched", "waits") or not c.get("unseen") or not os.environ.get("VM"), f"manifest: {name} {c}: unseen in a guest")
            if name in ("sched", "sched_switch"):
                self.require(c.get("calls") == len(rows) + c.get("lost"), f"manifest: {name} {c}: {len(rows)} calls")
            if name in probes.OF_CALLS:
                calls = len({call_of(row) for row in rows} - {None})
                calls += sum(row["FUNC"] == "snapshot" for row in rows)
                # each iocb counts, although all of one call share its start
                iocbs = [row for row in rows if row["FUNC"].startswith("io_submit:")]
                calls += len(iocbs) - len({call_of(row) for row in iocbs})
                lost = c.get("lost") if name in self.may_lose or skips else 0
                self.require(calls <= c.get("calls") <= calls + lost, f"manifest: {name} {c}: {calls} calls")
