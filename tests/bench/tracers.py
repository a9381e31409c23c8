# SPDX-License-Identifier: BSD-2-Clause
"""The tracers: how each is started, where it writes, how its rows and losses are counted.

A tracer's rows are counted in its own output by count/NAME.awk, which prints a line "CALL N" for
each system call of the workload, and "lost N" where the output tells losses.
"""
import os
import shutil
import subprocess
from typing import Callable, NamedTuple, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", os.path.join(HERE, "../../build"))
DLTRACED = os.path.realpath(os.environ.get("DLT", os.path.join(BUILD, "dltraced")))
SHIM = os.path.realpath(os.path.join(BUILD, "bench/shim.so"))
BEFORE = os.environ.get("BENCH_BEFORE", "")    # another dltraced, for comparison in the same rounds
NEWEST = os.environ.get("BENCH_BPFTRACE", "")  # tests/bench/run sets it where it is available

DLTRACED_FILES = ("vfs_rw.out", "open.out", "close.out", "mmap.out", "create_del.out")


class Tracer(NamedTuple):
    name: str
    argv: Callable               # (run, command of the workload) -> argv
    count: str                   # which script of count/ counts its rows
    settings: str                # for the table
    files: tuple = ("out",)      # files with its rows, in the run's folder
    part: int = 1                # does only 1/part of a workload that can be split, which takes long enough
    env: Callable = lambda run: {}
    to_text: Optional[Callable] = None   # (run) -> argv that prints the rows, where they are binary
    attaches: bool = False       # is started with the PID of a waiting workload
    per_call: int = 1            # lost events for each call, in the tracer's report
    only: tuple = ()             # workloads; all, if empty
    needs: str = ""              # the program, if it is not the first word of the name

    def missing(self):
        """Returns why it cannot run here, or None."""
        program = self.needs or self.name.split()[0]
        if not program.startswith("/"):
            return None if shutil.which(program) else f"{program} not found"
        return None if os.path.exists(program) else f"{program} not found"


def dltraced(run, load, *options, program=DLTRACED, without=()):
    disk = ["--disk", run.disk] if run.disk else []
    probes = without if run.disk else ["bio", *without]
    disk += ["--probes", ",".join("-" + probe for probe in probes)] if probes else []
    return [program, "start", "-q", "--collectors", "none", "--min-free", "0", *disk, *options,
            "-o", run.path("trace"), "--", *load]


def bpftrace(program, named=False):
    def argv(run, load):
        script = (run.workload.pattern if run.workload.calls else "reads") + ("-name" if named else "")
        return [*program(), "-c", " ".join(load), "-o", run.path("out"),
                os.path.join(HERE, "peers", script + ".bt")]
    return argv


