# SPDX-License-Identifier: BSD-2-Clause
"""tree TRACE COUNTS: is every process and thread of the workload "forks" in the trace, and no other?

COUNTS is its output (see tests/workloads/forks.c).
"""
import collections
import os
import re
import sys

import tracefolder

LEAF = re.compile(rb"leaf\.(\d+)\.(\d+)").fullmatch
# Shapes in which the root is the parent; in others this depends on which process comes first
PARENT_IS_ROOT = ("exec", "fork", "many", "sibling", "threadexec", "threadexit", "vfork")


def check_leaves(trace, leaves):
    """The process in whose name a file was made has opened, created, closed and removed it."""
    made = collections.defaultdict(collections.Counter)
    for _, row in trace.calls():
        name = row.b("FILE" if "FILE" in row else "PATH").rsplit(b"/", 1)[-1]
        leaf = LEAF(name)
        if leaf:
            pid, tid = leaf[1].decode(), leaf[2].decode()
            trace.require((row["PID"], row["TID"]) == (pid, tid) and row.ret >= 0, f"{name}: {row}")
            func = {"openat": "open", "unlinkat": "unlink"}.get(row["FUNC"], row["FUNC"])
            made[func][pid, tid] += 1
    trace.require(set(made) == {"open", "create", "close", "unlink"}, f"calls on leaves: {set(made)}")
    for func, whose in made.items():
        trace.require(whose == made["open"], f"not all leaves have the same calls: {func}")
        trace.require(sum(whose.values()) == leaves, f"{func}: {sum(whose.values())} leaves, not {leaves}")


def check_processes(trace, counts):
    """Every process begins below a live one, ends once and without a signal, and has one parent."""
    root = str(trace.manifest["workload"]["pid"])
    alive, ended, threads = {root}, set(), set()
    events = collections.Counter(row["EVENT"] for row in trace["pids"])
    previous = root
    for row in trace["pids"]:
        pid, event = row["PID"], row["EVENT"]
        if event == "fork":
            trace.require(pid not in alive and row["PPID"] in alive, f"parent: {row}")
            wanted = {"nest": previous}.get(counts["shape"], root)
            if counts["shape"] == "nest" or counts["shape"] in PARENT_IS_ROOT:
                trace.require(row["PPID"] == wanted, f"parent is not {wanted}: {row}")
            previous = pid
            alive.add(pid)
        elif event == "thread":
            threads.add((pid, row["TID"]))
        elif event == "exit" and row["STATUS"] != "-":
            trace.require(pid in alive and row["STATUS"] == "0", f"end: {row}")
            alive.discard(pid)
            ended.add(pid)
        trace.require(pid in alive | ended, f"from nowhere: {row}")
    trace.require(not alive, f"without an end: {alive}")
    with open(os.environ["DLT"], "rb") as f:
        if b"__tsan_init" in f.read():  # ThreadSanitizer has a thread of its own, which ends at the workload's exec
            events["exit"] -= sum(row["EVENT"] == "exit" and row["COMM"] == "dltraced" for row in trace["pids"])
    for event, count in (("fork", counts["processes"]), ("thread", counts["threads"]),
                         ("exec", counts["execs"] + 1), ("exit", counts["processes"] + counts["threads"] + 1)):
        trace.require(events[event] == count, f"{events[event]} {event} rows, not {count}")
    for name, row in trace.calls():
        trace.require(row["PID"] in ended and (row["TID"] == row["PID"] or (row["PID"], row["TID"]) in threads),
                      f"{name}: from nowhere: {row}")


def check_alone(trace):
    for row in trace["files"]:
        trace.require(b"/twin/" not in row.b("REALPATH"), f"of somebody else: {row}")


def main():
    folder, counts = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    with open(counts, encoding="ascii") as f:
        words = f.read().split()
    counts = {key: int(value) if value.isdigit() else value for key, value in zip(words[::2], words[1::2])}
    check_leaves(trace, counts["leaves"])
    check_processes(trace, counts)
    check_alone(trace)
    trace.finish()


main()
