# SPDX-License-Identifier: BSD-2-Clause
"""strace TRACE OUTPUT: does strace's output of an identical run list the same calls?

Everything is compared that depends neither on addresses in memory nor on which thread gets which descriptor.
"""
import collections
import errno
import re
import sys

import tracefolder

# Columns, and the number of the argument for each
ARGS = {
    "close_range": {"FD": 0, "LAST": 1},
    "creat": {"PATH": 0},
    "fallocate": {"OFFSET": 2, "LEN": 3},
    "ftruncate": {"LEN": 1},
    "madvise": {"LEN": 1},
    "mmap": {"LEN": 1, "OFFSET": 5},
    "mremap": {"OLD_LEN": 1, "LEN": 2},
    "msync": {"LEN": 1},
    "munmap": {"LEN": 1},
    "open": {"PATH": 0},
    "openat": {"PATH": 1},
    "openat2": {"PATH": 1},
    "pread64": {"REQUESTED": 2, "OFFSET": 3},
    "pwrite64": {"REQUESTED": 2},  # with O_APPEND the OFFSET is not the argument
    "read": {"REQUESTED": 2},
    "sendfile": {"REQUESTED": 3},
    "sync_file_range": {"OFFSET": 1, "LEN": 2},
    "write": {"REQUESTED": 2},
}
STDOUT = "0x1"  # the program prints pids there, whose lengths may differ
LINE = re.compile(r"(\w+)\((.*)\) += (-?\w+)(?: (E\w+) .*)?")


def whole_lines(path):
    """Yields each call in one line; strace splits a call that another thread's interrupts."""
    begun = {}
    with open(path, encoding="ascii") as f:
        for line in f:
            tid, text = line.rstrip("\n").split(maxsplit=1)
            if text.endswith("<unfinished ...>"):
                begun[tid] = text.removesuffix("<unfinished ...>")
            elif text.startswith("<... "):
                yield begun.pop(tid) + text.split(" resumed>", 1)[1]
            else:
                yield text


def argument(column, text):
    if column != "PATH":
        return int(text, 0) % 2**32 if column in ("FD", "LAST") else int(text, 0) % 2**64
    return bytes.fromhex(text[1:-1].replace("\\x", "")) or None if text[0] == '"' else None  # strace could not read it


def strace_calls(path):
    for line in whole_lines(path):
        func, args, ret, error = LINE.fullmatch(line).groups()
        args = args.split(", ")
        if func == "write" and args[0] == STDOUT:
            continue
        result = -getattr(errno, error) if error else int(ret, 0)
        values = {c: argument(c, args[i]) for c, i in ARGS.get(func, {}).items()}
        if result == -errno.ESPIPE and func == "pread64":
            values["OFFSET"] = None  # such a file has no offset
        yield func, result, values


def column(row, name):
    if row[name] == "-":
        return None
    if name == "PATH":
        return row.b(name)
    return row.n(name) % 2**32 if name in ("FD", "LAST") else row.n(name) % 2**64


def traced_calls(trace):
    """A call that took iocbs has a row for each of them, and none of its own; this puts it together again."""
    submitted = collections.Counter()
    for _, row in trace.calls():
        func = row["FUNC"]
        if func.startswith("io_submit:"):
            submitted[tracefolder.call_of(row)] += 1
        elif func != "create" and not (func in tracefolder.BETWEEN_TWO and row["RW"] == "W") and \
                not (func == "write" and row.n("FD") == int(STDOUT, 0)):
            yield func, row.ret, {c: column(row, c) for c in ARGS.get(func, {})}
    for taken in submitted.values():
        yield "io_submit", taken, {}


def counted(calls):
    count = collections.Counter()
    for func, result, args in calls:
        if func in ("brk", "creat", "mmap", "mremap", "open", "openat", "openat2") and result >= 0:
            result = "ok"
        count[func, result, *args.items()] += 1
    return count


def main():
    folder, output = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    want, got = counted(strace_calls(output)), counted(traced_calls(trace))
    for call in sorted({*want, *got}, key=str):
        trace.require(got[call] == want[call], f"{call}: strace {want[call]}, rows {got[call]}")
    trace.require(sum(want.values()) > 500, "strace saw next to nothing")
    trace.finish()


main()
