# SPDX-License-Identifier: BSD-2-Clause
"""names TRACE EXPECTED: are the rows what the workload "names" has done?

EXPECTED is its output (see tests/workloads/names.c).
"""
import collections
import csv
import errno
import sys

import tracefolder

# The calls for each kind of deed in the first column
NAMED = {
    "mkdir": ("mkdir", "mkdirat"),
    "mknod": ("mknod", "mknodat"),
    "rename": ("rename", "renameat", "renameat2"),
    "rmdir": ("rmdir",),
    "symlink": ("symlink", "symlinkat"),
    "unlink": ("unlink", "unlinkat"),
}
FAILING = ("ENAMETOOLONG", "ENOENT", "ENOTDIR")
WITHOUT_OPEN = ("eventfd", "memfd", "pipe", "socket")
CREATED = ("beyond", "deep", "deleted", "follow", "reg", "shm")
TYPES = {"chr": "chr", "eventfd": "anon", "fifo": "fifo", "memfd": "memfd", "pipe": "fifo", "shm": "shm",
         "socket": "sock"}  # all others: reg
PATH_BYTES = 4095  # longer paths are cut off


def path(field):
    return b"" if field == "-" else bytes.fromhex(field)


def one(trace, rows, what):
    rows = list(rows)
    trace.require(len(rows) == 1, f"{len(rows)} rows of {what}")
    return rows[0] if rows else None


class Expected:
    def __init__(self, line):
        self.kind = line["KIND"]
        self.path, self.path2 = path(line["PATH"]), path(line["PATH2"])
        self.bytes = {"R": int(line["READ"]), "W": int(line["WRITTEN"])}

    def __str__(self):
        return f"{self.kind} {self.path[-64:]} {self.path2[-64:]}"

    @property
    def passed(self):
        """Returns the path passed to open."""
        return self.path2 if self.kind in ("beyond", "deep") and self.path2 else self.path

    def is_opened_by(self, row):
        """Whether ROW is the open of this file: an open with an equal name may be of a folder, or of the target of a link.
        """
        real = self.path2 if self.kind == "follow" else self.path
        if self.kind == "proc":  # /proc/self is a link
            real = real.replace(b"self", row["PID"].encode())
        if row.ret < 0 or row.b("PATH") != self.passed or "DIRECTORY" in row["FLAGS"]:
            return False
        if len(real) > PATH_BYTES:
            return real.endswith(row.b("REALPATH"))
        return real == row.b("REALPATH")


def deed(row):
    """Returns the call: rmdir for unlinkat of a folder (AT_REMOVEDIR), the only way where there is no rmdir, as on arm64."""
    return "rmdir" if row["FUNC"] == "unlinkat" and row["FLAGS"] == "0x200" else row["FUNC"]


def check_moved(trace, expected):
    """Calls that only change names have as many rows as there were calls; the workload makes a few more."""
    done = collections.Counter((deed(row), row.b("PATH"), row.b("PATH2"), row.ret) for row in trace["create_del"])
    for e in expected:
        if e.kind in NAMED:
            keys = [(func, e.path, e.path2 or b"-", 0) for func in NAMED[e.kind]]
            trace.require(sum(done[key] for key in keys) == 1, f"rows of {e}")


def check_failed(trace, expected):
    for e in expected:
        if e.kind in FAILING:
            passed = e.path[:PATH_BYTES] or b"-"
            row = one(trace, (r for r in trace["open"] if r.b("PATH") == passed), e)
            trace.require(row and row.ret == -getattr(errno, e.kind) and row["FID"] == row["REALPATH"] == "-",
                          f"{e}: {row}")


def fid_of(trace, e):
    """Returns the FID of the file: by the open of its path, or by the name that the kernel gave it."""
    if e.kind in WITHOUT_OPEN:
        name = e.path.removesuffix(b" (deleted)")
        row = one(trace, (r for r in trace["files"] if r.b("REALPATH") == name), e)
        return row and row["FID"]
    row = one(trace, filter(e.is_opened_by, trace["open"]), e)
    if not row:
        return None
    state, length = trace.file(row["FID"])["STATE"], len(row["REALPATH"])
    trace.require(state == "truncated" and length > PATH_BYTES - 256 if e.kind == "beyond" else state == "ok",
                  f"{e}: {state}, {length} bytes")
    created = sum(r["FUNC"] == "create" and r["FID"] == row["FID"] for r in trace["create_del"])
    trace.require(created == (e.kind in CREATED), f"{e}: created {created} times")
    trace.require(sum(r["FID"] == row["FID"] for r in trace["close"]) > 0, f"{e}: not closed")
    return row["FID"]


def check_used(trace, expected):
    want, kinds = collections.defaultdict(collections.Counter), {}
    for e in expected:
        if e.kind in NAMED or e.kind in FAILING:
            continue
        fid = fid_of(trace, e)
        want[fid].update(e.bytes)
        kinds.setdefault(fid, e)
        trace.require(str(kinds[fid].path) == str(e.path), f"{e} has the FID of {kinds[fid]}")
    got = collections.defaultdict(collections.Counter)
    for row in trace["vfs_rw"]:
        got[row["FID"]][row["RW"]] += row.ret
    for fid, e in kinds.items():
        trace.require(want[fid]["R"] == got[fid]["R"] and want[fid]["W"] == got[fid]["W"],
                      f"{e}: {dict(got[fid])}, not {dict(want[fid])}")
        kind = trace.file(fid)["TYPE"] if fid else None
        trace.require(kind == TYPES.get(e.kind, "reg"), f"{e}: TYPE {kind}")
    for e in expected:
        if e.kind == "rename":
            fids = [row["FID"] for row in trace["create_del"] if row.b("PATH2") == e.path2]
            trace.require(fids and {e.path, e.path2} <= trace.paths(fids[0]), f"{e}: {fids} keeps its name")


def main():
    folder, expected = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    with open(expected, encoding="ascii") as f:
        expected = [Expected(line) for line in csv.DictReader(f, delimiter="\t")]
    trace.require(len(expected) > 200, f"{len(expected)} lines of {sys.argv[2]}")
    check_moved(trace, expected)
    check_failed(trace, expected)
    check_used(trace, expected)
    trace.finish()


main()
