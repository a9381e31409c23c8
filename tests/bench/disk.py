# SPDX-License-Identifier: BSD-2-Clause
"""disk: what a disk request, a page fault and a page of a file cost, in interleaved rounds, as a part of docs/performance.md.

disk [-r ROUNDS] [-n TIMES] [-p PAGE]

The figures are the run time of dltraced's BPF programs, as the kernel counts it, while disk_load.py does one thing TIMES
times on a loop device with ext4. Prints two tables, and writes them into PAGE between their marks. The status is 1 where a
round was not measured. Where no such disk can be made, or nothing counted, it says so, and the status is 0.
"""
import os
import random
import subprocess
import sys
from statistics import median

import bench
import bpfstats
import extras
import goals
import machine
import measure
import page
import tracers

BEGIN, END = "<!-- BENCH=disk tests/bench/run -->", "<!-- end of disk -->"
LOAD = os.path.join(tracers.HERE, "disk_load.py")
REFUSE = os.path.realpath(os.path.join(tracers.BUILD, "workloads/refuse_bpf"))
IMAGE_MIB = 256
WITH, WITHOUT = "with the file", "without"
# WITHOUT: the kernel refuses the programs that look for a request's file, so that those without it run.
WAYS = {WITH: [], WITHOUT: [REFUSE, "bio_issue"]}

REQUEST = ("bio_issue", "bio_queue", "bio_issue_plain", "bio_queue_plain")
DIRTIED = ("bio_dirty_folio", "bio_dirty_page")
FAULT = ("fault_file", "fault_file_kprobe", "fault_file_tp", "fault_swap", "fault_swap_kprobe", "fault_end", "fault_end_vma")
INSERTED = ("cache_add",)
PROGRAMS = {"direct": REQUEST, "synced": REQUEST, "flushed": REQUEST, "dirty": DIRTIED, "overwrite": DIRTIED,
            "inserted": INSERTED, "ahead": INSERTED, "major": FAULT, "minor": FAULT, "mapped": FAULT, "stored": FAULT}
# Maps that keep whose requests, page faults and cached pages are: their names begin like this.
MAPS = ("bio_", "fault_", "dlt_cache_")
# Runs of these programs count what disk_load.py cannot count: requests, and folios put into the page cache.
COUNTERS = {REQUEST: ("bio_issue", "bio_issue_plain"), INSERTED: INSERTED}


