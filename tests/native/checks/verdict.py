# SPDX-License-Identifier: BSD-2-Clause
"""verdict REPORT ACCOUNT CODE[,unknown]: does `report --json' name what a job waited for?

ACCOUNT is the own one of a job of staged.py or train.py. It must show that CODE, what the job was made to wait for, has
come true; otherwise the status is 75, and another run may do better. If threads waited for a CPU, as the kernel told the
job, the report may have cpu-contention; if one worker of an epoch was busy while the others waited, straggler-worker.
With ",unknown" the trace lacks what is needed to be sure, and the report may say so. Without it, the report's shares must
be those of the account, too.
"""
import json
import sys

AGAIN = 75
TAKEN_NS = 20e6  # that a hypervisor may take from a process
SHARES_DIFFER = 0.25  # the seconds of sched.out are evenly filled, and the job's clock goes on while it has no CPU
with open(sys.argv[1], encoding="utf-8") as f:
    report = json.load(f)
with open(sys.argv[2], encoding="utf-8") as f:
    account = json.load(f)
trainer, workers = account["trainer"], account["workers"]
wrong = []


def of(role, *what):
    return sum(role.get(f"{w}_ns", 0) for w in what)


def all_of(*what):
    return sum(of(w, *what) for w in workers)


def share(part, whole):
    return part / whole if whole else 0


loop = of(trainer, "wait", "step", "checkpoint")
whole = loop + of(trainer, "start", "stop")
waits, steps, saves = (share(of(trainer, what), loop) for what in ("wait", "step", "checkpoint"))
busy = all_of("stat", "meta", "read", "decode", "slow", "put")
lives = busy + all_of("idle")
first, others = ([w for w in workers if bool(w["worker"]) == other] for other in (False, True))


def idle(some):
    return share(sum(of(w, "idle") for w in some), sum(w["end_ns"] - w["begin_ns"] for w in some))


def part_of_wait(ns):
    """Returns the part of the time in which the trainer waited and the workers did something for NS in all."""
    return share(of(trainer, "wait"), whole) * share(ns, lives)


def share_of_reads():
    return part_of_wait(all_of("read")) if workers else share(of(trainer, "read"), whole) or None


# What must be true of the account, so that the verdict is the only right one. A process without workers loads by
# itself; the workers of train.py have no clock: their data is known to be cold, and waits for it are.
TRUE = {
    "checkpoint-write": lambda: saves > 0.6,
    "cpu-contention": lambda: waits > 0.6 and share(all_of("runq"), busy) > 0.6,
    "decode-cpu": lambda: waits > 0.6 and share(all_of("decode"), busy) > 0.8,
    "gpu-bound": lambda: steps > 0.9,
    "open-metadata": lambda: waits > 0.6 and share(all_of("stat", "meta"), busy) > 0.7,
    "storage-read": lambda: waits > 0.6 and (not workers or share(all_of("read"), busy) > 0.7),
    "straggler-worker": lambda: waits > 0.6 and idle(first) < 0.3 and idle(others) > 0.6,
    "trainer-bound": lambda: steps > 0.75,
}

# The share in the report for each verdict; null: there is none.
SHARE = {
    "checkpoint-write": lambda: share(of(trainer, "checkpoint"), whole),
    "cpu-contention": lambda: part_of_wait(all_of("runq")),
    "decode-cpu": lambda: part_of_wait(all_of("cpu")),
    "gpu-bound": lambda: share(of(trainer, "step"), whole),
    # stat(2) has no rows, and is only in sched.out
    "open-metadata": lambda: part_of_wait(all_of("stat", "meta")) if report["waited"]["by"] == "sched" else
                             part_of_wait(all_of("meta")),
    "storage-read": share_of_reads,
    "straggler-worker": lambda: share(of(trainer, "wait"), whole) * (idle(others) - idle(first)),
    "trainer-bound": lambda: 1 - part_of_wait(busy),
}


def contended():
    """Whether the trainer waited for a CPU, for which a tenth of the time is enough (docs/rules.md), or for workers that
    did.
    """
    return share(of(trainer, "runq"), loop) > 0.08 or waits > 0.25 and share(all_of("runq"), busy) > 0.25


def lagged():
    """Whether one of an epoch's workers was busy, by chance, while the others had to wait for it."""
    for epoch in {w["epoch"] for w in workers if "epoch" in w}:
        mine = [w for w in workers if w["epoch"] == epoch]
        some = [(idle([w]), idle([o for o in mine if o is not w])) for w in mine]
        if any(one < 0.3 and rest > 0.5 for one, rest in some):
            return True
    return False


def expect(what, ok, *values):
    if not ok:
        wrong.append(" ".join(str(v) for v in (what, *values)))


def check_shares(code):
    waited, own, by = report["waited"]["share"], share(of(trainer, "wait", "checkpoint"), whole), report["waited"]["by"]
    wanted, reported = SHARE[code](), report["bottleneck"]["share"]
    expect("part of the time waited:", by == "gpu" or abs(waited - own) < SHARES_DIFFER, waited, own, report["waited"])
    expect("share:", wanted is None or abs(reported - wanted) < SHARES_DIFFER, reported, wanted, report["waited"])
    return wanted


def check_sums():
    """The report's time in calls on files equals that by the job's own clock, except for the time that a hypervisor took."""
    reported = {p["pid"]: p for p in report["processes"]}
    for w in workers:
        own, files = of(w, "meta", "read"), reported.get(w["pid"], {}).get("file_ns", 0)
        # page faults are no calls; a process that loses its CPU is not always in a call
        least = 0 if "mapped" in account["job"] else 0.8 * of(w, "read") - of(w, "runq") - TAKEN_NS
        expect("a worker's time in calls on files:", least <= files <= 1.1 * own + TAKEN_NS, w, files)
    saved = of(trainer, "checkpoint")
    if saved:
        files = reported.get(trainer["pid"], {}).get("file_ns", 0)
        least = 0.8 * saved - of(trainer, "runq") - TAKEN_NS
        expect("the trainer's time in calls on files:", files >= least, files, trainer)


def main():
    code, *unknown = sys.argv[3].split(",")
    facts = f"{account['job']}: trainer: wait {waits:.2f} step {steps:.2f} checkpoint {saves:.2f}; workers: " + " ".join(
        f"{what} {share(all_of(what), lives):.2f}" for what in ("stat", "meta", "read", "decode", "slow", "idle", "runq"))
    if not TRUE[code]():
        print(f"the machine had no time for it: {facts}")
        sys.exit(AGAIN)
    allowed = {code, *unknown, *(["cpu-contention"] if contended() else []), *(["straggler-worker"] if lagged() else [])}
    verdict, wanted = report.get("bottleneck") or {}, None
    if verdict.get("code") == "cpu-limit":  # contention of processes that may not use all CPUs
        verdict["code"] = "cpu-contention"
    expect("verdict:", verdict.get("code") in allowed, verdict, "not", sorted(allowed))
    if verdict.get("code") == code and not unknown:
        wanted = check_shares(code)
    check_sums()
    print(f"{facts} -> {verdict.get('code')} {verdict.get('share')}, own: {wanted}, by {(report.get('waited') or {}).get('by')}")
    if wrong:
        print("\n".join(wrong[:20]))
    sys.exit(bool(wrong))


main()
