# SPDX-License-Identifier: BSD-2-Clause
"""sched_lives TRACE CSV TALLY BEFORE AFTER: lives under one PID are kept apart, and each is whole.

TALLY is by the workload "lives" (see its head), CSV the folder of `report --cpu --csv', BEFORE and AFTER are /proc/stat
around the trace. CPU time is that of schedstat and of wait4(), except for a tick, 1 %, and what interrupts and the
hypervisor took.
"""
import collections
import csv
import os
import sys

import tracefolder

US = 1000 * (30 if os.environ.get("VM") else 1)  # the time of the hooks, as guests are emulated
TICK_NS = 10_000_000
LAST_NAMES = {"plain": "lives", "renamed": "renamed", "execs": "exe"}


def read_tally(path):
    """Returns the lives in their order, and the numbers that each printed itself."""
    lives, own = [], {}
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            d = {k: int(v) if v.isdigit() else v for k, v in zip(words[::2], words[1::2])}
            if d["role"] == "life":
                lives.append(d)
            else:
                own[d["nr"]] = d
    return [{**own[life["nr"]], **life} for life in lives]


def taken_ns(before, after):
    def of(path):
        with open(path, encoding="ascii") as f:
            n = [int(word) for word in f.readline().split()[1:]]
        return sum(n[5:8])  # irq, softirq, steal
    return (of(after) - of(before) + 3) * 10**9 // os.sysconf("SC_CLK_TCK")


def ns(seconds):
    whole, _, part = seconds.partition(".")
    return int(whole) * 10**9 + int(part.ljust(9, "0")) if seconds else None


def table(folder, name):
    with open(f"{folder}/{name}.csv", newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f, strict=True))


def check_tables(trace, tables):
    for name in ("tasks", "processes", "threads", "cpus", "task_by_cpu", "process_by_cpu", "waits"):
        for row in table(tables, name):
            trace.require(not [c for c, v in row.items() if c.endswith("_s") and v.startswith("-")], f"negative: {row}")


def check_cpu_time(trace, life, ran, what, slack):
    wanted = (life["run"], life["rusage"])
    trace.require(all(abs(ran - w) <= slack + w // 100 for w in wanted), f"{what}: {ran} ns, not {wanted}: {life}")


def main():
    folder, tables, tally, before, after = sys.argv[1:]
    trace = tracefolder.Trace(folder)
    lives, taken = read_tally(tally), taken_ns(before, after)
    lost = trace.unseen()  # switches that the kernel did not report
    # a tick, and the time until a reaped thread is off its CPU
    slack = TICK_NS + taken + 100 * TICK_NS * bool(lost)
    times = collections.Counter(life["pid"] for life in lives)
    trace.require(max(times.values()) > 1, f"no number was used twice: {times}")

    check_tables(trace, tables)
    threads = [r for r in table(tables, "threads") if r["kind"] == "target"]
    by_tid = collections.defaultdict(list)
    for row in trace["sched"]:
        if row["KIND"] == "target" and row["CALL"] == "-":
            by_tid[int(row["TID"])].append(row)
    for life in lives:
        found = [r for r in threads if int(r["tid"]) == life["pid"] and life["before"] <= ns(r["start_s"]) <= life["begin"]]
        if not trace.require(len(found) == 1, f"lives that began so: {found}: {life}"):
            continue
        one = found[0]
        end, off = ns(one["end_s"]), ns(one["runq_s"]) + 1000 * US
        trace.require(life["end"] <= end <= life["after"] + off, f"ends at {end}: {life}")
        trace.require(one["born"] == one["ended"] == "1", f"born and ended: {one}")
        trace.require(ns(one["life_s"]) + slack * bool(lost) >= ns(one["cpu_s"]), f"ran for longer than it lived: {one}")
        trace.require((one["first_comm"], one["comm"]) == ("lives", LAST_NAMES[life["what"]]), f"names: {one}: {life}")
        check_cpu_time(trace, life, ns(one["cpu_s"]), "threads.csv", slack)
        # the rows of this life: those that begin within it
        rows = [r for r in by_tid[life["pid"]] if life["before"] <= r.n("TIMESTAMP") - r.n("SPAN_NS") <= life["after"]]
        check_cpu_time(trace, life, sum(r.n("RUN_NS") for r in rows), "sched.out", slack)
        trace.require({int(r["CPU"]) for r in rows} == {life["cpu"]}, f"CPUs: {rows}: {life}")
        trace.require({"lives", LAST_NAMES[life["what"]]} == {r["COMM"] for r in rows} or lost, f"names: {rows}: {life}")
    ran, wanted = sum(ns(r["cpu_s"]) for r in threads if int(r["tid"]) in times), sum(life["run"] for life in lives)
    trace.require(abs(ran - wanted) <= wanted // 100 + slack, f"together: {ran}, not {wanted}")
    trace.finish()


main()
