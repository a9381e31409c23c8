#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""steps_torch.py WORKERS FOLDER ACCOUNT: a PyTorch job that knows nothing of regions, but knows when it trained.

It trains for three epochs of 25 batches of files of FOLDER, which are made here, with a checkpoint after each. ACCOUNT is
JSON, ns of CLOCK_MONOTONIC: `outer', from before the first iteration to after the last checkpoint, and `inner', from
within the start of the first iteration to within the last checkpoint; `steps'; `samples' of each epoch, of which
the last batch has fewer; `fetches', how long the loop waited for all batches together, by a clock around each wait. After
each epoch it evaluates, which trains nothing.
"""
import json
import pathlib
import sys
import time

import torch
from torch.utils.data import DataLoader, Dataset

now = time.monotonic_ns
EPOCHS, BATCHES, BATCH, SIZE = 3, 25, 4, 64 << 10
inner = []


class Samples(Dataset):
    def __init__(self, folder):
        self.paths = [folder / f"sample.{i:03}" for i in range(BATCHES * BATCH - 1)]

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        return torch.tensor([self.paths[index].read_bytes()[0] / 255])


class Loader(DataLoader):
    def _get_iterator(self):
        inner.append(now())
        return super()._get_iterator()


class Out:
    """A file that discards a checkpoint, and notes its writes."""

    def write(self, data):
        inner.append(now())
        return len(data)

    def flush(self):
        pass


def main():
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(exist_ok=True)
    for path in Samples(folder).paths:
        path.write_bytes(bytes(SIZE))
    torch.set_num_threads(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = Loader(Samples(folder), batch_size=BATCH, num_workers=int(sys.argv[1]))
    evaluated = DataLoader(Samples(folder), batch_size=50)
    begin, fetches, samples = now(), 0, []
    for _ in range(EPOCHS):
        samples.append(0)
        at = now()
        for batch in loader:
            fetches += now() - at
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
            samples[-1] += len(batch)
            at = now()
        with torch.no_grad():
            for batch in evaluated:
                model(batch)
        fetches += now() - at
        torch.save(model.state_dict(), Out())
    end = now()
    pathlib.Path(sys.argv[3]).write_text(json.dumps({
        "outer": end - begin, "inner": inner[-1] - inner[0], "steps": EPOCHS * BATCHES, "samples": samples,
        "fetches": fetches}), encoding="ascii")


if __name__ == "__main__":
    main()
