#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""plain.py COMMAND...: runs it, and writes to $ACCOUNT what a command without an account (cp, tar) waited for.

It must be one process. The time in which it had no CPU, and did not wait for one, it waited for its disk, as there is
nothing else that it waits for.
"""
import json
import os
import subprocess
import sys
import time


def main():
    begin = time.monotonic_ns()
    command = subprocess.Popen(sys.argv[1:])
    os.waitid(os.P_PID, command.pid, os.WEXITED | os.WNOWAIT)
    wall = time.monotonic_ns() - begin
    with open(f"/proc/{command.pid}/schedstat", encoding="ascii") as f:
        cpu, runq = (int(n) for n in f.read().split()[:2])
    with open(os.environ["ACCOUNT"], "w", encoding="ascii") as f:
        json.dump({
            "wall_s": wall / 1e9, "imports_s": 0, "runq_share": runq / wall,
            "shares": {"storage-read": (wall - cpu - runq) / wall, "trainer-bound": (cpu + runq) / wall},
            "trainer_s": {"cpu": cpu / 1e9, "runq": runq / 1e9},
        }, f, indent=1)
    sys.exit(command.wait())


main()
