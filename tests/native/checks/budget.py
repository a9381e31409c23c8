# SPDX-License-Identifier: BSD-2-Clause
"""budget TRACE MEASURED BUDGETS: no number in MEASURED is above what BUDGETS allows it.

BUDGETS has a line for each: name, number as recorded, how much more it may be in %, and what it is. A number without a
line is refused, so that every new program gets one. With RECORD in the environment the numbers are written there instead;
comments, percentages and explanations stay, and so do the lines of numbers that were not measured.
"""
import os
import sys

SLACK = 8  # a few instructions never count, however small the program


def read_numbers(path):
    with open(path) as f:
        return {name: int(n) for name, n in (line.split() for line in f)}


def read_budgets(path):
    """Yields [name, number, percent, what it is] for each line of numbers, [line] for others."""
    with open(path) as f:
        for line in f.read().splitlines():
            words = line.split(None, 3)
            yield [line] if not words or line.startswith("#") else words + [""] * (4 - len(words))


def compare(measured, budgets):
    wrong = 0
    of = {b[0]: b for b in budgets if len(b) > 1}
    for name, n in measured.items():
        if name not in of:
            wrong += 1
            print("%s is %d and has no budget" % (name, n))
            continue
        recorded, percent = int(of[name][1]), int(of[name][2])
        most = recorded + (max(recorded * percent // 100, SLACK) if percent else 0)
        if n > most:
            wrong += 1
            print("%s is %d: more than the %d of its budget (%d and %d %%)" % (name, n, most, recorded, percent))
        elif percent and n < recorded * 100 // (100 + percent):
            print("%s is %d, well below the %d of its budget: record it" % (name, n, recorded))
    return wrong


def record(measured, budgets, path):
    lines, seen = [], set()
    for b in budgets:
        if len(b) > 1:
            seen.add(b[0])
            b = ["%-36s %7d %3s  %s" % (b[0], measured.get(b[0], int(b[1])), b[2], b[3])]
        lines.append(b[0].rstrip())
    for name in sorted(set(measured) - seen):
        percent = 0 if ":hook." in name else 25
        lines.append("%-36s %7d %3d" % (name, measured[name], percent))
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


measured, budgets = read_numbers(sys.argv[2]), list(read_budgets(sys.argv[3]))
if os.environ.get("RECORD"):
    record(measured, budgets, sys.argv[3])
elif compare(measured, budgets):
    sys.exit("what has become dearer for a good reason: RECORD=1 make native T=budget, and say why")
