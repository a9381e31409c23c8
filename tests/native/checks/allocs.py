# SPDX-License-Identifier: BSD-2-Clause
"""allocs FOLDER REPORT TALLY [exact] NAME: the report on alloc.out compared with a replay of its rows, which keeps each block
by its address, and with the count of tests/workloads/alloc.c; EXACT: its peak, too. NAME: of
the function that allocated what was never freed, or of the program.
"""
import collections
import json
import sys

import tracefolder

SHORT_NS = 10_000_000
ORDERS = {
    "allocs_by_peak": "at_peak_bytes",
    "allocs_by_bytes": "bytes",
    "allocs_by_short": "short_bytes",
    "allocs_by_never_freed": "never_freed_bytes",
}


class Sums:
    """What the report has of a stack, a process, or all."""

    def __init__(self):
        self.n = collections.Counter()
        self.now = self.peak = self.at_peak = 0

    def change(self, size):
        self.now += size
        self.peak = max(self.peak, self.now)


class Replay:
    def __init__(self, rows):
        self.all, self.sites, self.processes = Sums(), collections.defaultdict(Sums), collections.defaultdict(Sums)
        self.blocks = {}
        self.peak_blocks = self.peak_ns = 0
        self.levels = []  # (ns, bytes)
        for row in rows:
            peak = self.all.peak
            self.take(row)
            self.levels.append((row.n("TIMESTAMP"), self.all.now))
            if self.all.peak > peak:
                self.peak_blocks, self.peak_ns = len(self.blocks), row.n("TIMESTAMP")
                for sums in (*self.sites.values(), *self.processes.values()):
                    sums.at_peak = sums.now

    def each(self, pid, site):
        return self.all, self.sites[site], self.processes[pid]

    def gone(self, row, addr):
        block = self.blocks.pop((row["PID"], addr))
        life, left = row.n("TIMESTAMP") - block["ns"], row["FUNC"] == "end"
        for sums in self.each(row["PID"], block["site"]):
            sums.change(-block["size"])
            sums.n["frees"] += not left
            sums.n["cross_thread_frees"] += not left and block["tid"] != row["TID"]
            if left:
                sums.n["never_freed_blocks"] += 1
                sums.n["never_freed_bytes"] += block["size"]
            elif life < SHORT_NS:
                sums.n["short_blocks"] += 1
                sums.n["short_bytes"] += block["size"]

    def take(self, row):
        if row["FUNC"] in ("free", "end"):
            self.gone(row, row["ADDR"])
            return
        if row["OLD_ADDR"] != "-":
            self.gone(row, row["OLD_ADDR"])
        size = row.n("SIZE")
        self.blocks[row["PID"], row["ADDR"]] = {"size": size, "ns": row.n("TIMESTAMP"), "tid": row["TID"], "site": row["SITE"]}
        for sums in self.each(row["PID"], row["SITE"]):
            sums.change(size)
            sums.n["blocks"] += 1
            sums.n["bytes"] += size


def check_row(trace, what, row, sums):
    keys = ("blocks", "bytes", "short_blocks", "short_bytes", "never_freed_blocks", "never_freed_bytes", "frees", "cross_thread_frees")
    for key in keys:
        trace.require(row[key] == sums.n[key], f"{what}: {key} {row[key]}, not {sums.n[key]}")
    trace.require(row["peak_bytes"] == sums.peak, f"{what}: peak {row['peak_bytes']}, not {sums.peak}")
    if "at_peak_bytes" in row:
        trace.require(row["at_peak_bytes"] == sums.at_peak, f"{what}: at the peak {row['at_peak_bytes']}, not {sums.at_peak}")


def check_table(trace, name, rows, all_sums, order, id_of):
    """The rows with the most come first, and with the others they are all."""
    value = {i: {**sums.n, "at_peak_bytes": sums.at_peak, "peak_bytes": sums.peak}[order] if order in ("at_peak_bytes", "peak_bytes")
             else sums.n[order] for i, sums in all_sums.items()}
    own = [row for row in rows if not row["others"]]
    for row in own:
        check_row(trace, f"{name} {row[id_of]}", row, all_sums[str(row[id_of])])
    want = sorted((v for v in value.values() if v), reverse=True)[:20]
    trace.require([value[str(row[id_of])] for row in own] == want, f"{name}: not those with the most: {value}")
    if order == "bytes":
        trace.require(sum(row["bytes"] for row in rows) == sum(value.values()), f"{name}: the others are not the rest")


def check_series(trace, report, replay):
    timeline = report["timeline"]
    values = next(s["values"] for s in timeline["series"] if s["panel"] == "alloc")
    levels = collections.deque(replay.levels)
    now, begun = 0, False
    for i, value in enumerate(values):
        most, end_ns = now, timeline["begin_ns"] + (i + 1) * timeline["bin_ns"]
        while levels and (levels[0][0] < end_ns or i == len(values) - 1):
            now = levels.popleft()[1]
            most, begun = max(most, now), True
        trace.require(value == (most if begun else None), f"series: bin {i} has {value}, not {most}")
    trace.require(max(v or 0 for v in values) == replay.all.peak, "series: its most is not the peak")


def main():
    trace = tracefolder.Trace(sys.argv[1])
    exact, name_left = "exact" in sys.argv, sys.argv[-1]
    with open(sys.argv[2], encoding="utf-8") as f:
        report = json.load(f)
    made = {}
    with open(sys.argv[3], encoding="utf-8") as f:
        for line in f:
            func, *numbers = line.split()
            made[func] = tuple(map(int, numbers))
    replay, (total,) = Replay(trace["alloc"]), report["alloc"]
    got = [v for func, v in made.items() if func not in ("free", "end", "peak")]
    trace.require((total["blocks"], total["bytes"]) == (sum(n for n, _ in got), sum(b for _, b in got)), f"allocated: {total}, {made}")
    trace.require((total["never_freed_blocks"], total["never_freed_bytes"]) == made["end"], f"never freed: {total}, {made}")
    trace.require(not exact or (total["peak_blocks"], total["peak_bytes"]) == made["peak"], f"peak: {total}, {made}")
    check_row(trace, "all", total, replay.all)
    trace.require((total["peak_blocks"], total["peak_ns"]) == (replay.peak_blocks, replay.peak_ns), f"peak: {total}")
    trace.require(total["unknown_frees"] == total["failed"] == 0, f"unknown or failed: {total}")
    trace.require(total["small_calls"] == trace.manifest["alloc"]["small_calls"], f"small: {total}")
    for name, order in ORDERS.items():
        check_table(trace, name, report[name], replay.sites, order, "site")
    check_table(trace, "alloc_processes", report["alloc_processes"], replay.processes, "peak_bytes", "pid")
    check_series(trace, report, replay)
    texts = {row["site"]: row["stack"] for name in ORDERS for row in report[name] if row["stack"]}
    trace.require(len(set(texts.values())) == len(texts) > 3, f"stacks that look alike: {sorted(texts.values())}")
    left = [[frame.split("+")[0] for frame in row["stack"].split(" < ")[:2]] for row in report["allocs_by_never_freed"]]
    trace.require(left and all(name_left in stack for stack in left), f"not by {name_left}: {left}")
    trace.finish()


main()
