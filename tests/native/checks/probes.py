# SPDX-License-Identifier: BSD-2-Clause
"""probes: the names of the files of a trace and their columns, from `dltraced probes --json`; a probe that is added is in
these lists at once. As a program it prints OF_CALLS.

EACH_CALL leaves out meta, which by default has a row only for a call that took long, and sums of all: on a slow machine
any call may be one of those.
"""
import json
import os
import subprocess

_ANSWER = json.loads(subprocess.run([os.environ["DLT"], "probes", "--json"], check=True, stdout=subprocess.PIPE).stdout)
COLUMNS = {p["name"]: [c["name"] for c in p["columns"]] for p in _ANSWER["probes"]}
COLLECTORS = {c["name"] for c in _ANSWER["collectors"]}
OF_CALLS = tuple(name for name, columns in COLUMNS.items()  # a row is one system call
                 if {"FUNC", "LAT_NS"} <= {*columns} and {"RET", "RETURNED"} & {*columns})
EACH_CALL = tuple(name for name in OF_CALLS if name != "meta")

if __name__ == "__main__":
    print(*OF_CALLS)
