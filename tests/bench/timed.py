# SPDX-License-Identifier: BSD-2-Clause
"""timed BASE COMMAND...: runs it between two gates (measure.Gate), and writes to BASE.result what it took.

That is the CPU time of COMMAND and of all its children that somebody has waited for, its wall time, and its context
switches. As the parent of COMMAND it counts the same whether COMMAND is traced or not; its own start is in no figure.
"""
import json
import os
import subprocess
import sys
import time


def gate(base, word):
    with open(f"{base}.up", "w", encoding="ascii") as f:
        f.write(f"{word} {os.getpid()}\n")
    with open(f"{base}.down", encoding="ascii") as f:
        f.readline()


def main():
    base, *argv = sys.argv[1:]
    gate(base, "ready")
    begin_ns = time.monotonic_ns()
    # pylint: disable-next=consider-using-with
    _, status, usage = os.wait4(subprocess.Popen(argv).pid, 0)
    wall_ns = time.monotonic_ns() - begin_ns
    with open(f"{base}.result", "w", encoding="ascii") as f:
        json.dump({"cpu_ns": round((usage.ru_utime + usage.ru_stime) * 1e9), "wall_ns": wall_ns,
                   "switches": usage.ru_nvcsw + usage.ru_nivcsw}, f)
    gate(base, "done")
    sys.exit(os.waitstatus_to_exitcode(status))


main()
