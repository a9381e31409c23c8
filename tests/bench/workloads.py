# SPDX-License-Identifier: BSD-2-Clause
"""The workloads: what load is asked to do, and how much of it."""
from typing import NamedTuple


class Workload(NamedTuple):
    name: str
    pattern: str        # of load.c
    calls: tuple        # the system calls that it makes
    times: int          # number of times, under a fast tracer
    threads: int = 1
    split: bool = True  # slow tracers get only a part of it (figures are per call)
    tmpfs: bool = False
    pace_ns: int = 0    # at most a call in that time
    stall_s: float = 0  # how long the tracer is stopped during the load
    rounds: int = 99    # at most
    only: tuple = ()    # under these tracers; all that can, if empty
    help: str = ""


FILES = 20000

WORKLOADS = [
    Workload("reads", "reads", ("pread64",), 1000000,
             help="pread64 of 4 KiB from the page cache, one thread"),
    Workload("reads, 2 threads", "reads", ("pread64",), 500000, threads=2,
             help="pread64 of 4 KiB from the page cache, two threads"),
    Workload("small files", "files", ("openat", "read", "close"), FILES, split=False,
             help=f"open, read, read, close of {FILES} files"),
    Workload("writes", "writes", ("pwrite64",), 1000000, tmpfs=True,
             help="pwrite64 of 4 KiB on tmpfs"),
    Workload("mixed", "mixed", ("openat", "write", "mmap", "munmap", "close", "unlink"), 10000,
             tmpfs=True, help="create, write, mmap, munmap, close, unlink of a file, on tmpfs"),
    Workload("stall, 600 k/s", "reads", ("pread64",), 1200000, pace_ns=1666, stall_s=1, rounds=2,
             split=False, help="600 000 reads a second, while the tracer is stopped for 1 s (SIGSTOP)"),
    Workload("stall, full speed", "reads", ("pread64",), 4000000, stall_s=1, rounds=2,
             help="reads at full speed, while the tracer is stopped for 1 s"),
    Workload("soak", "reads", ("pread64",), 10000000, rounds=1, only=("none", "dltraced"),
             help="10 M reads in a row"),
    Workload("start", "idle", (), 0, help="no calls: from the start of the tracer to main()"),
    Workload("idle", "idle", (), 10000, rounds=1, only=("dltraced", "dltraced -P -sched"),
             help="10 s of sleep"),
]


def workload(name):
    return next(w for w in WORKLOADS if w.name == name)
