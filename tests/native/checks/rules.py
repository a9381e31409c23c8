# SPDX-License-Identifier: BSD-2-Clause
"""rules REPORTS TABLE RULES: does each rule fire where it must, with the job's own number, and not where it must not?

REPORTS has JOB.json, the output of `dltraced report --json` on JOB, and JOB.account, what the job counted. TABLE has
lines of
    CODE problem|fact JOB-THAT-FIRES TOLERANCE(%) NEAR-MISS...
JOB must have CODE among its `rules` or `facts`, and no near miss may have it among either; a near miss that ends with
+fact may have it as a fact, which costs next to nothing. RULES is docs/rules.md, which has the thresholds.

Prints the table. The status is 75, with the names of the jobs, if all that is wrong is that the machine had no time for a
job to become what it is for: its own number, or that of a near miss, is too near the threshold; or the number is too
small a part of a life that took too long; or its own clock measured other times.
"""
import json
import pathlib
import sys

reports, table, rules = map(pathlib.Path, sys.argv[1:4])
THRESHOLDS = {cells[1].strip(" `"): float(cells[3]) for line in rules.read_text().splitlines()
              if len(cells := line.split("|")) == 7 and cells[1].startswith(" `") and cells[3].strip().replace(".", "").isdigit()}
DESCRIBE = ("read-often", "read-intensive", "write-often", "write-intensive")
SIZE = 0.01  # the part of a job's life above which it is a problem
TWO_CLOCKS = 10  # %: larger tolerances are those of a time measured by two clocks, between which a process can lose its CPU
NEAR = 1.15  # times the threshold: a size nearer than that may be on either side
wrong, again = [], []


def load(job):
    return json.loads((reports / f"{job}.json").read_text()), json.loads((reports / f"{job}.account").read_text())


def pick(found, code):
    return next((f for f in found if f["code"] == code), None)


def number(f):
    return "-" if f is None else f"{f['measure']:.4g} ({100 * f['size_share']:.1f} %)"


def check_fires(code, kind, job, tolerance):
    report, account = load(job)
    if code not in account:
        again.append(job)
        return f"{code:18} {job:22} {'-':>8} {'-':>20}"
    true, f = account[code], pick(report["rules" if kind == "problem" else "facts"], code)
    other = pick(report["facts" if kind == "problem" else "rules"], code)
    if f is None and other is not None and kind == "problem" and other["size_share"] <= SIZE:
        again.append(job)  # the rest of its life took longer than planned
    elif f is None and other is not None:
        wrong.append(f"{code}: of {job} no {kind}: its size is {other['size_share']:.4f}")
    elif f is None and true < NEAR * THRESHOLDS[code]:
        again.append(job)
    elif f is None:
        wrong.append(f"{code}: is not found of {job}, whose number is {true:.4g}")
    elif abs(f["measure"] - true) > tolerance / 100 * true and tolerance > TWO_CLOCKS:
        again.append(job)
    elif abs(f["measure"] - true) > tolerance / 100 * true:
        wrong.append(f"{code}: {f['measure']:.4g} of {job}, whose number is {true:.4g}")
    return f"{code:18} {job:22} {true:8.4g} {number(f or other):>20}"


def check_near_miss(code, job):
    job, may_be_fact, _ = job.partition("+")
    report, account = load(job)
    f = pick(report["rules"], code)
    fact = pick(report["facts"], code)
    if f and account.get(code, 0) * NEAR >= THRESHOLDS[code]:
        again.append(job)
    elif f:
        wrong.append(f"{code}: {f['measure']:.4g} of {job}, which is none: {'; '.join(f['evidence'])}")
    elif fact and not may_be_fact:
        wrong.append(f"{code}: {fact['measure']:.4g} as a fact of {job}, which is none: {'; '.join(fact['evidence'])}")
    return job + (f" (a fact, {fact['measure']:.4g})" if fact else "")


def check_all(job):
    """Checks what holds for any report."""
    report, _ = load(job)
    sizes = [f["size_share"] for f in report["rules"]]
    if sizes != sorted(sizes, reverse=True):
        wrong.append(f"{job}: rules are not in the order of their sizes: {sizes}")
    for f in report["rules"] + report["facts"] + [report["bottleneck"]]:
        for key in ("share", "size_share"):
            if f[key] is not None and not 0 <= f[key] <= 1:
                wrong.append(f"{job}: {f['code']}: its {key} is {f[key]}")
        if f["code"] != "slow-imports" and any("/usr/" in line or "site-packages" in line for line in f["evidence"]):
            wrong.append(f"{job}: {f['code']}: software is evidence: {f['evidence']}")
    wrong.extend(f"{job}: {f['code']}: a problem of size {f['size_share']}" for f in report["rules"]
                 if f["size_share"] < SIZE or f["code"] in DESCRIBE)
    wrong.extend(f"{job}: {f['code']}: a fact of size {f['size_share']}" for f in report["facts"]
                 if f["size_share"] >= SIZE and f["code"] not in DESCRIBE + ("tiny-reads",))


def main():
    jobs = {}
    print(f"{'RULE':18} {'JOB':22} {'TRUE':>8} {'FOUND (SIZE)':>20} NEAR MISSES")
    for line in filter(None, map(str.split, table.read_text().splitlines())):
        code, kind, job, tolerance, *near = line
        print(check_fires(code, kind, job, float(tolerance)), ", ".join(check_near_miss(code, miss) for miss in near))
        jobs.update(dict.fromkeys([job, *(miss.partition("+")[0] for miss in near)]))
    for job in jobs:
        check_all(job)
    print("\n".join(wrong), file=sys.stderr)
    if again and not wrong:
        print("again:", *dict.fromkeys(again))
    sys.exit(1 if wrong else 75 if again else 0)


main()
