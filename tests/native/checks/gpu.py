# SPDX-License-Identifier: BSD-2-Clause
"""gpu JOB REPORT ACCOUNT: does `report --json' answer for a job of tests/workloads/gpu.py what its own clocks say?

The code, its share, the GPU's idle time, and that the cause lies between the least and the most that the samples allow.
Prints a row: job, answer, share in the report and in the account. The status is 0 if all is right, 75 if the machine had
no time for the job, else 1.
"""
import json
import re
import sys

AGAIN = 75
BUSY = 0.15  # of the path: waits for a CPU
APART = 0.12  # of the path; a sample of a second begins before the job does, and the last one ends before it ends
UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9}
SEEN = re.compile(r"was idle for ([\d.]+) %")
WAITS = {"storage-read", "open-metadata", "decode-cpu", "cpu-contention", "checkpoint-write", "trainer-bound", "outside-wait"}
BOUNDS = re.compile(r"\(([\d.]+) (\w+) at least, ([\d.]+) (\w+) at most\)")


def faults(answer, path, own, findings):
    wall, text = path["wall_ns"], " | ".join(answer["evidence"])
    seen, bounds = SEEN.search(text), BOUNDS.search(text)
    if answer["code"] != own["code"]:
        yield f"it is {own['code']}"
    if abs(answer["share"] * wall - own["cause_ns"]) > APART * wall:
        yield "share"
    if sum(part["ns"] for part in path["parts"]) != wall:
        yield "parts do not add up"
    for finding in findings:
        if finding["code"] in WAITS:  # by sums of calls: the path has all waits
            yield f"{finding['code']} beside it"
    if bool(seen) != own["uses_gpu"]:
        yield "it has a GPU" if own["uses_gpu"] else "it has no GPU"
    elif seen and abs(float(seen[1]) / 100 - own["idle_ns"] / own["life_ns"]) > APART:
        yield f"its GPU was idle for {own['idle_ns'] / own['life_ns']:.2f}, not {seen[1]} %"
    if bool(path["gpu"]) != own["uses_gpu"]:
        yield f"the path's GPU is {path['gpu']}"
    elif seen and abs(100 * path["gpu"]["idle_ns"] / path["gpu"]["sampled_ns"] - float(seen[1])) > 0.1:
        yield f"its evidence is not of {path['gpu']}"
    if seen and own["code"] != "gpu-bound":
        least, most = (float(bounds[i]) * UNITS[bounds[i + 1]] for i in (1, 3))
        if not least - APART * wall <= own["cause_ns"] <= most + APART * wall:
            yield f"{own['cause_ns'] / 1e9:.2f} s are not between {bounds[0]}"


def main():
    job, report, account = sys.argv[1:]
    with open(report, encoding="utf-8") as f:
        answer = json.load(f)
    with open(account, encoding="utf-8") as f:
        own = json.load(f)
    path, bottleneck = answer["path"], answer["bottleneck"]
    wrong = list(faults(bottleneck, path, own, answer["rules"] + answer["facts"]))
    print(job, bottleneck["code"], f"{bottleneck['share']:.2f} {own['cause_ns'] / path['wall_ns']:.2f}", *wrong[:1])
    for fault in wrong:
        print(f"{job}: {fault}; {bottleneck['evidence']}", file=sys.stderr)
    busy = sum(part["ns"] for part in path["parts"] if part["kind"] == "runq") > BUSY * path["wall_ns"]
    sys.exit(AGAIN if wrong and busy else bool(wrong))


main()
