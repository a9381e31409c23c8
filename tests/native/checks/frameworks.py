#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""frameworks.py ACCOUNT: the epochs in the report on stdin are those that tests/workloads/frameworks.py counted.

There are as many, and each covers most of the real one and not much else. Epochs that only workers show are counted from
0 (Lightning draws one bar on a pipe, at the end).
"""
import json
import sys

account = json.load(open(sys.argv[1], encoding="ascii"))
timeline = json.load(sys.stdin)["timeline"]
shown = [p for p in timeline["phases"] if p["kind"] == "epoch"]
true = account["epochs"]
zero = true[0][0]


def seconds(begin, end):
    return f"{(begin - zero) / 1e9:.3f}-{(end - zero) / 1e9:.3f}"


text = "shown " + ", ".join(f"{p['name']} {seconds(p['begin_ns'], p['end_ns'])} by {p['source']}" for p in shown)
text += "; true " + ", ".join(seconds(*t) for t in true) + f"; {timeline['epoch_lines']}"
assert len(shown) == len(true), text
for i, (p, (begin, end)) in enumerate(zip(shown, true)):
    first = 0 if p["source"] == "workers" else account["first"]
    overlap = min(p["end_ns"], end) - max(p["begin_ns"], begin)
    assert p["number"] == first + i, text
    assert 2 * overlap > end - begin and 2 * overlap > p["end_ns"] - p["begin_ns"], text
print(text)