def newest():
    """The newest bpftrace with its own loader and libraries, without a chroot, so that it finds the workload."""
    libs = os.path.join(NEWEST, "usr/lib/x86_64-linux-gnu")
    return [os.path.join(NEWEST, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path", libs,
            os.path.join(NEWEST, "usr/bin/bpftrace")]


def strace(run, load):
    return ["strace", "-f", "-T", "-ttt", "--seccomp-bpf", "-e", "trace=" + ",".join(run.workload.calls or ("none",)),
            "-o", run.path("out"), *load]


def perf_trace(run, load):
    return ["perf", "trace", "-m", "4096", "-e", ",".join(run.workload.calls or ("getppid",)),
            "-o", run.path("out"), *load]


def perf_record(run, load):
    events = [f"syscalls:sys_{when}_{call}" for call in run.workload.calls or ("getppid",)
              for when in ("enter", "exit")]
    return ["perf", "record", "-q", "-m", "4096", "-e", ",".join(events), "-o", run.path("out"), *load]


BIG = "buffers of 64 MiB per CPU (BPFTRACE_PERF_RB_PAGES=16384)"
BIG_ENV = {"BPFTRACE_PERF_RB_PAGES": "16384"}
STALLS = ("stall, 600 k/s", "stall, full speed")
COMMON = ("reads", "reads, 2 threads", "small files", "writes", "mixed", "start")

TRACERS = [
    Tracer("none", lambda run, load: load, "none", "", needs="/bin/sh"),
    Tracer("dltraced", dltraced, "dltraced", "all probes, default rings", needs=DLTRACED,
           files=tuple("trace/" + f for f in DLTRACED_FILES)),
    Tracer("dltraced -P -sched", lambda run, load: dltraced(run, load, without=["sched"]), "dltraced",
           "all probes, without sums of CPU scheduling", needs=DLTRACED, only=COMMON + ("idle",),
           files=tuple("trace/" + f for f in DLTRACED_FILES)),
    Tracer("dltraced --buffer 1G", lambda run, load: dltraced(run, load, "--buffer", "1G"), "dltraced",
           "512 MiB a CPU on two", needs=DLTRACED, only=("stall, full speed",),
           files=tuple("trace/" + f for f in DLTRACED_FILES)),
    Tracer("bpftrace", bpftrace(lambda: ["bpftrace"]), "bpftrace",
           "begin and end paired in a map, filter by pid, default buffers", part=4,
           only=COMMON + STALLS, files=("out", "log")),
    Tracer("bpftrace +name", bpftrace(lambda: ["bpftrace"], True), "bpftrace",
           "with the file's name", part=4, only=("reads", "reads, 2 threads"),
           files=("out", "log")),
    Tracer("bpftrace, big buffers", bpftrace(lambda: ["bpftrace"]), "bpftrace", BIG, part=4,
           needs="bpftrace", only=("reads", *STALLS), env=lambda run: BIG_ENV, files=("out", "log")),
    Tracer("bpftrace newest", bpftrace(newest), "bpftrace", "the newest of Debian, default buffers",
           part=2, only=COMMON + STALLS, files=("out", "log"),
           needs=NEWEST or "/the newest bpftrace"),
    Tracer("bpftrace newest, big buffers", bpftrace(newest), "bpftrace", BIG, part=2,
           only=("reads", *STALLS), env=lambda run: BIG_ENV, files=("out", "log"),
           needs=NEWEST or "/the newest bpftrace"),
    Tracer("strace", strace, "strace", "-f -T -ttt --seccomp-bpf, only the workload's calls", part=25,
           only=COMMON + STALLS),
    Tracer("perf trace", perf_trace, "perf-trace", "only the workload's calls, -m 4096", part=10,
           only=COMMON + STALLS, per_call=2, needs="perf"),
    Tracer("perf record", perf_record, "perf-record",
           "tracepoints of begin and end, binary, -m 4096", part=4, per_call=2, needs="perf",
           only=COMMON + STALLS,
           to_text=lambda run: ["perf", "script", "--show-lost-events", "-F", "tid,event,trace", "-i",
                                run.path("out")]),
    Tracer("JSON shim", lambda run, load: load, "shim", "LD_PRELOAD, in the process", part=2,
           env=lambda run: {"LD_PRELOAD": SHIM, "SHIM_LOG": run.path("out")},
           only=COMMON,
           needs=SHIM),
    Tracer("opensnoop", lambda run, load: ["opensnoop", "-p", str(run.load_pid)], "opensnoop",
           "of libbpf-tools, opens only, -p", attaches=True, only=("small files", "mixed"),
           files=("log",)),
]

if BEFORE:
    TRACERS.insert(2, Tracer("dltraced before", lambda run, load: dltraced(run, load, program=BEFORE), "dltraced",
                             "the program in BENCH_BEFORE, all probes", needs=BEFORE,
                             files=tuple("trace/" + f for f in DLTRACED_FILES)))


def tracer(name):
    return next(t for t in TRACERS if t.name == name)


def count(t, run):
    """Returns {call: rows} and "lost", from the tracer's output."""
    if t.count == "none":
        return {}
    script = os.path.join(HERE, "count", t.count + ".awk")
    env = dict(os.environ, LC_ALL="C")
    files = [run.path(f) for f in t.files if os.path.exists(run.path(f))]
    if t.to_text:
        with subprocess.Popen(t.to_text(run), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as p:
            text = subprocess.run(["awk", "-f", script], stdin=p.stdout, capture_output=True,
                                  text=True, env=env, check=True).stdout
    else:
        text = subprocess.run(["awk", "-f", script, *files], capture_output=True, text=True, env=env,
                              check=True).stdout
    return {call: int(n) for call, n in (line.split() for line in text.splitlines())}
