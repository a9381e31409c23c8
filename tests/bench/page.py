# SPDX-License-Identifier: BSD-2-Clause
"""The tables that a bench prints, and those of docs/performance.md, where these are fewer."""
import argparse
import re
from statistics import median

import goals
import machine
import tracers
import workloads

BEGIN, END = "<!-- make bench -->", "<!-- end -->"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def number(n, unit=""):
    if n is None:
        return "-"
    if abs(n) < 0.0005 or abs(n) >= 100:
        text = f"{n:.0f}"
    elif abs(n) >= 10:
        text = f"{n:.1f}"
    else:
        text = f"{n:.3g}" if abs(n) >= 0.1 else f"{n:.3f}"
    return text + ((unit if unit == "x" else " " + unit) if unit else "")


def mid(values):
    return median(values) if values else None


def spread(values):
    return f"{number(median(values))} ({number(min(values))} to {number(max(values))})" if values else "-"


def header(results):
    m = results["machine"]
    loads = [r["load"] for r in results["runs"] if "load" in r]
    lines = [f"{results['when']}: {machine.line(m)}. {results['rounds']} rounds, {results['minutes']:.0f} minutes. Load before:"
             f" {results['load_before'][0]:.1f}; meanwhile (with the bench itself) {mid(loads):.1f},"
             f" at most {max(loads):.1f}.", ""]
    if results["others"]:
        lines[-1:] = [f"Another tracer was running: {results['others']} BPF programs were attached before.", ""]
    lines += ["; ".join(f"{name} {version}" for name, version in sorted(m["versions"].items())), ""]
    lines += [f"- absent: {name} ({why})" for name, why in results["absent"].items()]
    return lines + [""]


def goal_rows(f):
    for g in goals.GOALS:
        value, limits, verdict = g.judge(f)
        between = f" ({number(limits[0])} to {number(limits[1])})" if limits else ""
        yield [g.nr, g.text, (">= " if g.at_least else "<= ") + number(g.target, g.unit),
               number(value, g.unit) + between, verdict]


def accounts(f, w, t):
    """Returns, as text, whether the losses that the tracer reports are the missing rows."""
    missing = f.unaccounted(w.name, t.name)
    if missing == 0 or (t.per_call > 1 and missing < 0):
        return "yes" if missing == 0 else "yes, in events"
    return f"no, {missing} untold" if missing > 0 else f"no, {-missing} too many"


FLOORS = {
    "two empty hooks, no rows": "empty hooks",
    "the smallest row: numbers in a ring without a reader": "least row",
}


def floor_rows(f):
    """Returns lines with the cost of hooks.bpf.c for a read, at begin and end of every call: no tracer with these hooks
    costs less, even without rows.
    """
    none, ours = f.bystander_ns("reads", "none"), mid(f.added("reads", "dltraced", "cpu_ns"))
    for what, attached in FLOORS.items():
        ns = f.bystander_ns("reads", attached)
        if none and ns:
            yield [what, number(ns - none), "", "", "", number((ns - none) / ours if ours else None, "x"),
                   "", "", "", ""]


def workload_rows(f, w):
    if w.name == "reads":
        yield from floor_rows(f)
    for t in tracers.TRACERS:
        if not f.of(w.name, t.name):
            continue
        none = t.name == "none"
        cpu, wall = (f.added(w.name, t.name, key) for key in ("cpu_ns", "wall_ns"))
        if none:
            yield [t.name, number(f.median(w.name, t.name, "cpu_ns")), number(f.median(w.name, t.name, "wall_ns")),
                   "1", rate(f, w, t), "", "", "", "", ""]
            continue
        yield [t.name, spread(cpu), number(mid(wall)), number(mid(f.slowdown(w.name, t.name)), "x"),
               rate(f, w, t), number(f.ratio(w.name, t.name, "cpu_ns"), "x"),
               number(f.lost(w.name, t.name), "%"), accounts(f, w, t),
               number(mid(f.cpu_per_million(w.name, t.name))), number(f.bytes_per_row(w.name, t.name))]


def rate(f, w, t):
    """Returns thousands of calls a second, over all threads."""
    wall_ns = f.median(w.name, t.name, "wall_ns")
    return number(w.threads * 1e6 / wall_ns) if wall_ns else "-"


def bystander_rows(f):
    for pattern, what in (("others", "getppid (no probe traces it)"), ("bytes", "pread64 of a byte (traced in other processes)")):
        none, empty, ours = (f.bystander_ns(pattern, k) for k in ("none", "empty hooks", "dltraced"))
        yield [what, number(none), number(empty - none), number(ours - none)]


def start_rows(f):
    for t in tracers.TRACERS:
        ns = f.values("start", t.name, "start_ns")
        rest = [r["memory"]["rest"] / 1e6 for r in f.of("reads", t.name) if "memory" in r]
        if ns or rest:
            yield [t.name, spread([n / 1e9 for n in ns]), spread(rest)]


def size_rows(results):
    for s in results.get("sizes", []):
        yield [s["workload"], *(number(s[k]) for k in ("text", "comm_file", "gzip", "zstd -3", "zstd -19"))]


