#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Train on data in memory, and save a checkpoint every few steps, which is synced to the disk before training goes on."""
import argparse
import os
import pathlib
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

from account import Account

FEATURES, HIDDEN = 1024, 256  # a checkpoint of 1 MiB; 3 MiB with the two values that Adam keeps for each parameter


def save(folder, step, model, optimizer):
    part, whole = folder / "checkpoint.pt.tmp", folder / f"checkpoint-{step}.pt"
    with open(part, "wb") as f:
        torch.save({"step": step, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(part, whole)
    print(f"saved checkpoint {whole}")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--steps", type=int, default=40)
    p.add_argument("--save-every", type=int, default=5)
    p.add_argument("--gpu-ms", type=float, default=30)
    args = p.parse_args()

    account = Account()
    torch.set_num_threads(1)
    args.out.mkdir(exist_ok=True)
    data = TensorDataset(torch.rand(256, FEATURES), torch.randint(10, (256,)))
    model = torch.nn.Sequential(torch.nn.Linear(FEATURES, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 10))
    optimizer = torch.optim.Adam(model.parameters())
    step = epoch = 0
    while step < args.steps:
        for x, y in DataLoader(data, batch_size=32, shuffle=True):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            with account.time("gpu"):
                time.sleep(args.gpu_ms / 1000)
            step += 1
            if step % args.save_every == 0:
                with account.time("checkpoint"):
                    save(args.out, step, model, optimizer)
            if step == args.steps:
                break
        print(f"epoch {epoch}: loss {loss.item():.2f}")
        epoch += 1
    account.close()


if __name__ == "__main__":
    main()
