#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""staged: training jobs that are made to wait for a known thing.

    staged.py --prepare JOB DIR               makes the data set, where that may be fast
    staged.py [OPTIONS] JOB DIR ACCOUNT       trains on it, for two epochs

JOBS has what each job is made of; the caller provides a DIR on a slow disk or file system. The loader is PyTorch's
without PyTorch: forked workers called pt_data_worker, a multiprocessing.Queue of indices for each and one of results for
all, two batches ahead, batches in their order, new workers for each epoch. A step is a sleep, like that of a thread that
waits for its GPU, or work of the trainer's own. Phases are MLPerf lines (:::MLLOG).

ACCOUNT is JSON: what the trainer and each worker spent their time in by their own clocks, ns (wait: for a batch; idle:
for indices; start, stop: of the workers), and what the kernel has in their schedstat (cpu; runq: waited for a CPU). --gpu
FILE is kept up to date for a stand-in for nvidia-smi: pid, ns for which the GPU was busy, and since when it is busy; 0:
it is not.
"""
import argparse
import contextlib
import ctypes
import hashlib
import json
import mmap
import multiprocessing
import os
import pathlib
import queue
import random
import struct
import sys
import time

KIB, MIB = 1 << 10, 1 << 20
now = time.monotonic_ns
BASE = {
    "workers": 2,
    "files": 64,
    "bytes": 16 * KIB,  # of each file
    "batch": 4,
    "step_ms": 2,
    "step": "gpu",  # or cpu: the trainer computes
    "decode_ms": 0,  # CPU time for each sample
    "stat": 0,  # calls of stat for each sample before it is opened
    "slow_worker": None,  # (how, ms): an additional activity of the first worker for each batch
    "checkpoint_steps": 0,
    "mapped": False,  # samples are read by page faults
    "parts": 1,  # folders with the files
    "one_cpu": False,  # all workers share one CPU
}
JOBS = {name: {**BASE, **job} for name, job in {
    "checkpoint-write": {"step_ms": 3, "checkpoint_steps": 16, "checkpoint_bytes": 3 * MIB // 2},
    "cpu-contention": {"workers": 4, "decode_ms": 3, "one_cpu": True},
    "decode-cpu": {"decode_ms": 8},
    "mapped-larger": {"files": 96, "bytes": 256 * KIB, "batch": 2, "mapped": True},
    "mapped-warm": {"files": 96, "bytes": 256 * KIB, "batch": 2, "mapped": True, "step_ms": 20},
    "open-metadata": {"files": 512, "bytes": 200, "batch": 8, "stat": 1, "parts": 16},
    "storage-read": {"files": 72, "bytes": 256 * KIB, "batch": 2},
    "storage-read-mapped": {"files": 72, "bytes": 256 * KIB, "batch": 2, "mapped": True},
    "storage-read-alone": {"files": 72, "bytes": 256 * KIB, "batch": 2, "workers": 0},
    "straggler-disk": {"workers": 3, "files": 288, "bytes": 128 * KIB, "batch": 2, "decode_ms": 0.5, "parts": 3},
    "straggler-sleeps": {"workers": 3, "decode_ms": 0.5, "slow_worker": ("sleep", 70)},
    "straggler-works": {"workers": 3, "decode_ms": 0.5, "slow_worker": ("work", 70)},
    "trainer-bound": {"step_ms": 30},
    "trainer-bound-cpu": {"step_ms": 30, "step": "cpu"},
}.items()}


def sample_path(folder, job, index):
    """With as many parts as workers, each worker has one part, which may lie on another disk."""
    return folder / f"part-{index // job['batch'] % job['parts']}" / f"sample.{index:06}"


def prepare(job, folder):
    rng = random.Random(1)
    for index in range(job["files"]):
        path = sample_path(folder, job, index)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.randbytes(job["bytes"]))


def mllog(event_type, key, **metadata):
    """The line format of github.com/mlcommons/logging."""
    print(":::MLLOG", json.dumps({"namespace": "", "time_ms": time.time_ns() // 10**6, "event_type": event_type, "key": key,
                                  "value": None, "metadata": {"file": "staged.py", "lineno": 0, **metadata}}), flush=True)


def work(ms, data=bytes(64 * KIB)):
    end = time.thread_time_ns() + ms * 10**6
    while time.thread_time_ns() < end:
        for _ in range(8):
            hashlib.sha256(data).digest()


class Account:
    """Measures the times of one role."""

    def __init__(self, **facts):
        self.facts = {"pid": os.getpid(), "begin_ns": now(), **facts}

    @contextlib.contextmanager
    def spent(self, what):
        begin = now()
        yield
        self.facts[f"{what}_ns"] = self.facts.get(f"{what}_ns", 0) + now() - begin

    def close(self):
        with open("/proc/self/schedstat", encoding="ascii") as f:
            self.facts["cpu_ns"], self.facts["runq_ns"] = map(int, f.read().split()[:2])
        self.facts["end_ns"] = now()
        return self.facts


class Gpu:
    """What a GPU would be doing, in memory that the stand-in for nvidia-smi reads as well."""

    def __init__(self, path):
        self.state = struct.Struct("=3q")
        self.total, self.memory = 0, bytearray(self.state.size)
        if path:
            with open(path, "wb+") as f:
                f.truncate(self.state.size)
                self.memory = mmap.mmap(f.fileno(), self.state.size)
        self.set(0)

    def set(self, since):
        self.state.pack_into(self.memory, 0, os.getpid(), self.total, since)

    def run(self, ms):
        begin = now()
        self.set(begin)
        time.sleep(ms / 1000)
        self.total += now() - begin
        self.set(0)


def get(things, goes_on):
    """Returns the next message; checks now and then whether a process that could send one still exists, as PyTorch does."""
    while True:
        try:
            return things.get(timeout=5)
        except queue.Empty:
            if not goes_on():
                sys.exit("staged: a worker or the trainer has ended")


# --- workers --------------------------------------------------------------------------------------


def read(fd, size):
    data = b""
    while piece := os.read(fd, size + 1):
        data += piece
    return data


def read_mapped(fd):
    with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as memory:
        return memory[:]


def load(job, folder, index, account):
    path = sample_path(folder, job, index)
    with account.spent("stat"):
        for _ in range(job["stat"]):
            os.stat(path)
    with account.spent("meta"):
        fd = os.open(path, os.O_RDONLY)
    with account.spent("read"):
        data = read_mapped(fd) if job["mapped"] else read(fd, job["bytes"])
    with account.spent("meta"):
        os.close(fd)
    assert len(data) == job["bytes"], path
    with account.spent("decode"):
        work(job["decode_ms"])
        return hashlib.sha256(data[:4 * KIB]).digest()


def slow_down(how, ms, account):
    with account.spent("slow"):
        if how == "sleep":
            time.sleep(ms / 1000)
        else:
            work(ms)


def worker(job, folder, number, epoch, indices, results):
    ctypes.CDLL(None).prctl(15, b"pt_data_worker", 0, 0, 0)
    if job["one_cpu"]:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    account, parent = Account(worker=number, epoch=epoch, batches=0), os.getppid()
    while True:
        with account.spent("idle"):
            order = get(indices, lambda: os.getppid() == parent)
        if order is None:
            break
        batch, samples = order
        loaded = [load(job, folder, index, account) for index in samples]
        if job["slow_worker"] and number == 0:
            slow_down(*job["slow_worker"], account)
        with account.spent("put"):
            results.put((batch, loaded))
        account.facts["batches"] += 1
    results.put((None, account.close()))


class Alone:
    """A loader without workers: the trainer loads by itself."""

    def __init__(self, job, folder, account):
        self.job, self.folder, self.account, self.sent, self.got = job, folder, account, 1, 0

    def request(self):
        self.sent += 1

    def next(self):
        first = self.got * self.job["batch"]
        self.got += 1
        return [load(self.job, self.folder, (first + i) % self.job["files"], self.account) for i in range(self.job["batch"])]

    def stop(self):
        return []


class Loader:
    """The workers of an epoch; next() returns their batches in order."""

    def __init__(self, job, folder, epoch):
        self.job, self.order, self.accounts = job, list(range(job["files"])), []
        context = multiprocessing.get_context("fork")
        self.results, self.early = context.Queue(), {}
        self.indices = [context.Queue() for _ in range(job["workers"])]
        self.workers = [context.Process(target=worker, args=(job, folder, n, epoch, self.indices[n], self.results),
                                        daemon=True)  # else an exit would wait for them
                        for n in range(job["workers"])]
        self.sent = self.got = 0
        for process in self.workers:
            process.start()
        for _ in range(2 * len(self.workers)):
            self.request()

    def request(self):
        """Batch N goes to worker N modulo workers."""
        first = self.sent * self.job["batch"]
        samples = [self.order[(first + i) % len(self.order)] for i in range(self.job["batch"])]
        self.indices[self.sent % len(self.workers)].put((self.sent, samples))
        self.sent += 1

    def result(self):
        return get(self.results, lambda: all(process.is_alive() for process in self.workers))

    def next(self):
        while self.got not in self.early:
            batch, loaded = self.result()
            self.early[batch] = loaded
        self.got += 1
        return self.early.pop(self.got - 1)

    def stop(self):
        for indices in self.indices:
            indices.put(None)
        while len(self.accounts) < len(self.workers):
            batch, account = self.result()
            if batch is None:
                self.accounts.append(account)
        for process in self.workers:
            process.join()
        return self.accounts


# --- the trainer ----------------------------------------------------------------------------------


def checkpoint(job, folder, account):
    mllog("INTERVAL_START", "checkpoint_start")
    with account.spent("checkpoint"):
        part, whole = folder / "checkpoint.pt.tmp", folder / "checkpoint.pt"
        with open(part, "wb") as f:
            f.write(os.urandom(64 * KIB) * (job["checkpoint_bytes"] // (64 * KIB)))
            f.flush()
            os.fsync(f.fileno())
        os.replace(part, whole)
    mllog("INTERVAL_END", "checkpoint_stop")


def epoch_run(job, args, number, account, gpu):
    steps, end = 0, now() + args.seconds * 10**9
    with account.spent("start"):
        loader = Loader(job, args.dir, number) if job["workers"] else Alone(job, args.dir, account)
    while loader.got < loader.sent:
        with account.spent("wait"):
            loader.next()
        if now() < end:
            loader.request()
        with account.spent("step"):
            gpu.run(job["step_ms"]) if job["step"] == "gpu" else work(job["step_ms"])
        steps += 1
        if job["checkpoint_steps"] and steps % job["checkpoint_steps"] == 0:
            checkpoint(job, args.dir, account)
    account.facts["steps"] = account.facts.get("steps", 0) + steps
    with account.spent("stop"):
        return loader.stop()


def train(job, args):
    account, gpu, workers = Account(), Gpu(args.gpu), []
    mllog("INTERVAL_START", "run_start")
    for number in range(1, args.epochs + 1):
        mllog("INTERVAL_START", "epoch_start", epoch_num=number)
        workers += epoch_run(job, args, number, account, gpu)
        mllog("INTERVAL_END", "epoch_stop", epoch_num=number)
    mllog("INTERVAL_END", "run_stop", status="success")
    args.account.write_text(json.dumps({"job": args.job, "trainer": account.close(), "workers": workers}, indent=1))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--prepare", action="store_true", help="make the data set and end")
    p.add_argument("--seconds", type=float, default=0.6, help="of an epoch")
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--gpu", type=pathlib.Path)
    p.add_argument("job", choices=JOBS)
    p.add_argument("dir", type=pathlib.Path)
    p.add_argument("account", type=pathlib.Path, nargs="?", default=pathlib.Path("account"))
    args = p.parse_args()
    if args.prepare:
        prepare(JOBS[args.job], args.dir)
    else:
        train(JOBS[args.job], args)


main()
