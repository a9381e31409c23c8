# SPDX-License-Identifier: BSD-2-Clause
"""cause NAME REPORT ACCOUNT: does `report --json' name the cause of a job of tests/workloads/causes.py?

Prints a row of the table: name, answer, its share in the report and in the account, both of the path's time, and what is
wrong. Parts of the path add up to it exactly. The status is 0 if all is right, 75 if the machine had no time for the job,
and 1 otherwise.
"""
import json
import sys

AGAIN = 75
BUSY = 0.15  # part of the path's time that may be waits for a CPU
APART = 0.1  # largest difference of the report from the account, as a part of the path's time


def faults(bottleneck, path, own):
    """Yields what is wrong."""
    wall = path["wall_ns"]
    if bottleneck["code"] != own["code"]:
        yield f"it is {own['code']}"
    elif abs(bottleneck["share"] * wall - own["cause_ns"]) > APART * wall:
        yield "share"
    if not 0 <= wall - own["life_ns"] <= APART * wall:
        yield f"the path has {wall / 1e9:.2f} s of a life of {own['life_ns'] / 1e9:.2f} s"
    total = sum(part["ns"] for part in path["parts"])
    if total != wall:
        yield f"parts add up to {total} ns, not {wall}"


def main():
    name, report, account = sys.argv[1:]
    with open(report, encoding="utf-8") as f:
        answer = json.load(f)
    with open(account, encoding="utf-8") as f:
        own = json.load(f)
    bottleneck, path = answer["bottleneck"], answer["path"]
    wall, share = path["wall_ns"], bottleneck.get("share")
    runq = sum(part["ns"] for part in path["parts"] if part["kind"] == "runq")
    if runq > BUSY * wall:
        note, status = f"skip: the machine was busy, {runq / wall:.0%} of the time there was no CPU for it", AGAIN
    else:
        wrong = "; ".join(faults(bottleneck, path, own))
        note, status = (f"WRONG: {wrong}", 1) if wrong else ("right", 0)
    answer_share = "-" if share is None else f"{share:.2f}"
    print(f"{name:<16} {bottleneck['code']:<17} {answer_share:>6} {own['cause_ns'] / wall:6.2f}  {note}")
    sys.exit(status)


main()
