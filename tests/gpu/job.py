#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""job.py KIND FOLDER ACCOUNT: a PyTorch job on one NVIDIA GPU that knows nothing of dltraced, and keeps its own account.

KIND is what it is made to wait for: `read', uncached files read by two workers; `compute', the GPU itself; `save',
checkpoints written and synced; `inline', uncached files read by the trainer, without workers. `--prepare' makes FOLDER.

ACCOUNT is JSON, ns of CLOCK_MONOTONIC: begin, end, and how long the training loop was in fetch, step (the GPU's work
waited for) and save; steps; begin_at and end_at, seconds since the epoch. Prints what scripts print: a line an epoch.
"""
import json
import os
import pathlib
import sys
import time

FILES, SIZE, BATCH = 480, 8 << 20, 8
now = time.monotonic_ns


def prepare(folder):
    folder.mkdir(parents=True, exist_ok=True)
    block = os.urandom(SIZE)
    for i in range(FILES):
        with open(folder / f"sample.{i:04}", "wb") as f:
            f.write(block)
            f.flush()
            os.fsync(f.fileno())


def uncache(folder):
    """Drops the files from the page cache, at once as they are clean."""
    for path in folder.iterdir():
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def main():
    kind, folder, account = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Samples(Dataset):
        """One file per sample; some of its bytes are the input."""

        def __len__(self):
            return FILES if kind in ("read", "inline") else 200

        def __getitem__(self, index):
            if kind in ("read", "inline"):
                data = torch.frombuffer(bytearray((folder / f"sample.{index:04}").read_bytes()), dtype=torch.uint8)
                return data[:4096].float() / 255
            return torch.rand(4096)

    size = 16384 if kind == "compute" else 4096
    model = torch.nn.Sequential(torch.nn.Linear(4096, size), torch.nn.ReLU(), torch.nn.Linear(size, 4096)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    workers = {"inline": 0}.get(kind, 2)
    loader = DataLoader(Samples(), batch_size=BATCH, shuffle=True, num_workers=workers)
    a = torch.rand(16384, 16384, device="cuda", dtype=torch.bfloat16)
    spent = {"fetch": 0, "step": 0, "save": 0, "steps": 0}
    epochs = {"compute": 4}.get(kind, 2)
    torch.cuda.synchronize()
    spent["begin"], spent["begin_at"] = now(), time.time()
    for epoch in range(epochs):
        if kind in ("read", "inline"):
            uncache(folder)
        at = now()
        for batch in loader:
            spent["fetch"] += now() - at
            at = now()
            optimizer.zero_grad()
            loss = model(batch.cuda()).square().mean()
            loss.backward()
            optimizer.step()
            if kind == "compute":
                for _ in range(12):
                    a @ a
            torch.cuda.synchronize()
            spent["step"] += now() - at
            spent["steps"] += 1
            at = now()
        spent["fetch"] += now() - at
        if kind == "save":
            at = now()
            for part in range(2):
                with open(folder / f"checkpoint-{part}.pt", "wb") as f:
                    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "more": a}, f)
                    f.flush()
                    os.fsync(f.fileno())
            spent["save"] += now() - at
        print(f"epoch {epoch}: loss {loss.item():.4f}", flush=True)
    spent["end"], spent["end_at"] = now(), time.time()
    account.write_text(json.dumps(spent), encoding="ascii")


if __name__ == "__main__":
    if sys.argv[1] == "--prepare":
        prepare(pathlib.Path(sys.argv[2]))
    else:
        main()
