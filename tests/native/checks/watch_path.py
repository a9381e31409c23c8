# SPDX-License-Identifier: BSD-2-Clause
"""watch_path VIEWS ACCOUNT COMM, or --idle VIEWS COMM PID: do the views of `status --watch --json' show the last seconds?

ACCOUNT has a line "WHAT BEGIN END" of the job's own clock for each thing that its first process, COMM, did. The share of
each in every view is within LIMIT of its share by that clock, and each of them is seen. A process that is --idle slept.
"""
import json
import sys

SECOND = 1000000000
LIMIT = 0.2  # of a view's time: a busy machine has a CPU for others first

HELPER = r"he\033[2Jlper"
CPU = "cpu", "runq", "throttled"
# By what the part of a view is known; a wait that has not ended yet has another kind than one that has.
PARTS = {
    "sleep": lambda p, comm: p["kind"] == "sleep" and p["who"] == comm,
    "compute": lambda p, comm: p["kind"] in CPU and p["who"] == comm,
    "child": lambda p, comm: p["kind"] in CPU and p["who"] == HELPER,
    "network": lambda p, comm: p["kind"] == "network" and p["detail"].startswith("127.0.0.1:"),
    "outside": lambda p, comm: p["kind"] == "outside" or (p["kind"] == "unended" and p["open"]),
}


def paths(name):
    """Returns the paths of all views, of which each is checked by itself."""
    with open(name, encoding="utf-8") as file:
        found = [p for p in (json.loads(line)["path"] for line in file) if p]
    for path in found:
        assert path["wall_ns"] == path["end_ns"] - path["begin_ns"] <= 10 * SECOND, path
        assert sum(part["ns"] for part in path["parts"]) == path["wall_ns"], path
        assert len(path["parts"]) <= 6, path
    ends = [path["end_ns"] for path in found]
    assert ends == sorted(ends), ends
    return found


def overlap(path, begin, end):
    return max(0, min(path["end_ns"], end) - max(path["begin_ns"], begin))


def main(views, account, comm):
    did = [(what, int(begin), int(end)) for what, begin, end in map(str.split, open(account, encoding="utf-8"))]
    # what comes before and after is not in the account
    within = [p for p in paths(views) if p["begin_ns"] >= did[0][1] and p["end_ns"] <= did[-1][2]]
    assert len({p["end_ns"] for p in within}) >= 4, [p["end_ns"] for p in within]
    seen = dict.fromkeys(PARTS, 0)
    for path in within:
        assert path["comm"] == comm, path
        for what, is_part in PARTS.items():
            shown = sum(p["ns"] for p in path["parts"] if p["kind"] != "other" and is_part(p, comm)) / path["wall_ns"]
            true = sum(overlap(path, begin, end) for name, begin, end in did if name == what) / path["wall_ns"]
            assert abs(shown - true) <= LIMIT, f"{what}: {shown:.2f} and not {true:.2f} of {path}, job: {did}"
            seen[what] = max(seen[what], shown)
    assert min(seen.values()) >= 0.15, seen
    print(len(within), "views:", ", ".join(f"{what} {share:.2f}" for what, share in seen.items()))


def idle(views, comm, pid):
    found = paths(views)[:-2]  # it is ended at last
    assert found and found[-1]["root"] == int(pid) and found[-1]["comm"] == comm, found[-1:]
    for path in found:
        assert path["parts"][0]["kind"] == "sleep" and path["parts"][0]["ns"] >= 0.9 * path["wall_ns"], path
    print(len(found), "views of a sleep")


if __name__ == "__main__":
    if sys.argv[1] == "--idle":
        idle(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
