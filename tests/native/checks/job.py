# SPDX-License-Identifier: BSD-2-Clause
"""job NAME REPORT ACCOUNT CODE[,CODE...]: does `report --json' agree with the account of a job of tests/workloads/jobs?

The first CODE is what the job was made to wait for; the others are also true of it where the trace need not show the
difference. Prints a row of the table: name, verdict, share in the report, shares in the account (of the time since the
job's imports, and of all of its life), and how that was known. The report does not know when imports end, and counts only
a part of them as the job's time, or all: its share must lie between the two, or close to one. The status is 0 if it is
right, 75 if the machine had no time for the job, 76 if the report does not know, and 1 if it says something wrong.
"""
import json
import sys

AGAIN, UNKNOWN = 75, 76
BUSY = 0.12  # part of its time that a job with another fault may wait for a CPU
LEAST = 0.5  # part of its time that a job must have waited for the intended cause
APART = 0.10  # largest difference of the report's share from the account's


def main():
    name, report, account, codes = sys.argv[1:]
    code, *others = codes.split(",")
    with open(report, encoding="utf-8") as f:
        verdict = json.load(f).get("bottleneck") or {}
    if verdict.get("code") == "cpu-limit":  # contention of processes that may not use all CPUs
        verdict["code"] = "cpu-contention"
    with open(account, encoding="utf-8") as f:
        own = json.load(f)
    fault, share = own["shares"][code], verdict.get("share")
    true = own["shares"][verdict["code"]] if verdict.get("code") in others else fault
    of_life = true * own["wall_s"] / (own["wall_s"] + own["imports_s"])
    apart = None if share is None else max(of_life - share, share - true, 0)
    if code != "cpu-contention" and own["runq_share"] > BUSY:
        note, status = f"skip: the machine was busy, {own['runq_share']:.0%} of the time there was no CPU for it", AGAIN
    elif fault < LEAST:
        note, status = f"skip: the job became another, {code} is {fault:.0%} of its time", AGAIN
    elif verdict.get("code") in (code, *others):
        note, status = ("right", 0) if apart is not None and apart <= APART else ("WRONG share", 1)
    elif verdict.get("code") == "unknown":
        note, status = f"unknown, not {code}", UNKNOWN
    else:
        note, status = f"WRONG, it is {code}", 1
    verdict_share = "-" if share is None else f"{share:.2f}"
    print(f"{name:<22} {verdict.get('code') or '-':<17} {verdict_share:>6} {true:6.2f} {of_life:6.2f}  {note}")
    sys.exit(status)


main()