def output(argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


class Disk:
    """A file system on its own loop device, in the bench's folder."""

    def __init__(self, folder):
        self.image, self.path, self.loop = os.path.join(folder, "image"), os.path.join(folder, "disk"), None
        os.mkdir(self.path)
        with open(self.image, "wb") as f:
            f.truncate(IMAGE_MIB << 20)

    def up(self):
        """Returns why it is not possible here, or None."""
        try:
            self.loop = output(["losetup", "-f", "--show", self.image])
            output(["mkfs.ext4", "-q", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.loop])
            output(["mount", self.loop, self.path])
        except OSError as e:
            return str(e)
        except subprocess.CalledProcessError as e:
            return f"{e.cmd[0]}: {e.stderr.strip()}"
        return None

    def down(self):
        if os.path.ismount(self.path):
            subprocess.run(["umount", "--lazy", self.path], check=True)  # the load of a failed run may not have ended yet
        if self.loop:
            subprocess.run(["losetup", "-d", self.loop], check=True)


class DiskRun(measure.Place):
    """A trace of all patterns in turn."""

    def __init__(self, b, disk, patterns, times):
        super().__init__(b, os.path.basename(disk.loop))
        self.job = [sys.executable, "-B", LOAD, self.path("gate"), disk.path, str(times), *patterns]


def child_of(pid):
    """Returns its only child."""
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return int(f.read().split()[0])


def one(b, disk, way, patterns, times):
    """Returns {pattern: (number of times, {program: (ns, runs)}), "maps": bytes}."""
    run = DiskRun(b, disk, patterns, times)
    got, known = {}, None
    with measure.gated(run) as (gate, log):
        process = measure.spawn([*WAYS[way], *tracers.dltraced(run, run.job, "-P", "+cache")], run, stdout=log, stderr=log)
        for name in patterns:
            gate.wait("ready", process)
            pid = child_of(process.pid) if WAYS[way] else process.pid
            if not known:
                known, got["maps"] = bpfstats.runs(pid), bpfstats.map_bytes(pid, *MAPS)
            before = bpfstats.again(pid, known)
            gate.go()
            n = gate.wait("done", process)
            got[name] = n, bpfstats.between(before, bpfstats.again(pid, known))
            gate.go()
        status = process.wait(measure.LIMIT_S)
    measure.require_ok(run, status)
    return got


def floor_ns(b, times):
    """Returns the time that the kernel counts for a run of a program that does nothing."""
    with subprocess.Popen([extras.HOOKS, "empty"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        if p.stdout.readline() != "ready\n":
            raise measure.Failed("the empty hooks cannot be attached")
        before = bpfstats.runs(p.pid)
        subprocess.run([measure.LOAD, "-n", str(times), "-o", "/dev/null", "-d", b.folder, "others"], check=True)
        ran = bpfstats.between(before, bpfstats.runs(p.pid)).values()
        p.stdin.close()
    return sum(ns for ns, _ in ran) / sum(runs for _, runs in ran)


def run_rounds(args, b, disk):
    rounds, loads = [], []
    for nr in range(1, args.rounds + 1):
        this = {"floor": floor_ns(b, args.times)}
        for way in random.sample(list(WAYS), len(WAYS)):
            loads.append(os.getloadavg()[0])
            try:
                this[way] = one(b, disk, way, random.sample(list(PROGRAMS), len(PROGRAMS)), args.times)
            except measure.Failed as e:
                bench.say(f"{nr} {way}: {e}")
        if all(way in this for way in WAYS):
            rounds.append(this)
            bench.say(f"{nr} " + ", ".join(f"{p} {cost(this, WITH, p):.0f} ns" for p in PROGRAMS))
    return rounds, loads


# --- figures --------------------------------------------------------------------------------------

def cost(this, way, pattern):
    """Returns the ns of the pattern's programs each time, without the time counted for as many empty ones."""
    times, ran = this[way][pattern]
    names = PROGRAMS[pattern]
    if names in COUNTERS:
        times = sum(ran[name][1] for name in COUNTERS[names] if name in ran)
    return sum(ns - this["floor"] * runs for ns, runs in (ran.get(name, (0, 0)) for name in names)) / max(times, 1)


class Figures:
    """The figures; each is a value per round."""

    def __init__(self, rounds):
        self.rounds = rounds

    def each(self, pattern):
        return [cost(r, WITH, pattern) for r in self.rounds]

    def memory(self):
        return [r[WITH]["maps"] / 2**20 for r in self.rounds]

    def more(self, pattern):
        """Returns the cost of the look for a request's file."""
        return [cost(r, WITH, pattern) - cost(r, WITHOUT, pattern) for r in self.rounds]


def program_table(rounds):
    for pattern, names in PROGRAMS.items():
        for way in WAYS if names == REQUEST else (WITH,):
            for name in names:
                ran = [(*r[way][pattern][1][name], r[way][pattern][0], r["floor"])
                       for r in rounds if name in r[way][pattern][1]]
                if ran:
                    yield [pattern, page.number(median(times for _, _, times, _ in ran)), name,
                           page.number(median(runs for _, runs, _, _ in ran)),
                           page.spread([ns / runs - floor for ns, runs, _, floor in ran])]


def goal_rows(f):
    for g in goals.DISK_GOALS:
        value, limits, verdict = g.judge(f)
        between = f" ({page.number(limits[0])} to {page.number(limits[1])})" if limits else ""
        yield [g.text, page.number(g.target), page.with_verdict(page.number(value) + between, verdict)]


def text_of(args, rounds, loads, before):
    """Returns what the docs have of it."""
    return "\n".join([
        machine.heading(f"{len(rounds)} rounds of {args.times} times each", before, loads) +
        f" An empty program counts {page.spread([r['floor'] for r in rounds])} ns a run, which is taken off.", "",
        *page.table(["ns of what is done", "goal: at most", "measured"], goal_rows(Figures(rounds)))])


def programs_of(rounds):
    return "\n" + "\n".join(page.table(["what is done", "times", "BPF program", "its runs, on the whole machine", "ns a run"],
                                       program_table(rounds)))


def main():
    args = page.options("-n", "--times", 4000)
    before = os.getloadavg()[0]
    b = bench.Bench(1000)  # the few files belong to other workloads
    disk = Disk(b.folder)
    try:
        why = bpfstats.missing() or disk.up()
        if why:
            bench.say(f"disk: skipped: {why}")
            return
        with bench.in_front(figures=args.times >= 1000), bpfstats.counted():
            rounds, loads = run_rounds(args, b, disk)
    finally:
        try:
            disk.down()
        finally:
            b.close()
    if rounds:
        text = text_of(args, rounds, loads, before)
        page.show(args, text + programs_of(rounds), BEGIN, END, text)
    sys.exit(len(rounds) != args.rounds)


if __name__ == "__main__":
    main()
