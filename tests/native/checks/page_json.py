#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""page_json PAGE JSON ROWS: the page holds that JSON, which counts ROWS rows in all of the trace's files."""
import json
import re
import sys


def main():
    page = open(sys.argv[1], encoding="utf-8").read()
    report = json.load(open(sys.argv[2], encoding="utf-8"))
    held = re.search(r'<script type="application/json" id="report">(.*)</script>', page)
    if not held or json.loads(held.group(1)) != report:
        sys.exit("the page holds another report than --json prints")
    if report["missing"]:
        sys.exit(f"missing: {report['missing']}")
    timeline, probes = report["timeline"], {p["name"]: p for p in report["probes"]}
    rows = sum(p["rows"] for p in probes.values())
    if not 0.8 * int(sys.argv[3]) < rows <= int(sys.argv[3]):
        sys.exit(f"{rows} rows of probes, of {sys.argv[3]}")
    # the timeline adds up to the sums, apart from the rounding of rates to six digits
    seconds = timeline["bin_ns"] / 1e9
    for panel, name, whole in (("vfs", "read", probes["vfs_rw"]["reads"]["bytes"]),
                               ("vfs_calls", "writes", probes["vfs_rw"]["writes"]["rows"]),
                               ("calls", "open", probes["open"]["rows"])):
        values = next(s["values"] for s in timeline["series"] if s["panel"] == panel and s["name"] == name)
        if abs(sum(values[:-1]) * seconds - whole) > 0.01 * whole + values[-1] * seconds:
            sys.exit(f"{panel}/{name}: {sum(values) * seconds} in the timeline, {whole} in the sums")
    cpu = report["cpu"]
    run_ns = sum(t["run_ns"] for t in cpu["tasks"]) + cpu["other_tasks"]["run_ns"]
    cells = sum(sum(t["by_cpu"]) for t in cpu["tasks"]) + sum(cpu["other_tasks"]["by_cpu"])
    cpus = sum(c["busy_ns"] + c["idle_ns"] for c in cpu["cpus"])
    if not run_ns == cells == cpus == cpu["by_cpu_ns"] == cpu["by_task_ns"]:
        sys.exit(f"CPU time by task {run_ns}, in cells {cells}, by CPU {cpus}, {cpu['by_cpu_ns']}")


main()
