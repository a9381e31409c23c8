#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Load a model as safetensors are loaded, by mapping the file and copying each tensor out of it, and train it.

The file: 8 bytes with the header's length, the header (JSON: name to dtype, shape and data_offsets), the tensors.
"""
import argparse
import json
import struct
import time

import torch

from account import Account
from lines import Bar

LAYERS, WIDTH = 5, 1024  # 4 MiB each


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def tensors(path):
    with open(path, "rb") as f:
        length = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(length))
        size = f.seek(0, 2)
    memory = torch.from_file(path, dtype=torch.uint8, size=size)
    for name, tensor in header.items():
        begin, end = (8 + length + at for at in tensor["data_offsets"])
        yield name, memory[begin:end].view(torch.float32).view(tensor["shape"])


def load(model, path):
    parameters = model.state_dict()
    for name, tensor in tensors(path):
        parameters[name].copy_(tensor)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("model")
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--cpu-ms", type=float, default=60)
    args = p.parse_args()

    account = Account()
    torch.set_num_threads(1)
    model = Model()
    print(f"loading {args.model}")
    with account.time("read"):
        load(model, args.model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    bar = Bar("train", args.steps)
    for _ in range(args.steps):
        with account.time("compute"):
            x, end = torch.rand(8, WIDTH), time.thread_time_ns() + args.cpu_ms * 1e6
            while time.thread_time_ns() < end:
                loss = (model(x) - x).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        bar.update(loss=loss.item())
    bar.close()
    print(f"epoch 0: loss {loss.item():.2f}")
    account.close()


if __name__ == "__main__":
    main()
