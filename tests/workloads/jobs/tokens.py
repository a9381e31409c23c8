#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Train a language model on random windows of a file of 16-bit tokens, which is mapped into memory.

With --workers the windows come from a DataLoader; without, the trainer takes slices of the map by itself.
"""
import argparse
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from account import Account

BLOCK, VOCABULARY = 256, 512


def window(tokens, at):
    """Returns the input, and the tokens to predict."""
    part = torch.from_numpy(tokens[at:at + BLOCK + 1].astype(np.int64)) % VOCABULARY
    return part[:-1], part[1:]


class Windows(Dataset):
    def __init__(self, path, count, account):
        self.tokens, self.account = np.memmap(path, dtype=np.uint16, mode="r"), account
        self.begins = torch.randint(len(self.tokens) - BLOCK, (count,)).tolist()

    def __len__(self):
        return len(self.begins)

    def __getitem__(self, index):
        with self.account.time("read"):
            return window(self.tokens, self.begins[index])


def batches_of_workers(args, account):
    data = Windows(args.data, args.iters * args.batch, account)
    loader = DataLoader(data, batch_size=args.batch, num_workers=args.workers, worker_init_fn=account.worker,
                        multiprocessing_context="fork" if args.workers else None)
    with account.wait():
        batches = iter(loader)
    for _ in range(args.iters):
        with account.wait():
            batch = next(batches)
        yield batch


def batches_by_itself(args, account):
    for _ in range(args.iters):
        with account.time("read"):
            # mapped anew for each batch, else all pages that were read would stay this process's
            tokens = np.memmap(args.data, dtype=np.uint16, mode="r")
            begins = torch.randint(len(tokens) - BLOCK, (args.batch,)).tolist()
            pairs = [window(tokens, at) for at in begins]
        yield [torch.stack(part) for part in zip(*pairs)]


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("data")
    p.add_argument("--workers", type=int, default=0)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--iters", type=int, default=20)
    p.add_argument("--cpu-ms", type=float, default=40, help="of training with each batch")
    args = p.parse_args()

    account = Account(args.workers)
    torch.set_num_threads(1)
    torch.manual_seed(1337)
    model = torch.nn.Sequential(torch.nn.Embedding(VOCABULARY, 32), torch.nn.Linear(32, VOCABULARY))
    optimizer = torch.optim.AdamW(model.parameters())
    print(f"number of parameters: {sum(p.numel() for p in model.parameters()) / 1e6:.2f}M")
    began = time.monotonic()
    for number, (x, y) in enumerate((batches_of_workers if args.workers else batches_by_itself)(args, account)):
        with account.time("compute"):
            end = time.thread_time_ns() + args.cpu_ms * 1e6
            while time.thread_time_ns() < end:
                loss = torch.nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
        took, began = time.monotonic() - began, time.monotonic()
        if number % 5 == 0:
            print(f"iter {number}: loss {loss.item():.4f}, time {took * 1000:.2f}ms")
    account.close()


if __name__ == "__main__":
    main()
