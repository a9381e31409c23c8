#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""collectives_torch.py FOLDER: two ranks of a PyTorch job that knows nothing of regions, and calls collectives by gloo.

Prints each call: PID, the name of its region, the bytes of its tensor (- where it is given several), 1 where it is asynchronous.
"""
import os
import sys

os.environ["GLOO_SOCKET_IFNAME"] = "lo"
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402


def note(name, size="-", asynchronous=0):
    os.write(1, f"{os.getpid()}\t{name}\t{size}\t{asynchronous}\n".encode())


def run(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    for n in 10, 1000, 100000:
        tensor = torch.full((n,), float(rank))
        dist.all_reduce(tensor); note("all_reduce", 4 * n)
        assert tensor[0] == 1
        dist.broadcast(tensor, src=0); note("bcast", 4 * n)
        parts = [torch.empty(n, dtype=torch.float64) for _ in range(2)]
        dist.all_gather(parts, torch.full((n,), float(rank), dtype=torch.float64)); note("all_gather")
        assert [part[0].item() for part in parts] == [0, 1]
        dist.reduce(tensor=tensor, dst=1); note("reduce", 4 * n)
        dist.all_reduce(tensor, async_op=True).wait(); note("all_reduce", 4 * n, 1)
        if rank:
            dist.send(tensor, dst=0); note("send", 4 * n)
        else:
            dist.recv(tensor, src=1); note("receive", 4 * n)
        dist.barrier(); note("barrier")
    dist.destroy_process_group()


def main():
    child = os.fork()
    run(1 if child else 0, sys.argv[1])
    if child:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.exit(status)


main()
