#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""epochs.py ACCOUNT SOURCE SIDE [FIRST]: the epochs in the report on stdin are those of tests/workloads/epochs.py.

There are as many as ACCOUNT has, numbered from FIRST on, by SOURCE, each with more than half of the real one. SIDE is the
side of an epoch that its lines are on; `-' where there is no such side; `training' where no epoch is known, but one phase
of training by SOURCE, which is most of the time that the job trained. A job's output may come as late as a busy machine
makes it. Checkpoints that ACCOUNT has are inferred; each lies within the real one and covers most of it, as calls are
never late.
"""
import json
import sys

account = json.load(open(sys.argv[1], encoding="ascii"))
source, side, first = sys.argv[2], sys.argv[3], (sys.argv[4:] or ["0"])[0]
timeline = json.load(sys.stdin)["timeline"]
reported = [p for p in timeline["phases"] if p["kind"] == "epoch"]
true = account["epochs"]
zero = true[0][0]


def seconds(begin, end):
    return f"{(begin - zero) / 1e9:.3f}-{(end - zero) / 1e9:.3f}"


if side == "training":
    (phase,) = [p for p in timeline["phases"] if p["kind"] in ("training", "epoch")]
    begin, end = zero, true[-1][1]
    overlap = min(end, phase["end_ns"]) - max(begin, phase["begin_ns"])
    text = f"said {phase['name']} {seconds(phase['begin_ns'], phase['end_ns'])}; true {seconds(begin, end)}"
    assert (phase["name"], phase["source"], phase["inferred"]) == ("training", source, False), phase
    assert overlap > 0.7 * (end - begin) and overlap > 0.7 * (phase["end_ns"] - phase["begin_ns"]), text
    sys.exit(print(text))
first = int(first)
text = "said " + ", ".join(f"{p['name']} {seconds(p['begin_ns'], p['end_ns'])}" for p in reported)
text += "; true " + ", ".join(seconds(*t) for t in true) + f"; {timeline['epoch_lines']}"
assert len(reported) == len(true), text
for i, (p, (begin, end)) in enumerate(zip(reported, true)):
    overlap = min(p["end_ns"], end) - max(p["begin_ns"], begin)
    assert p["name"] == f"epoch {first + i}" and p["number"] == first + i, text
    assert p["source"] == source and p["inferred"] == (source == "workers"), text
    assert 2 * overlap > max(end - begin, 0) and (i + 1 == len(reported) or 2 * overlap > p["end_ns"] - p["begin_ns"]), text
assert [e["side"] for e in timeline["epoch_lines"]] == ([] if side == "-" else [side]), text
assert not any(e["assumed"] for e in timeline["epoch_lines"]), text
if account["checkpoints"]:
    saved = [p for p in timeline["phases"] if p["kind"] == "checkpoint"]
    text = "said " + ", ".join(seconds(p["begin_ns"], p["end_ns"]) for p in saved)
    text += "; true " + ", ".join(seconds(*t) for t in account["checkpoints"])
    assert len(saved) == len(account["checkpoints"]), text
    for p, (begin, end) in zip(saved, account["checkpoints"]):
        assert p["inferred"] and begin <= p["begin_ns"] and p["end_ns"] <= end, text
        assert 2 * (p["end_ns"] - p["begin_ns"]) > end - begin, text
print(text)
