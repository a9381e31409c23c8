# SPDX-License-Identifier: BSD-2-Clause
"""waits TRACE PROTOCOL [--epoll-peer maybe]: does waits.out name what ended each wait, and does sched.out agree?

PROTOCOL is by the workload "wakes" (see its head). Only the order of events is compared, which holds however slow the machine
is: the thread leaves its CPU between BEGIN and ASLEEP, is woken between WAKE and END, and is back before END. --epoll-peer
maybe: the kernel does not show the socket for which a thread waited in epoll, poll or select (before Linux 6.3).
"""
import collections
import os
import re
import sys

import tracefolder

LEAST_NS = 1_000_000  # of a row
SURE_NS = 1_300_000  # of a wait that must have one
CLOCK_NS = 1000  # the clock's readings in the kernel and by the workload may differ by that much
PART = 2 if os.environ.get("VM") else 50  # part of the kernel's account of a queue that may be missing: see sched.py
# One of so many packets of the loopback device may have been delivered by ksoftirqd, which an emulated CPU runs more often.
ELSEWHERE = 2 if os.environ.get("VM") else 4
# One kernel runs no programs while process 1 has the CPU (docs/traces/sched_switch.md): a wake-up in so many, at most.
UNSEEN = 0 if os.environ.get("VM") else 10
QUEUED = ("runq", "throttled")
WAITING = {"disk": "DISK_NS", "blocked": "BLOCKED_NS", "sleep": "SLEEP_NS"}
NAMED = ("thread", "exit", "kernel")  # BY_* is there
MAY_BE_NAMED = ("signal", "disk")
ENDERS = (*NAMED, *MAY_BE_NAMED, "timer", "net", "interrupt", "end", "?")
MULTIPLEXED = ("epoll_wait", "epoll_pwait", "epoll_pwait2", "poll", "ppoll", "select", "pselect6")
PEER = re.compile(r"(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\]):\d+").fullmatch
COLUMNS = {
    "wait": "KIND PID TID CALL STATE BY BY_PID BY_TID BEGIN ASLEEP WAKE END PEER",
    "spin": "KIND PID TID BEGIN END RUNQ_NS SWITCHES",
    "kind": "KIND",
    "skip": "KIND REASON",
}


class Protocol:
    def __init__(self, path):
        self.lines = collections.defaultdict(list)
        with open(path, encoding="ascii") as f:
            for line in f:
                what, *fields = line.rstrip("\n").split("\t")
                columns = COLUMNS[what].split()
                if len(fields) != len(columns):
                    sys.exit(f"not a line of the protocol: {line}")
                self.lines[what].append(tracefolder.Row(zip(columns, fields)))

    def __getitem__(self, what):
        return self.lines[what]


def left(row):
    return row.n("TIMESTAMP") - row.n("LAT_NS")


def woken(row):
    return row.n("TIMESTAMP") - row.n("RUNQ_NS")


def waited(row):
    return row.n("LAT_NS") - row.n("RUNQ_NS")


# --- rows by themselves ---------------------------------------------------------------------------

def check_row(trace, row):
    queued, by, waker = row["STATE"] in QUEUED, row["BY"], (row["BY_PID"], row["BY_TID"], row["BY_COMM"])
    trace.require(queued or row["STATE"] in WAITING, f"STATE: {row}")
    trace.require(LEAST_NS <= row.n("LAT_NS") and 0 <= row.n("RUNQ_NS") <= row.n("LAT_NS"), f"LAT_NS, RUNQ_NS: {row}")
    trace.require(not queued or row["LAT_NS"] == row["RUNQ_NS"], f"RUNQ_NS of a thread that could run: {row}")
    trace.require((row["CALL"] == "-") == queued and (by == "-") == queued, f"CALL and BY of this STATE: {row}")
    trace.require(queued or by in ENDERS, f"BY: {row}")
    trace.require(waker == ("-",) * 3 if by not in (*NAMED, *MAY_BE_NAMED) else "-" not in waker or
                  by in MAY_BE_NAMED and waker == ("-",) * 3, f"BY_PID, BY_TID, BY_COMM: {row}")
    trace.require(row["BY_TID"] != row["TID"], f"woken by itself: {row}")
    trace.require(row["PEER"] == "-" or PEER(row["PEER"]), f"PEER: {row}")


def check_rows(trace, threads):
    for rows in threads.values():
        for row in rows:
            check_row(trace, row)
        for before, row in zip(rows, rows[1:]):
            trace.require(before.n("TIMESTAMP") <= left(row), f"off its CPU twice at one time: {before} {row}")


