#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""jobs.py KEY=VALUE...: an epoch of a small PyTorch job; prints its seconds, from iter(loader) to the end of the loop.
jobs.py: the same for each line of its input.

    data      peer (a request a sample to the server at PORT), cpu, files (of FOLDER, an open and a read a sample), ready (a
              list of batches in place of a loader)
    workers, prefetch, batch, n (samples), order (0: batches as they come)
    ms        CPU time of a sample; slow_every, slow_ms: every so many samples one sleeps so long
    step      ms that the trainer sleeps, as for a GPU; step_cpu: that it computes
    save      a checkpoint each so many steps, of save_mb
"""
import os
import socket
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import torch
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


def burn(ms):
    """Computes for MS of CPU time, whatever else runs."""
    until = time.thread_time() + ms / 1000
    while time.thread_time() < until:
        sum(range(500))


class Samples(Dataset):
    def __init__(self, job):
        self.job, self.server = job, None

    def __len__(self):
        return self.job["n"]

    def fetch(self, index):
        if self.server is None:
            self.server = socket.create_connection(("127.0.0.1", self.job["port"]))
        self.server.sendall(b"%d\n" % index)
        left = 16384
        while left:
            got = len(self.server.recv(left))
            if not got:
                raise ConnectionError("the server is gone")
            left -= got

    def __getitem__(self, index):
        job = self.job
        if job["data"] == "peer":
            self.fetch(index)
        elif job["data"] == "files":
            with open(f"{job['folder']}/{index:05d}", "rb", buffering=0) as file:
                file.read()
        burn(job["ms"])
        if job["slow_every"] and index % job["slow_every"] == job["slow_every"] - 1:
            time.sleep(job["slow_ms"] / 1000)
        return torch.zeros(3, 32, 32)


DEFAULTS = {"data": "cpu", "workers": 1, "prefetch": 2, "batch": 8, "n": 320, "order": 1, "ms": 1.0, "slow_every": 0, "slow_ms": 0, "step": 20,
            "step_cpu": 0, "save": 0, "save_mb": 64, "port": 0, "folder": ""}


def parse(words):
    job = dict(DEFAULTS)
    for word in words:
        key, _, value = word.partition("=")
        job[key] = type(DEFAULTS[key])(value) if key not in ("ms", "step", "slow_ms", "step_cpu") else float(value)
    return job


def epoch(job):
    weight = torch.nn.Parameter(torch.zeros(64))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    (weight * weight).sum().backward()  # what is set up at the first call is no part of a step
    more = {"prefetch_factor": job["prefetch"]} if job["workers"] else {}
    if not job["order"]:
        more["in_order"] = False
    loader = DataLoader(Samples(job), batch_size=job["batch"], num_workers=job["workers"], **more)
    if job["data"] == "ready":
        loader = [torch.zeros(job["batch"], 3, 32, 32)] * (job["n"] // job["batch"])
    state = torch.zeros((job["save_mb"] << 18) * bool(job["save"]))
    begin = time.monotonic()
    for step, _ in enumerate(loader, 1):
        burn(job["step_cpu"])
        time.sleep(job["step"] / 1000)
        (weight * weight).sum().backward()
        optimizer.step()
        if job["save"] and step % job["save"] == 0:
            with open("checkpoint.pt", "wb") as file:
                torch.save(state, file)
                file.flush()
                os.fsync(file.fileno())
    print(f"{time.monotonic() - begin:.4f}", flush=True)


if __name__ == "__main__":
    for words in [sys.argv[1:]] if sys.argv[1:] else map(str.split, sys.stdin):
        epoch(parse(words))
