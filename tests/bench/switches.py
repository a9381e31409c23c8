# SPDX-License-Identifier: BSD-2-Clause
"""switches: what tracing context switches costs, in interleaved rounds, as a part of docs/performance.md.

switches [-r ROUNDS] [-n TIMES] [-p PAGE]

Two processes on one CPU pass a byte to and fro (load.c). Prints a table, and writes it into PAGE between
its marks. The status is 1 where dltraced lost a switch that the kernel told of.
"""
import json
import os
import random
import sys
from statistics import median

import bench
import machine
import measure
import page
import tracers
import workloads

BEGIN, END = "<!-- BENCH=switches tests/bench/run -->", "<!-- end of switches -->"
SCRIPT = 'tracepoint:sched:sched_switch /comm == "load"/ { printf("%s %d %d %llu\\n", comm, pid, cpu, nsecs); }'


def dltraced(*options):
    return lambda run, load: [tracers.DLTRACED, "start", "-q", "--collectors", "none", "--min-free", "0", *options,
                              "-o", run.path("trace"), "--", *load]


def whole(without=()):
    """All probes except those of disks, which record the whole machine's."""
    return lambda run, load: tracers.dltraced(run, load, without=without)


def rows_of(run, name, *columns):
    """Yields these columns of each row of a file; the header has their positions."""
    with open(run.path("trace/" + name), encoding="utf-8") as f:
        f.readline()
        head = f.readline().rstrip("\n").split("\t")
        places = [head.index(c) for c in columns]
        for line in f:
            fields = line.rstrip("\n").split("\t")
            yield [fields[p] for p in places]


def sums(run):
    return sum(int(n) for comm, call, n in rows_of(run, "sched.out", "COMM", "CALL", "COUNT")
               if comm == "load" and call == "-")


def timeline(run):
    return sum(1 for (comm,) in rows_of(run, "sched_switch.out", "PREV_COMM") if comm == "load")


def lines(run):
    with open(run.path("out"), errors="replace") as f:
        return sum(line.startswith("load ") for line in f)


def lost(run):
    try:
        with open(run.path("trace/manifest.json"), encoding="utf-8") as f:
            return sum(p["lost"] for p in json.load(f)["probes"])
    except FileNotFoundError:
        with open(run.path("log"), errors="replace") as f:
            return sum(int(line.split()[1]) for line in f if line.startswith("Lost "))


def bpftrace(run, load):
    return ["bpftrace", "-c", " ".join(load), "-o", run.path("out"), "-e", SCRIPT]


def tracer(name, argv, settings, **more):
    return tracers.Tracer(name, argv, "none", settings, **more)


# tracer, and what counts its switches
TRACERS = [
    (tracer("none", lambda run, load: load, "", needs="/bin/sh"), None),
    (tracer("dltraced -P sched", dltraced("-P", "sched"), "sums each second", needs=tracers.DLTRACED,
            files=("trace/sched.out",)), sums),
    (tracer("dltraced -P sched_switch", dltraced("-P", "sched_switch"), "a row for each", needs=tracers.DLTRACED,
            files=("trace/sched_switch.out",)), timeline),
    (tracer("dltraced", whole(), "all probes, with sums", needs=tracers.DLTRACED, files=("trace/sched.out",)), sums),
    (tracer("dltraced -P -sched", whole(["sched"]), "all other probes", needs=tracers.DLTRACED,
            files=("trace/vfs_rw.out",)), None),
    (tracer("bpftrace", bpftrace, "a line for each"), lines),
    (tracer("bpftrace newest", lambda run, load: [*tracers.newest(), *bpftrace(run, load)[1:]],
            "a line for each", needs=tracers.NEWEST or "/the newest bpftrace"), lines),
    (tracer("perf sched record", lambda run, load: ["perf", "sched", "record", "-o", run.path("out"), *load],
            "of the whole machine", needs="perf"), None),
]


def run_rounds(args):
    work = workloads.Workload("switches", "switches", ("switch",), args.times, split=False)
    got = {}
    with bench.of_few_files() as b:
        for nr in range(1, args.rounds + 1):
            chosen = [t for t in TRACERS if not t[0].missing()] + [TRACERS[0]] * 2
            random.shuffle(chosen)
            for t, counts in chosen:
                load = os.getloadavg()[0]
                try:
                    m = measure.measure(b, t, work, keep=True)
                except measure.Failed as e:
                    bench.say(f"{nr} {t.name}: {e}")
                    continue
                run = measure.Run.__new__(measure.Run)
                run.folder = os.path.join(b.folder, "run")
                m.update(round=nr, load=load, switches=counts(run) if counts else None, lost=lost(run))
                bench.say(f"{nr} {t.name:26} cpu {m['cpu_ns']:8.1f} wall {m['wall_ns']:8.1f} ns, "
                          f"{m['switches']} of {m['calls']} switches, lost {m['lost']}")
                got.setdefault(t.name, []).append(m)
    return got


def added(got, name, key="cpu_ns"):
    return [m[key] - median(n[key] for n in got["none"] if n["round"] == m["round"]) for m in got.get(name, [])]


def in_all(got, name):
    """Returns the added time, with the tracer's own."""
    return [ns + m["tracer_cpu_ns"] / m["calls"] for ns, m in zip(added(got, name), got.get(name, []))]


def table(got):
    peer, peer_all = added(got, "bpftrace"), in_all(got, "bpftrace")
    for t, _ in TRACERS:
        runs = got.get(t.name)
        if not runs:
            continue
        if t.name == "none":
            yield [t.name, page.number(median(m["cpu_ns"] for m in runs)), page.number(median(m["wall_ns"] for m in runs)),
                   "", "", "", "", "", ""]
            continue
        cpu = added(got, t.name)
        own = [100 * m["tracer_cpu_ns"] / (m["cpu_ns"] * m["calls"]) for m in runs]
        traced = sum(m["switches"] for m in runs) / sum(m["calls"] for m in runs) * 100 if runs[0]["switches"] is not None else None
        yield [f"{t.name} ({t.settings})", page.spread(cpu), page.number(median(added(got, t.name, "wall_ns"))),
               page.number(median(cpu) / median(peer) if peer else None, "x"), page.number(median(in_all(got, t.name))),
               page.number(median(in_all(got, t.name)) / median(peer_all) if peer else None, "x"), page.number(traced, "%"),
               str(sum(m["lost"] for m in runs)), page.number(median(own), "%")]


IN_DOCS = 0, 1, 7, 8  # the columns of the table that docs/performance.md has


def main():
    args = page.options("-n", "--times", 100000)
    before = os.getloadavg()[0]
    with bench.in_front():
        got = run_rounds(args)
    loads = [m["load"] for runs in got.values() for m in runs]
    rows = [["tracer", "added CPU, ns per switch", "added wall", "CPU, bpftrace = 1", "with its own CPU, ns", "bpftrace = 1",
             "switches traced", "lost", "own CPU, % of the job's"], *table(got)]
    heading = machine.heading(f"{args.rounds} rounds of {2 * args.times} switches", before, loads)
    few = page.few(rows, IN_DOCS)
    page.show(args, "\n".join([heading, "", *page.table(rows[0], rows[1:])]), BEGIN, END,
              "\n".join([heading, "", *page.table(few[0], few[1:])]))
    sys.exit(any(m["lost"] for name, runs in got.items() if name.startswith("dltraced") for m in runs))


if __name__ == "__main__":
    main()
