#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Train on shards: tar files of samples. Of N workers, each reads every N-th shard from begin to end."""
import argparse
import pathlib
import tarfile
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from account import Account
from lines import Bar

FEATURES = 1024


class Shards(IterableDataset):
    def __init__(self, folder, account):
        with account.time("open"):
            self.paths = sorted(pathlib.Path(folder).glob("*.tar"))
        self.account = account

    def __iter__(self):
        info = get_worker_info()
        for path in self.paths[info.id::info.num_workers]:
            yield from self.samples(path)

    def samples(self, path):
        """As a stream: members are read in order, without seeking."""
        with self.account.time("open"):
            f = open(path, "rb")
        with self.account.time("read"):
            tar = tarfile.open(fileobj=f, mode="r|")
        while True:
            with self.account.time("read"):
                member = tar.next()
                raw = tar.extractfile(member).read() if member else None
            if raw is None:
                break
            with self.account.time("decode"):
                sample = torch.from_numpy(np.frombuffer(raw, dtype=np.uint8, count=FEATURES).astype(np.float32) / 255)
            yield sample, int(member.name.split(".")[0]) % 10
        f.close()


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("data")
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--batch", type=int, default=8)
    p.add_argument("--steps", type=int, default=30, help="that there are, as the bar has it")
    p.add_argument("--gpu-ms", type=float, default=20)
    args = p.parse_args()

    account = Account(args.workers)
    torch.set_num_threads(1)
    model = torch.nn.Linear(FEATURES, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Shards(args.data, account), batch_size=args.batch, num_workers=args.workers,
                        worker_init_fn=account.worker,
                        multiprocessing_context="fork" if args.workers else None)
    bar, losses = Bar("train", args.steps), []
    with account.wait():
        batches = iter(loader)
    while True:
        with account.wait():
            batch = next(batches, None)
        if batch is None:
            break
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        with account.time("gpu"):
            time.sleep(args.gpu_ms / 1000)
        losses.append(loss.item())
        bar.update(loss=losses[-1])
    bar.close()
    del batches
    print(f"epoch 0: loss {sum(losses) / len(losses):.2f}")
    account.close()


if __name__ == "__main__":
    main()
