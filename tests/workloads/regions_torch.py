#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""regions_torch.py METHOD [persistent] [OPTIMIZER]: a PyTorch job that knows nothing of regions.

Two epochs of eight batches by two workers, a checkpoint after each. Prints its losses with all digits. METHOD: fork,
spawn, forkserver, none.
"""
import io
import sys

import torch
from torch.utils.data import DataLoader, Dataset


class Own(torch.optim.Optimizer):
    """An optimizer that is not one of torch's."""

    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad, alpha=-group["lr"])


class Samples(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.arange(8.0) * (index + 1) / 64


def main():
    method = sys.argv[1]
    optimizers = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "own": Own}
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Linear(8, 1)
    optimizer = next((optimizers[a] for a in sys.argv[2:] if a in optimizers), torch.optim.SGD)(model.parameters(), lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    workers = {} if method == "none" else {"num_workers": 2, "multiprocessing_context": method,
                                           "persistent_workers": "persistent" in sys.argv}
    loader = DataLoader(Samples(), batch_size=8, shuffle=True, **workers)
    saved = io.BytesIO()
    for _ in range(2):
        for batch in loader:
            optimizer.zero_grad()
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
            print(loss.item().hex())
        schedule.step()
        saved = io.BytesIO()
        torch.save(model.state_dict(), saved)
    saved.seek(0)
    model.load_state_dict(torch.load(saved))


if __name__ == "__main__":
    main()
