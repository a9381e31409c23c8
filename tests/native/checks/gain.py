# SPDX-License-Identifier: BSD-2-Clause
"""gain NAME ACTION REPORT BEFORE AFTER: did the job of tests/workloads/causes.py gain what `report --json' said?

BEFORE and AFTER are its accounts without and with the ACTION that the report advises. The status is 0 if the job became
shorter by the cause's time within a third of that.
"""
import json
import sys

APART = 1 / 3


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


name, action = sys.argv[1:3]
report, before, after = map(load, sys.argv[3:])
promise = report["bottleneck"]["share"] * report["path"]["wall_ns"]
gained = before["life_ns"] - after["life_ns"]
right = abs(gained - promise) <= APART * promise
print(f"{name:<16} {action:<18} said {promise / 1e9:5.2f} s of {before['life_ns'] / 1e9:5.2f} s, gained {gained / 1e9:5.2f} s  "
      f"{'right' if right else 'WRONG'}")
sys.exit(not right)
