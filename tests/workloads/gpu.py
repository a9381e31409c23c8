#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""gpu.py JOB [FOLDER] --gpu FILE --account FILE: a job of some seconds with a GPU, as its stand-in for nvidia-smi sees it.

FOLDER has files on a slow disk, which are read one by one. FILE of --gpu has, for tests/stubs/nvidia-smi.py, the PID, the
ns for which the GPU was busy, and since when it is; 0: it is not. FILE of --account gets JSON, by the job's own clock:
`code` of the answer, `cause_ns` of it while the GPU was idle (of gpu-bound: while it was busy), `idle_ns` of the GPU, and
`life_ns`. JOB is one of:

    reads     the GPU works between two reads
    spins     likewise, and the process looks again and again whether the GPU is done
    ahead     files are read while the GPU works: it never waits
    full      a loader waits for room in its queue while the GPU works
    itself    the process computes between two steps of its GPU
    none      files are read, and there is a GPU that is not used
"""
import time

BEGAN_NS = time.monotonic_ns()  # imports are a part of the life, and its GPU is idle
import argparse
import contextlib
import json
import mmap
import multiprocessing
import os
import struct

now = time.monotonic_ns
STATE = struct.Struct("=3q")


class Gpu:
    def __init__(self, path):
        with open(path, "wb+") as f:
            f.truncate(STATE.size)
            self.memory = mmap.mmap(f.fileno(), STATE.size)
        self.busy_ns = self.since = 0

    def put(self):
        STATE.pack_into(self.memory, 0, os.getpid(), self.busy_ns, self.since)

    def begin(self):
        self.since = now()
        self.put()

    def end(self):
        self.busy_ns, self.since = self.busy_ns + now() - self.since, 0
        self.put()


class Account:
    ns = 0

    @contextlib.contextmanager
    def cause(self):
        begin = now()
        yield
        self.ns += now() - begin


def compute(ms):
    until = now() + ms * 1000000
    while now() < until:
        sum(range(500))


def files(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def read(path):
    with open(path, "rb", 0) as f:
        f.read()


def reads(folder, gpu, account, step=lambda: time.sleep(0.04)):
    paths = files(folder)
    for first, second in zip(paths[::2], paths[1::2]):
        with account.cause():
            read(first)
            read(second)
        gpu.begin()
        step()
        gpu.end()
    return "storage-read"


def spins(folder, gpu, account):
    return reads(folder, gpu, account, lambda: compute(40))


def ahead(folder, gpu, account):
    gpu.begin()
    with account.cause():
        for path in files(folder):
            read(path)
    gpu.end()
    return "gpu-bound"


def load(samples):
    for number in range(1000):
        samples.send_bytes(bytes(1 << 16))


def full(_, gpu, account):
    mine, its = multiprocessing.Pipe(duplex=False)
    loader = multiprocessing.get_context("fork").Process(target=load, args=(its,), daemon=True)
    loader.start()
    gpu.begin()
    with account.cause():
        for _ in range(50):
            mine.recv_bytes()
            time.sleep(0.1)
    gpu.end()
    loader.kill()
    loader.join()
    return "gpu-bound"


def itself(_, gpu, account):
    for _ in range(40):
        with account.cause():
            compute(100)
        gpu.begin()
        time.sleep(0.03)
        gpu.end()
    return "cpu-bound"


def none(folder, _, account):
    for path in files(folder):
        with account.cause():
            read(path)
    return "storage-read"


JOBS = {job.__name__: job for job in (reads, spins, ahead, full, itself, none)}


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("job", choices=JOBS)
    p.add_argument("folder", nargs="?")
    p.add_argument("--gpu", required=True)
    p.add_argument("--account", required=True)
    args = p.parse_args()
    gpu, account = Gpu(args.gpu), Account()
    code = JOBS[args.job](args.folder, gpu, account)
    life = now() - BEGAN_NS
    with open(args.account, "w", encoding="utf-8") as f:
        json.dump({"code": code, "cause_ns": account.ns, "idle_ns": life - gpu.busy_ns, "life_ns": life,
                   "uses_gpu": gpu.busy_ns > 0}, f)


main()
