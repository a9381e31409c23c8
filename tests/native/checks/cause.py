# SPDX-License-Identifier: BSD-2-Clause
"""cause NAME REPORT ACCOUNT: does `report --json' name the cause of a job of tests/workloads/causes.py?

Prints a row of the table: name, answer, its share in the report and in the account, both of the path's time, and what is
wrong. Parts of the path add up to it exactly, and so do the edges of who waited for whom; those that the job has (EDGES)
are there, with its time. The status is 0 if all is right, 75 if the machine had no time for the job, and 1 otherwise.
"""
import json
import sys

AGAIN = 75
BUSY = 0.15  # part of the path's time that may be waits for a CPU
APART = 0.1  # largest difference of the report from the account, as a part of the path's time

ROOT = ("process", "own", True)
THREADS = ("threads", "own", True)
WORKER = ("process", "worker", False)
FEEDER = ("threads", "worker", False)  # of a queue: a thread of the loader that puts samples into its pipe
STORAGE = ("storage", None, False)
# Of each job: who waited for whom, and how; the time of the first one is that of the cause, without what it was on a CPU.
EDGES = {
    "asyncio": [(ROOT, THREADS, {"events"})],
    "beside": [(ROOT, STORAGE, {"read"})],
    "checkpoint": [(ROOT, STORAGE, {"sync", "write"})],
    "child": [(ROOT, ("process", "child", False), {"child", "call"})],
    "first-epoch": [(ROOT, STORAGE, {"read"})],
    "hashing": [(ROOT, THREADS, {"futex"})],
    "http": [(ROOT, ("peer", None, False), {"socket"})],
    "lock": [(ROOT, ("process", "own", False), {"lock"})],
    "log-sync": [(ROOT, STORAGE, {"sync"})],
    "mapped-write": [(ROOT, STORAGE, {"write", "read", "fault"})],
    "names": [(ROOT, STORAGE, {"names"})],
    "own-writes": [(ROOT, FEEDER, {"pipe"}), (FEEDER, WORKER, {"futex"}), (WORKER, STORAGE, {"read"})],
    "polling": [(ROOT, WORKER, {"poll"}), (WORKER, STORAGE, {"read"})],
    "reads": [(ROOT, STORAGE, {"read"})],
}


def runq_ns(path):
    """What the path was ready to run, and no CPU was free."""
    return sum(part["ns"] for part in path["parts"] if part["kind"] == "runq")


def edge_faults(name, report, own):
    """Yields what is wrong with who waited for whom."""
    waited = own["cause_ns"] - own["cause_cpu_ns"]
    nodes = {node["id"]: (node["kind"], node["role"], node["root"]) for node in report["path_nodes"]}
    edges, total, wall = report["path_edges"], report["path"]["edges"], report["path"]["wall_ns"]
    for key, ns in total.items():
        if sum(edge[key] for edge in edges) != ns:
            yield f"edges add up to {sum(edge[key] for edge in edges)} {key}, not {ns}"
    for number, (waiter, awaited, kinds) in enumerate(EDGES.get(name, ())):
        ns = sum(edge["path_ns"] for edge in edges
                 if (nodes[edge["from"]], nodes[edge["to"]]) == (waiter, awaited) and edge["kind"] in kinds)
        if not ns:
            yield f"{' '.join(map(str, waiter))} did not wait for {' '.join(map(str, awaited))}"
        elif number == 0 and not waited - runq_ns(report["path"]) - APART * wall <= ns <= waited + APART * wall:
            yield f"it waited {ns / 1e9:.2f} s for {awaited[0]}, and not {waited / 1e9:.2f} s"


def faults(bottleneck, path, own):
    """Yields what is wrong. What a thread computes while it looks for something may count as its own work."""
    wall = path["wall_ns"]
    if bottleneck["code"] != own["code"]:
        yield f"it is {own['code']}"
    elif not -own["cause_cpu_ns"] - APART * wall <= bottleneck["share"] * wall - own["cause_ns"] <= APART * wall:
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
    runq = runq_ns(path)
    if runq > BUSY * wall:
        note, status = f"skip: the machine was busy, {runq / wall:.0%} of the time there was no CPU for it", AGAIN
    else:
        wrong = "; ".join([*faults(bottleneck, path, own), *edge_faults(name, answer, own)])
        note, status = (f"WRONG: {wrong}", 1) if wrong else ("right", 0)
    answer_share = "-" if share is None else f"{share:.2f}"
    print(f"{name:<16} {bottleneck['code']:<17} {answer_share:>6} {own['cause_ns'] / wall:6.2f}  {note}")
    sys.exit(status)


main()