# --- the workload's waits -------------------------------------------------------------------------

def sure(wait):
    # io_uring may sleep several times for one request
    return not wait["KIND"].startswith("uring-") and wait["ASLEEP"] != "-" and wait["WAKE"] != "-" and wait.n("WAKE") - wait.n("ASLEEP") >= SURE_NS


def rows_of(wait, rows):
    """Returns the row of a wait that must have one; of others, the rows of the same time and call that there are."""
    if sure(wait):
        return [r for r in rows if left(r) <= wait.n("ASLEEP") + CLOCK_NS and woken(r) >= wait.n("WAKE") - CLOCK_NS]
    return [r for r in rows if r["STATE"] in WAITING and r["CALL"] in wait["CALL"].split("|") and
            wait.n("BEGIN") <= left(r) and r.n("TIMESTAMP") <= wait.n("END")]


def unseen(row):
    return UNSEEN and row["BY"] == "?" and (row["BY_PID"], row["BY_TID"], row["RUNQ_NS"]) == ("-", "-", "0")


def by_peer(wait, row):
    """Whether the wait for a packet from another network namespace was ended inside the peer's call, and by whom is said."""
    return wait["KIND"].startswith("net-") and row["BY"] == "thread" and row["BY_PID"] not in ("-", wait["PID"])


def elsewhere(wait, row):
    """Whether a packet on the loopback device was delivered by another thread than its sender."""
    return wait["KIND"].startswith(("tcp-", "udp-")) and row["BY"] in ("net", "interrupt")


def wrong(wait, row, epoll_peer):
    """Yields the names of the columns that are not as the workload knows."""
    if not wait.n("BEGIN") - CLOCK_NS <= left(row):
        yield "it left before BEGIN"
    if not woken(row) <= row.n("TIMESTAMP") <= wait.n("END") + CLOCK_NS:
        yield "it was back after END"
    for column in ("PID", "CALL", "STATE"):
        if row[column] not in wait[column].split("|"):
            yield column
    if row["COMM"] != "waiter":
        yield "COMM"
    hidden = epoll_peer == "maybe" and row["CALL"] in MULTIPLEXED and wait["BY"] == "net" and row["BY"] == "interrupt"
    if not (elsewhere(wait, row) or by_peer(wait, row) or unseen(row) or hidden):
        yield from wrong_by(wait, row)
    peers = {wait["PEER"]} | ({"-"} if epoll_peer == "maybe" and row["CALL"] in MULTIPLEXED else set())
    if row["PEER"] not in peers:
        yield "PEER"


def wrong_by(wait, row):
    if row["BY"] not in wait["BY"].split("|"):
        yield "BY"
    for column in ("BY_PID", "BY_TID"):
        if wait[column] not in ("*", row[column]):
            yield column
    # a process that executes a program is on the way to another name
    if wait["BY_TID"] not in "-*" and row["BY_COMM"] != "waker" and wait["KIND"] != "vfork-exec":
        yield "BY_COMM"


def require_rows(trace, without):
    """WITHOUT: waits that should have a row each. Those that the kernel did not report may have none."""
    trace.require(len(without) <= trace.counters["waits"].get("unseen", 0), "\n  ".join(without))


