# SPDX-License-Identifier: BSD-2-Clause
"""printed TRACE ACCOUNT: printed.out has the lines of tests/workloads/prints.py, each when it was written, and no other."""
import json
import sys

import tracefolder

trace = tracefolder.Trace(sys.argv[1])
account = json.load(open(sys.argv[2], encoding="ascii"))
rows = [(row.n("FD"), row.b("TEXT").decode(), row.n("TIMESTAMP")) for row in trace["printed"]]
trace.require([row[:2] for row in rows] == [(fd, text) for fd, text, _, _ in account], f"{rows}, not {account}")
for (_, text, at), (_, _, begin, end) in zip(rows, account):
    trace.require(begin <= at <= end, f"{text}: at {at}, not from {begin} to {end}")
trace.finish()