def page(f):
    results = f.results
    lines = header(results)
    lines += ["### Goals", ""]
    lines += table(["", "goal", "target", "measured, median (least to most of a round)", "verdict"], goal_rows(f))
    for w in workloads.WORKLOADS:
        rows = list(workload_rows(f, w)) if w.calls else []
        if len(rows) > 1:
            lines += [f"### {w.name}: {w.help}", ""]
            lines += table(["tracer", "added CPU, ns per call", "added wall", "slowdown", "k calls/s",
                            "CPU, dltraced = 1",
                            "calls without a row", "all accounted for", "own CPU, s per M rows",
                            "bytes per row"], rows)
    lines += ["### From start to main(), and memory", ""]
    lines += table(["tracer", "start, s", "resident beside BPF rings, MB, after the reads"], start_rows(f))
    if results["bystanders"]:
        lines += ["### Bystanders: a call of a process that is not traced, CPU ns, the lowest of all rounds", ""]
        lines += table(["call", "no program attached", "added by two empty hooks", "added by dltraced"],
                       bystander_rows(f))
    lines += ["### Bytes per row of vfs_rw.out", ""]
    lines += table(["workload", "text", "COMM and FILE among them", "gzip -6", "zstd -3", "zstd -19"],
                   size_rows(results))
    lines += ["### Settings", ""]
    lines += [f"- {t.name}: {t.settings}" for t in tracers.TRACERS if t.settings]
    return "\n".join(lines) + "\n"


# --- for docs/performance.md: one table a question; page() has the rest ------------------------------------

CALLS = ("reads", "small files")
STALLS = ("stall, 600 k/s", "stall, full speed")
NOT_IN_DOCS = ("bpftrace +name", "bpftrace, big buffers")  # page() has them


def few(rows, places):
    """Returns the columns PLACES of ROWS."""
    return [[row[i] for i in places] for row in rows]


def with_verdict(figure, verdict):
    """Returns FIGURE, with the verdict on it where that is worth a word."""
    return figure + (f", {verdict}" if verdict not in ("", "met") else "")


def call_cell(f, workload, t):
    """Returns the added CPU time, the slowdown, and the calls without a row."""
    if not f.of(workload, t.name):
        return ""
    if t.name == "none":
        return number(f.median(workload, t.name, "cpu_ns"))
    lost = f.lost(workload, t.name)
    return (f"{number(mid(f.added(workload, t.name, 'cpu_ns')))} ({number(mid(f.slowdown(workload, t.name)), 'x')})" +
            (f", {number(lost, '%')} lost" if lost and lost >= 0.05 else ""))


def stall_cell(f, workload, t):
    if t.name == "none" or not f.of(workload, t.name):
        return ""
    missing = accounts(f, workloads.workload(workload), t)
    return number(f.lost(workload, t.name), "%") + ("" if missing.startswith("yes") else ", not all counted")


def by_tracer(f, names, cell):
    for t in tracers.TRACERS:
        row = [cell(f, name, t) for name in names]
        if any(row) and t.name not in NOT_IN_DOCS:
            yield [t.name, *row]


def between(values):
    """Returns the least and the most of VALUES, some of which may be None."""
    few = sorted({number(v) for v in values if v is not None}, key=float)
    return "..".join(few[:1] + few[1:][-1:])


def output_rows(f):
    names = [w.name for w in workloads.WORKLOADS if w.calls]
    for t in tracers.TRACERS:
        row = [*(stall_cell(f, name, t) for name in STALLS),
               between([mid(f.cpu_per_million(name, t.name)) for name in names]),
               between([f.bytes_per_row(name, t.name) for name in names])]
        if any(row[:2]) and t.name not in NOT_IN_DOCS:
            yield [t.name, *row]


def summary(f):
    results = f.results
    lines = header(results)
    lines += ["Added CPU time of a call, ns (how many times as long the loop takes), calls without a row:", ""]
    floors = [[row[0], row[1], *[""] * (len(CALLS) - 1)] for row in floor_rows(f)]
    lines += table(["tracer", *CALLS], [*floors, *by_tracer(f, CALLS, call_cell)])
    lines += ["Calls without a row, while the tracer is stopped for 1 s; what it takes itself, over all workloads:", ""]
    lines += table(["tracer", *STALLS, "own CPU, s per M rows", "bytes per row"], output_rows(f))
    if results["bystanders"]:
        lines += table(["a call of a process that is not traced, CPU ns", "no program attached", "added by two empty hooks",
                        "added by dltraced"], bystander_rows(f))
    reached = [row[1:] for row in goal_rows(f)]
    others = [row for row in reached if row[-1] != "met"]
    ours = [f"- {goal} {target}: {with_verdict(value.split(' (')[0], verdict.replace('NOT MET', ''))}"
            for goal, target, value, verdict in others if not target.startswith(">=")]
    lines += [f"{len(reached) - len(others)} of {len(reached)} goals are met. {len(others) - len(ours)} others, not listed, are"
              " about what peers cost. The rest, not met or undecided as rounds differ:", "", *ours, ""]
    return "\n".join(lines)


def options(short, name, of_round):
    """Reads the options of a bench for one part of the page: rounds, how many of NAME (SHORT) in each, and the page."""
    p = argparse.ArgumentParser()
    p.add_argument("-r", "--rounds", type=int, default=5)
    p.add_argument(short, name, type=int, default=of_round)
    p.add_argument("-p", "--page")
    return p.parse_args()


def show(args, text, begin, end, summary=None):
    """Prints the part, and writes it, or the SUMMARY of it, into the page."""
    print(text)
    if args.page:
        replace(args.page, summary or text, begin, end)


def replace(path, text, begin=BEGIN, end=END):
    """Replaces the part of the page between its two marks. A figure that all rounds have has no range there."""
    text = re.sub(r"(?<=[ |])(\S+) \(\1 to \1\)", r"\1", text)
    text = re.sub(r"\((\S+) to (\S+)\)", r"(\1..\2)", text)
    with open(path) as f:
        old = f.read()
    before, rest = old.split(begin + "\n", 1)
    after = rest.split(end, 1)[1]
    with open(path, "w") as f:
        f.write(before + begin + "\n\n" + text + "\n" + end + after)
