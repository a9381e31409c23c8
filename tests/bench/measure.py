# SPDX-License-Identifier: BSD-2-Clause
"""One run: a workload under a tracer, from start to end, and what it cost both."""
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import time

import tracers

LOAD = os.path.realpath(os.path.join(tracers.BUILD, "bench/load"))
LIMIT_S = 300
QUIET_S = 0.3   # a tracer has written everything when its output has not grown for that time


class Failed(Exception):
    pass


class Gate:
    """load's two FIFOs: it writes that it is ready, later that it is done, and waits each time."""

    def __init__(self, base):
        self.base = base
        for end in ("up", "down"):
            os.mkfifo(f"{base}.{end}")
        self.up = os.open(f"{base}.up", os.O_RDWR)
        self.down = os.open(f"{base}.down", os.O_RDWR)

    def has_word(self):
        return bool(select.select([self.up], [], [], 0)[0])

    def wait(self, word, process):
        """Returns the PID of load, once it has written WORD."""
        deadline = time.monotonic() + LIMIT_S
        while not select.select([self.up], [], [], 0.1)[0]:
            if process.poll() is not None:
                raise Failed(f"it ended with {process.returncode} before the workload was {word}")
            if time.monotonic() > deadline:
                raise Failed(f"the workload was not {word} after {LIMIT_S} s")
        got, pid = os.read(self.up, 100).decode().split()
        if got != word:
            raise Failed(f"the workload is {got}, not {word}")
        return int(pid)

    def go(self):
        os.write(self.down, b"\n")

    def close(self):
        os.close(self.up)
        os.close(self.down)


class Place:
    """An empty folder for one run, the disk of dltraced's --disk, and the processes, which spawn() starts."""

    def __init__(self, bench, disk):
        self.disk, self.processes = disk, []
        self.folder = os.path.join(bench.folder, "run")
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def end(self):
        """Ends the processes that still run after a failure: each was started as a process group."""
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


class Run(Place):
    block = None  # number of times in a row, of which the best count: see least()

    def __init__(self, bench, tracer, workload):
        super().__init__(bench, bench.disk)
        self.tracer, self.workload = tracer, workload
        self.load_pid = 0
        self.data = bench.tmpfs if workload.tmpfs else bench.folder
        self.times = workload.times // bench.part // (tracer.part if workload.split else 1)

    def load(self):
        block = ["-b", str(self.block)] if self.block else []
        return [LOAD, *block, "-t", str(self.workload.threads), "-n", str(self.times),
                "-p", str(self.workload.pace_ns), "-g", self.path("gate"), "-o", self.path("result"), "-d", self.data,
                self.workload.pattern]

    def output_bytes(self):
        return sum(os.path.getsize(self.path(f)) for f in self.tracer.files
                   if os.path.exists(self.path(f)))


@contextlib.contextmanager
def gated(run):
    """Yields a gate and a log for the processes of RUN, which have all ended afterwards."""
    gate = Gate(run.path("gate"))
    try:
        with open(run.path("log"), "w", encoding="utf-8") as log:
            yield gate, log
    finally:
        run.end()
        gate.close()


def require_ok(run, status):
    """Fails with the end of the log where STATUS is not 0."""
    if status != 0:
        with open(run.path("log"), encoding="utf-8", errors="replace") as f:
            raise Failed(f"status {status}: {f.read()[-500:]}")


# --- a tracer in /proc ------------------------------------------------------------------------------

def cpu_ns(pid):
    """Returns the CPU time of its threads so far."""
    total = 0
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/schedstat") as f:
                total += int(f.read().split()[0])
    except OSError:
        pass
    return total


def memory(pid):
    """Returns bytes: resident beside the maps of BPF rings, these rings, the peak of both."""
    kib = {"rest": 0, "rings": 0, "peak": 0}
    try:
        with open(f"/proc/{pid}/smaps") as f:
            for line in f:
                words = line.split()
                if not words[0].endswith(":"):
                    what = "rings" if "bpf-map" in line else "rest"
                elif words[0] == "Rss:":
                    kib[what] += int(words[1])
        with open(f"/proc/{pid}/status") as f:
            kib["peak"] = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        pass
    return {name: n * 1024 for name, n in kib.items()}


def await_quiet(run):
    last, since = -1, time.monotonic()
    deadline = since + 60
    while time.monotonic() - since < QUIET_S and time.monotonic() < deadline:
        time.sleep(0.05)
        size = run.output_bytes()
        if size != last:
            last, since = size, time.monotonic()


# --- one run --------------------------------------------------------------------------------------

def stall(process, seconds):
    time.sleep(0.2)
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def spawn(argv, run, **more):
    env = dict(os.environ, **more.pop("env", {}))
    run.processes.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL, env=env, cwd=run.folder,
                                          process_group=0, **more))
    return run.processes[-1]


def traced(run, gate, log):
    """Starts both, lets the workload run, and returns the measurements once both have ended."""
    t = run.tracer
    own = t.name == "none" or t.count == "shim"  # without a process of its own
    start_ns = time.monotonic_ns()
    if t.attaches:
        load = spawn(run.load(), run)
        run.load_pid = gate.wait("ready", load)
        process = spawn(t.argv(run, []), run, stdout=log, stderr=log)
        await_quiet(run)
    else:
        process = load = spawn(t.argv(run, run.load()), run, stdout=log, stderr=log, env=t.env(run))
        gate.wait("ready", process)
    pid = process.pid
    before = cpu_ns(pid)
    gate.go()
    if run.workload.stall_s and not own:
        stall(process, run.workload.stall_s)
    gate.wait("done", load)
    got = {}
    if not own:
        await_quiet(run)
        got = {"tracer_cpu_ns": cpu_ns(pid) - before, "load_cpu_ns": before, "memory": memory(pid)}
    gate.go()
    load.wait(LIMIT_S)
    if t.attaches:
        process.send_signal(signal.SIGINT)
    process.wait(LIMIT_S)
    got["start_ns"] = start_ns
    return got, load.returncode


def losses(run, counted):
    if run.tracer.count != "dltraced":
        return counted.pop("lost", 0)
    with open(run.path("trace/manifest.json")) as f:
        return sum(p["lost"] for p in json.load(f)["probes"])


def least(run):
    """Returns the CPU ns of each time of the best RUN.block in a row, and the rows lost."""
    with gated(run) as (gate, log):
        _, status = traced(run, gate, log)
    require_ok(run, status)
    with open(run.path("result"), encoding="utf-8") as f:
        ns = json.load(f)["least_ns"]
    return ns, losses(run, {}) if run.tracer.name != "none" else 0


def measure(bench, tracer, workload, keep=False):
    """Returns a dictionary for the machine-readable file."""
    run = Run(bench, tracer, workload)
    with gated(run) as (gate, log):
        got, status = traced(run, gate, log)
    require_ok(run, status)
    with open(run.path("result")) as f:
        result = json.load(f)
    got["start_ns"] = result["main_ns"] - got["start_ns"]
    rows = tracers.count(tracer, run)
    lost = losses(run, rows)
    calls = sum(result["calls"].values())
    if tracer.count == "opensnoop":
        calls = result["calls"]["openat"]
    got.update(tracer=tracer.name, workload=workload.name, times=run.times, threads=workload.threads,
               cpu_ns=result["cpu_ns"], wall_ns=result["wall_ns"], elapsed_ns=result["elapsed_ns"],
               calls=calls, rows=sum(rows.get(c, 0) for c in workload.calls), by_call=rows, lost=lost,
               bytes=run.output_bytes())
    if not keep:
        shutil.rmtree(run.folder, ignore_errors=True)
    return got
