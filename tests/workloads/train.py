#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""train: a real PyTorch job, but a small one: DataLoader with forked workers, torch.save, os.replace.

    train.py --prepare DIR      makes the data set, DIR/sample.NNNNNN (no torch needed)
    train.py DIR                trains on it, DIR/checkpoint.pt at the end of every epoch

The phases are MLPerf lines (:::MLLOG) on stdout; the last line counts what was read and saved. Every worker adds a line
to DIR/workers: epoch, worker, pid, with TABs between. It needs the distribution's interpreter, as python3-torch does.
"""
import argparse
import inspect
import json
import os
import pathlib
import random
import time


def parse_args():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("dir", type=pathlib.Path)
    p.add_argument("--prepare", action="store_true", help="make the data set and end")
    p.add_argument("--files", type=int, default=512)
    p.add_argument("--bytes", type=int, default=16384, help="of each file")
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--passes", type=int, default=1, help="forward and backward, with each batch")
    p.add_argument("--account", type=pathlib.Path, help="file for the trainer's times, as staged.py writes it")
    return p.parse_args()


def sample_path(folder, index):
    return folder / f"sample.{index:06}"


def prepare(args):
    rng = random.Random(args.seed)
    args.dir.mkdir(parents=True, exist_ok=True)
    for i in range(args.files):
        sample_path(args.dir, i).write_bytes(rng.randbytes(args.bytes))


def mllog(event_type, key, **metadata):
    """The line format of github.com/mlcommons/logging."""
    entry = {
        "namespace": "",
        "time_ms": time.time_ns() // 1000000,
        "event_type": event_type,
        "key": key,
        "value": None,
        "metadata": {"file": "train.py", "lineno": inspect.currentframe().f_back.f_lineno, **metadata},
    }
    print(":::MLLOG", json.dumps(entry), flush=True)


def timed(loader, spent):
    """Yields the loader's batches; adds the times of waiting for them and of using them to SPENT."""
    batches = iter(loader)
    while True:
        begin = time.monotonic_ns()
        batch = next(batches, None)
        got = time.monotonic_ns()
        spent["wait_ns"] += got - begin
        if batch is None:
            return
        yield batch
        spent["step_ns"] += time.monotonic_ns() - got


def write_account(path, spent):
    with open("/proc/self/schedstat", encoding="ascii") as f:
        spent["cpu_ns"], spent["runq_ns"] = map(int, f.read().split()[:2])
    path.write_text(json.dumps({"job": "train", "trainer": {"pid": os.getpid(), **spent}, "workers": []}, indent=1))


def train(args):
    mllog("INTERVAL_START", "init_start")
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Samples(Dataset):
        """One file per sample; the first byte is the label."""

        def __len__(self):
            return args.files

        def __getitem__(self, index):
            with open(sample_path(args.dir, index), "rb") as f:
                data = torch.frombuffer(bytearray(f.read()), dtype=torch.uint8)
            return data.float() / 255, data[0].long() % 10

    def note_worker(worker):
        with open(args.dir / "workers", "a") as f:
            f.write(f"{epoch}\t{worker}\t{os.getpid()}\n")

    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(args.bytes, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Samples(), batch_size=args.batch, shuffle=True, num_workers=args.workers,
                        multiprocessing_context="fork", worker_init_fn=note_worker)
    (args.dir / "workers").unlink(missing_ok=True)
    samples, spent = 0, {"wait_ns": 0, "step_ns": 0}
    mllog("INTERVAL_END", "init_stop")

    mllog("INTERVAL_START", "run_start")
    for epoch in range(1, args.epochs + 1):
        mllog("INTERVAL_START", "epoch_start", epoch_num=epoch)
        for data, label in timed(loader, spent):
            for _ in range(args.passes):
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(data), label).backward()
                optimizer.step()
            samples += len(label)
        mllog("INTERVAL_END", "epoch_stop", epoch_num=epoch)

        mllog("INTERVAL_START", "checkpoint_start", epoch_num=epoch)
        tmp = args.dir / "checkpoint.pt.tmp"
        torch.save({"epoch": epoch, "model": model.state_dict()}, tmp)
        os.replace(tmp, args.dir / "checkpoint.pt")
        mllog("INTERVAL_END", "checkpoint_stop", epoch_num=epoch)
    mllog("INTERVAL_END", "run_stop", status="success")
    if args.account:
        write_account(args.account, spent)
    print("samples", samples, "bytes", samples * args.bytes, "checkpoints", args.epochs,
          "checkpoint_bytes", (args.dir / "checkpoint.pt").stat().st_size)


if __name__ == "__main__":
    options = parse_args()
    if options.prepare:
        prepare(options)
    else:
        train(options)