def check_waits(trace, waits, threads, epoll_peer):
    """Returns the number of waits of each kind that have a row."""
    found, others, without = collections.Counter(), collections.Counter(), []
    for wait in waits:
        near = threads[wait["TID"]]
        rows = rows_of(wait, near)
        if sure(wait) and len(rows) != 1:
            near = [r for r in near if r.n("TIMESTAMP") >= wait.n("BEGIN") and left(r) <= wait.n("END")]
            without.append(f"{len(rows)} rows: {wait}\n    at that time: {near}")
        for row in rows:
            bad = [*wrong(wait, row, epoll_peer)]
            trace.require(not bad, f"{', '.join(bad)}: {wait}\n    the row: {row}")
            found[wait["KIND"]] += 1
            others[wait["KIND"]] += elsewhere(wait, row)
    require_rows(trace, without)
    for kind, n in others.items():
        trace.require(n <= found[kind] // ELSEWHERE, f"{kind}: {n} of {found[kind]} are not by the sender")
    return found


def check_spins(trace, spins, threads):
    """Two threads share a CPU: rows lack only the times below 1 ms. Returns how many threads had to have rows."""
    n = 0
    for spin in spins:
        rows = [r for r in threads[spin["TID"]] if r["STATE"] == "runq" and r.n("TIMESTAMP") >= spin.n("BEGIN") and
                left(r) <= spin.n("END")]
        total, account = sum(r.n("LAT_NS") for r in rows), spin.n("RUNQ_NS")
        least = account - spin.n("SWITCHES") * LEAST_NS - account // PART
        trace.require(least <= total <= spin.n("END") - spin.n("BEGIN"), f"{len(rows)} rows, {total} ns: {spin}")
        n += least > 0
    return {"runq": n} if n else {}


def check_kinds(trace, protocol, found):
    skipped = {line["KIND"]: line["REASON"] for line in protocol["skip"]}
    disk = {wait["KIND"] for wait in protocol["wait"] if wait["WAKE"] == "-"}
    for kind in (line["KIND"] for line in protocol["kind"]):
        if kind in skipped:
            print(f"note: no {kind}: needs {skipped[kind]}")
        elif kind in disk and not found[kind]:
            print(f"note: no {kind}: the disk is too fast")
        elif kind == "runq" and not found[kind]:
            print("note: no runq: all times without a CPU were short")
        else:
            trace.require(found[kind] > 0, f"kind {kind}: no waits")


# --- sched.out ------------------------------------------------------------------------------------

def check_sums(trace, threads):
    """sched.out has each wait in the sums of its call and of what ended it."""
    sums, most = collections.Counter(), collections.defaultdict(list)
    for row in trace["sched"]:
        if row["CALL"] == "-":
            trace.require((row["BY"], row["BY_PID"], row["BY_TID"]) == ("-",) * 3, f"BY of a CPU: {row}")
            continue
        trace.require(row["BY"] in ENDERS, f"BY: {row}")
        trace.require(row["BY_TID"] == "-" or row["BY"] in ("thread", "exit"), f"BY_TID: {row}")
        trace.require((row["BY_PID"] == "-") == (row["BY_TID"] == "-"), f"BY_PID, BY_TID: {row}")
        ns, thread = sum(row.n(c) for c in WAITING.values()), (row["TID"], row["CALL"])
        for key in (thread, (*thread, row["BY"]), (*thread, row["BY"], row["BY_TID"])):
            sums[key] += ns
        if row.n("MAX_NS") >= LEAST_NS + CLOCK_NS:
            most[thread].append(row)
    rows = collections.defaultdict(list)
    for row in (row for of in threads.values() for row in of):
        if row["STATE"] in WAITING and row["BY"] != "end":
            keys = [(row["TID"], row["CALL"]), (row["TID"], row["CALL"], row["BY"])]
            if row["BY"] in ("thread", "exit"):
                keys.append((*keys[1], row["BY_TID"]))
            for key in keys:
                rows[key].append(row)
    for key, of in rows.items():
        total = sum(waited(row) for row in of)
        several = sums[(*key[:3], "-")] if len(key) == 4 else 0
        trace.require(sums[key] + several >= total - CLOCK_NS * len(of),
                      f"sched.out has {sums[key] + several} ns of {key}, {len(of)} rows have {total}: {of[0]}")
    without = []
    for thread, of in most.items():
        for row in of:
            key = (*thread, row["BY"], *([row["BY_TID"]] if row["BY_TID"] != "-" else []))
            if not any(abs(waited(r) - row.n("MAX_NS")) <= CLOCK_NS for r in rows[key]):
                without.append(f"no row for the longest wait of sched.out: {row}\n    rows: {rows[thread][:3]}")
    require_rows(trace, without)


# --------------------------------------------------------------------------------------------------

def main():
    folder, path, *options = sys.argv[1:]
    if options not in ([], ["--epoll-peer", "maybe"]):
        sys.exit(__doc__)
    trace, protocol = tracefolder.Trace(folder), Protocol(path)
    threads = collections.defaultdict(list)
    for row in trace["waits"]:
        threads[row["TID"]].append(row)
    trace.require(not trace.counters["waits"].get("unread"), f"rows were left out: {trace.counters['waits']}")
    check_rows(trace, threads)
    n = sum(row["BY"] == "?" for rows in threads.values() for row in rows)
    trace.require(n * UNSEEN <= len(trace["waits"]) if UNSEEN else not n, f"{n} wake-ups were not seen")
    found = check_waits(trace, protocol["wait"], threads, *options[1:] or [None])
    found.update(check_spins(trace, protocol["spin"], threads))
    check_kinds(trace, protocol, found)
    check_sums(trace, threads)
    print("waits with a row: " + ", ".join(f"{kind} {n}" for kind, n in found.items()))
    trace.finish()


main()
