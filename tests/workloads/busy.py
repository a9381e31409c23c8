#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""busy.py N SECONDS [CPU]: N processes compute for SECONDS, on CPU alone if that is given; the first one waits for them."""
import os
import sys
import time


def compute(seconds, cpus):
    if cpus:
        os.sched_setaffinity(0, cpus)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def main():
    n, seconds, cpus = int(sys.argv[1]), float(sys.argv[2]), {int(cpu) for cpu in sys.argv[3:]}
    children = []
    for _ in range(n):
        pid = os.fork()
        if not pid:
            compute(seconds, cpus)
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


main()
