#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Train a classifier on a folder of images, with a folder for each class.

Images are zlib-compressed pixels, like those of PNG. --decode-ms is the CPU time of cropping and filtering each of them;
a step is --cpu-ms of training on the CPU, or --gpu-ms of sleep, like a thread that waits for its GPU.
"""
import argparse
import os
import pathlib
import time
import zlib

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from account import Account
from lines import Bar

SIDE = 32  # pixels of an image in the model
FILTER = np.array([0.25, 0.5, 0.25], dtype=np.float32)


def augment(pixels, milliseconds):
    """Filters the image until it has used that much CPU time."""
    end = time.thread_time_ns() + milliseconds * 1e6
    image = pixels[:SIDE * SIDE].astype(np.float32) / 255
    while time.thread_time_ns() < end:
        image = np.convolve(image, FILTER, mode="same")
    return torch.from_numpy(image)


class ImageFolder(Dataset):
    def __init__(self, root, account, args):
        self.account, self.args = account, args
        with account.time("open"):
            self.samples = [(str(path), label) for label, folder in enumerate(sorted(pathlib.Path(root).iterdir()))
                            for path in sorted(folder.iterdir())]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, index):
        path, label = self.samples[index]
        with self.account.time("open"):
            if self.args.check and not os.path.getsize(path):
                raise ValueError(f"{path} is empty")
            f = open(path, "rb")
        with self.account.time("read"):
            raw = f.read()
        with self.account.time("open"):
            f.close()
        with self.account.time("decode"):
            return augment(np.frombuffer(zlib.decompress(raw), dtype=np.uint8), self.args.decode_ms), label


def train_step(model, optimizer, images, labels):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(images), labels % 10)
    loss.backward()
    optimizer.step()
    return loss.item()


def step(account, args, *what):
    if args.gpu_ms:
        loss = train_step(*what)
        with account.time("gpu"):
            time.sleep(args.gpu_ms / 1000)
        return loss
    with account.time("compute"):
        end = time.thread_time_ns() + args.cpu_ms * 1e6
        loss = train_step(*what)
        while time.thread_time_ns() < end:
            loss = train_step(*what)
        return loss


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("data")
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--epochs", type=int, default=1)
    p.add_argument("--decode-ms", type=float, default=0)
    p.add_argument("--cpu-ms", type=float, default=0)
    p.add_argument("--gpu-ms", type=float, default=0)
    p.add_argument("--check", action="store_true", help="for empty files")
    args = p.parse_args()

    account = Account(args.workers)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(SIDE * SIDE, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = ImageFolder(args.data, account, args)
    loader = DataLoader(data, batch_size=args.batch, shuffle=True, num_workers=args.workers, worker_init_fn=account.worker,
                        multiprocessing_context="fork" if args.workers else None)
    print(f"{len(data)} images")
    for epoch in range(1, args.epochs + 1):
        bar, losses = Bar(f"Epoch {epoch}/{args.epochs}", len(loader)), []
        with account.wait():
            batches = iter(loader)
        while True:
            with account.wait():
                batch = next(batches, None)
            if batch is None:
                break
            losses.append(step(account, args, model, optimizer, *batch))
            bar.update(loss=losses[-1])
        bar.close()
        del batches
        print(f"epoch {epoch - 1}: loss {sum(losses) / len(losses):.2f}")
    account.close()


if __name__ == "__main__":
    main()
