# SPDX-License-Identifier: BSD-2-Clause
"""sched_report TRACE CSV TEXT FACTS: `report --cpu' agrees with the trace itself, and with what the workload knew.

The trace folder, the folder of CSV files, the report as text, and a JSON file of the job (see ../sched-report.sh). The
sums are made here again, from the rows alone.
"""
import collections
import csv
import json
import os
import re
import sys

trace, tables, text, facts = sys.argv[1:5]
wrong = []
US = 1000  # ns


def expect(what, ok, *values):
    if not ok:
        wrong.append(" ".join(str(v) for v in (what, *values)))


def unescape(field):
    """Returns a field as in a CSV file: control characters except TAB, LF and CR stay escaped as in the trace."""
    keep = [b"\\%03o" % c for c in (*range(9), 11, 12, *range(14, 32), 127)]
    return re.sub(rb"\\[0-7]{3}", lambda m: m[0] if m[0] in keep else bytes([int(m[0][1:], 8)]), field.encode()).decode()


def rows(name):
    with open(f"{trace}/{name}.out", newline="\n") as f:
        next(f)
        columns = next(f).rstrip("\n").split("\t")
        for line in f:
            yield dict(zip(columns, line.rstrip("\n").split("\t")))


def table(name):
    with open(f"{tables}/{name}.csv", newline="") as f:
        return list(csv.DictReader(f, strict=True))


def ns(seconds):
    whole, _, part = seconds.partition(".")
    return int(whole) * 10**9 + int(part.ljust(9, "0")) if seconds else None


def comm(field):
    return field[1:] if field.startswith("'") else field


def name_of(row):
    return "(others)" if row["KIND"] == "other" else unescape(row["COMM"])


def read_text():
    with open(text) as f:
        return f.read()


def of_text(label):
    return ns(re.search(rf"^{label} +([0-9.]+) s", read_text(), re.M)[1])


# Some kernels do not report every switch: these are counted as lost, and their time becomes another thread's.
lost, lost_ns = 0, 0
if os.path.exists(f"{trace}/manifest.json"):
    with open(f"{trace}/manifest.json") as f:
        lost = sum(p["lost"] + p.get("unseen", 0) for p in json.load(f)["probes"] if p["name"] in ("sched", "sched_switch"))
    lost_ns = 10**9 * bool(lost)

tasks, processes, threads, cpus = (table(n) for n in ("tasks", "processes", "threads", "cpus"))
sums = {n: sum(ns(r["cpu_s"]) for r in table(n)) for n in ("tasks", "processes", "threads", "task_by_cpu", "process_by_cpu")}
sums["cpus"] = sum(ns(r["busy_s"]) + ns(r["idle_s"]) for r in cpus)
sums["text, tasks"], sums["text, CPUs"] = of_text("sum over tasks"), of_text("sum over CPUs")
expect("sums differ:", len(set(sums.values())) == 1, sums)

# --- what holds of every report --------------------------------------------------------------------

walls = [ns(r["busy_s"]) + ns(r["idle_s"]) for r in cpus]
expect("the CPUs' times differ:", max(walls) - min(walls) <= US, walls)
expect("wall x CPUs:", abs(of_text("wall x CPUs") - sums["cpus"]) <= US * len(cpus), of_text("wall x CPUs"), sums["cpus"])
for name in ("tasks", "processes", "threads", "cpus", "task_by_cpu", "process_by_cpu", "phases", "waits", "folders"):
    for row in table(name):
        bad = [c for c, v in row.items() if v is None or (c.endswith("_s") and v.startswith("-"))]
        expect(f"{name}.csv:", not bad and None not in row, row)
        expect(f"{name}.csv: share:", 0 <= float(row.get("share", 0)) <= 1, row)
for row in threads:
    if row["start_s"]:
        life = ns(row["end_s"]) - ns(row["start_s"])
        expect("a thread ran for longer than it lived:", life + lost_ns >= ns(row["cpu_s"]), row)
expect("control characters in the text:", not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", read_text()))

# --- the rows themselves ---------------------------------------------------------------------------

if os.path.exists(f"{trace}/sched.out"):
    by_cpu, by_task, waits = collections.Counter(), collections.Counter(), collections.Counter()
    for row in rows("sched"):
        if row["CALL"] == "-":
            by_cpu[int(row["CPU"])] += int(row["RUN_NS"])
            by_task[name_of(row), row["KIND"]] += int(row["RUN_NS"])
        else:
            waits[name_of(row), row["CALL"]] += sum(int(row[c]) for c in ("DISK_NS", "BLOCKED_NS", "SLEEP_NS"))
    expect("CPUs:", dict(by_cpu) == {int(r["cpu"]): ns(r["busy_s"]) + ns(r["idle_s"]) for r in cpus}, by_cpu)
    reported = {(comm(r["comm"]), r["kind"]): ns(r["cpu_s"]) for r in tasks}
    for key, value in by_task.items():
        expect("task:", reported.get(key) == value, key, value, reported.get(key))
    sleeps = collections.Counter()
    for row in table("waits"):
        sleeps[comm(row["comm"]), row["call"]] += sum(ns(row[c]) for c in ("disk_wait_s", "blocked_s", "sleep_s"))
    expect("waits:", +sleeps == +waits, sleeps - waits, waits - sleeps)

# --- the job's own numbers -------------------------------------------------------------------------

with open(facts) as f:
    job = json.load(f)
for child in job["children"]:
    pid = str(child["pid"])
    ran = sum(ns(r["cpu_s"]) for r in processes if r["pid"] == pid and r["kind"] == "target")
    # getrusage() does not count the time that a hypervisor or interrupts took, where the kernel measures it
    slack = max(10**7, child["rusage_ns"] // 50) + job["stolen_ns"] + lost_ns
    expect("CPU time of", abs(ran - child["rusage_ns"]) <= slack, child["name"], ran, child["rusage_ns"], job["stolen_ns"])
    names = {comm(r["comm"]) for r in processes if r["pid"] == pid}
    expect("names of", set(child["names"]) <= names, child["names"], names)
    expect("names of", set(child["names"]) <= {comm(r["comm"]) for r in tasks}, child["names"])
    for thread in child["threads"]:
        found = [r for r in threads if r["tid"] == str(thread["tid"]) and r["pid"] == pid]
        expect("rows of a thread:", len(found) == 1, thread, found)
        if not found:
            continue
        start, end = ns(found[0]["start_s"]), ns(found[0]["end_s"])
        expect("start of", thread["before_ns"] <= start <= thread["start_ns"], thread, start)
        expect("end of", thread["end_ns"] <= end <= thread["after_ns"], thread, end)
        expect("born and ended:", found[0]["born"] == found[0]["ended"] == "1", found[0])
epoch = sum(ns(r["cpu_s"]) for r in table("phases") if r["phase"] == "epoch" and comm(r["comm"]) == job["phase_name"])
total = sum(ns(r["cpu_s"]) for r in tasks if comm(r["comm"]) == job["phase_name"])
expect("CPU time in the phase that holds all of it:", abs(epoch - total) <= max(10**7, total // 50) + lost_ns, epoch, total)
expect("phase:", [r["times"] for r in table("phases") if r["phase"] == "epoch"][:1] == ["1"])

print("\n".join(wrong[:20]), end="\n" if wrong else "")
sys.exit(bool(wrong))
