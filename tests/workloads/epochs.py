#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""epochs: a training job that prints its epochs as one of many programs does, and knows when they were.

    epochs.py SHAPE DIR ACCOUNT [--epochs N] [--first N] [--workers N] [--persistent] [--steps N] [--step-ms MS]
                                [--validate] [--save MIB] [--startup-ms MS]

SHAPE is a key of SHAPES; `none' prints nothing. Workers are forked for each epoch, are called pt_data_worker as PyTorch's
are, and read files of DIR, which are made here if they are missing; --workers 0: the trainer reads by itself. --save
writes a checkpoint after each epoch: two files, each written under another name, synced and renamed.

ACCOUNT is JSON, ns of CLOCK_MONOTONIC: epochs and checkpoints as [begin, end].
"""
import argparse
import ctypes
import json
import os
import pathlib
import sys
import time

now = time.monotonic_ns
FILES, SIZE = 64, 64 << 10


class Shape:
    """Prints lines at certain times; this one prints none."""

    def __init__(self, args):
        self.args = args
        self.last = args.first + args.epochs - 1
        self.began = time.monotonic()

    def out(self, text, end="\n", file=sys.stdout):
        print(text, end=end, file=file, flush=True)

    def start(self):
        pass

    def begin(self, epoch):
        pass

    def step(self, epoch, done, of, seconds):
        pass

    def trained(self, epoch, loss):
        pass

    def end(self, epoch, loss):
        pass

    def stop(self):
        pass


class Results(Shape):
    def end(self, epoch, loss):
        self.out(f"epoch {epoch}: loss {loss:.4f} acc {1 - loss / 2:.3f}")


class TrainAndVal(Shape):
    def trained(self, epoch, loss):
        self.out(f"Epoch {epoch} train_loss: {loss:.4f}")

    def end(self, epoch, loss):
        self.out(f"Epoch {epoch} val_loss: {loss:.4f}")


class JsonLines(Shape):
    def end(self, epoch, loss):
        self.out(json.dumps({"train_lr": 1e-4, "train_loss": loss, "epoch": epoch}))


class Headings(Shape):
    def begin(self, epoch):
        self.out(f"Epoch {epoch}/{self.last}\n----------")

    def trained(self, epoch, loss):
        self.out(f"train Loss: {loss:.4f} Acc: {1 - loss / 2:.4f}")


class BestSoFar(Shape):
    """A line for a begin that looks like one for an end."""

    def begin(self, epoch):
        self.out(f"Epoch {epoch}, lr 0.001, best loss {1 / (epoch + 1):.4f}")


class HeadingAndResult(Headings):
    def end(self, epoch, loss):
        self.out(f"Epoch {epoch}/{self.last} loss {loss:.4f}")


class Named(Shape):
    def begin(self, epoch):
        self.out(f"Starting epoch {epoch}")

    def end(self, epoch, loss):
        self.out(f"Epoch {epoch} finished")


class Every(Shape):
    """Every fifth step, with its part of the epoch."""

    def step(self, epoch, done, of, seconds):
        if done % 5 == 0:
            self.out(f"Epoch: [{epoch}][{done:3}/{of}]\tTime {seconds / max(done, 1):.3f}\tLoss 1.0")


class Bar(Shape):
    """One bar for each epoch, drawn over itself, like tqdm's."""

    def draw(self, epoch, done, of, seconds, end=""):
        clock = f"{int(seconds) // 60:02}:{int(seconds) % 60:02}"
        self.out(f"\rEpoch {epoch}: {100 * done // of:3}%|{'#' * (10 * done // of):10}| {done}/{of} [{clock}<00:01,  5.00it/s"
                 f"{self.more()}]", end, sys.stderr)

    def more(self):
        return ""

    def step(self, epoch, done, of, seconds):
        self.draw(epoch, done, of, seconds, "\n" if done == of else "")


class Lightning(Bar):
    """The bar of an epoch stays, and is drawn once more with the results."""

    def more(self):
        return ", v_num=0, train_loss=0.5"

    def step(self, epoch, done, of, seconds):
        self.draw(epoch, done, of, seconds)

    def stop(self):
        self.out("\n`Trainer.fit` stopped: `max_epochs` reached.")


class Keras(Shape):
    def begin(self, epoch):
        self.out(f"Epoch {epoch}/{self.last}")

    def step(self, epoch, done, of, seconds):
        self.out(f"\r{done}/{of} [{'=' * (10 * done // of):.<10}] - {int(seconds)}s 60ms/step - loss: 0.5000",
                 "\n" if done == of else "")


class Trainer(Shape):
    """The lines of Hugging Face, one for each epoch."""

    def end(self, epoch, loss):
        self.out(str({"loss": round(loss, 4), "learning_rate": 5e-05, "epoch": float(epoch + 1)}))

    def start(self):
        self.began = time.monotonic()

    def stop(self):
        self.out(str({"train_runtime": round(time.monotonic() - self.began, 4), "train_loss": 0.5,
                      "epoch": float(self.last + 1)}))


class Mlperf(Shape):
    def say(self, event, key, epoch):
        self.out(":::MLLOG " + json.dumps({"namespace": "", "time_ms": time.time_ns() // 10**6,
                                           "event_type": f"INTERVAL_{event}", "key": key, "value": None,
                                           "metadata": {"file": "epochs.py", "lineno": 1, "epoch_num": epoch}}))

    def begin(self, epoch):
        self.say("START", "epoch_start", epoch)

    def end(self, epoch, loss):
        self.say("END", "epoch_stop", epoch)


SHAPES = {
    "none": Shape, "results": Results, "train-and-val": TrainAndVal, "json": JsonLines, "headings": Headings,
    "best-so-far": BestSoFar, "heading-and-result": HeadingAndResult, "named": Named, "every": Every, "bar": Bar,
    "lightning": Lightning, "keras": Keras, "trainer": Trainer, "mllog": Mlperf,
}


# --- work -----------------------------------------------------------------------------------------


def read(path):
    with open(path, "rb", buffering=0) as f:
        while f.read(SIZE):
            pass


def fork_worker(paths, requests, done):
    pid = os.fork()
    if pid:
        return pid
    ctypes.CDLL(None).prctl(15, b"pt_data_worker", 0, 0, 0)  # PR_SET_NAME
    for path in paths:
        os.read(requests, 1)
        read(path)
        os.write(done, b".")
    os._exit(0)


class Loader:
    """take() returns after N more samples were read, by workers, which read AHEAD samples in advance, or by this process."""

    AHEAD = 8

    def __init__(self, paths, workers):
        self.paths, self.pids, self.pipes = paths, [], []
        if workers:
            self.pipes = [*os.pipe(), *os.pipe()]
            os.write(self.pipes[1], b"." * self.AHEAD)
            self.pids = [fork_worker(paths[i::workers], self.pipes[0], self.pipes[3]) for i in range(workers)]

    def take(self, n):
        if self.pids:
            os.write(self.pipes[1], b"." * n)
            while n:
                n -= len(os.read(self.pipes[2], n))
            return
        for path in self.paths[:n]:
            read(path)
        self.paths = self.paths[n:]

    def close(self):
        if self.pids:  # lets the workers read the rest
            os.write(self.pipes[1], b"." * len(self.paths))
        for pid in self.pids:
            os.waitpid(pid, 0)
        for fd in self.pipes:
            os.close(fd)


def save(folder, epoch, mib):
    """Writes both files of a checkpoint, and notes the times."""
    begin = now()
    for name in "model", "optimizer":
        path = folder / f"{name}-{epoch}.pt"
        with open(f"{path}.tmp", "wb", buffering=0) as f:
            for _ in range(mib):
                f.write(bytes(1 << 20))
            os.fsync(f.fileno())
        os.rename(f"{path}.tmp", path)
    return [begin, now()]


def train(args, paths, shape, account):
    steps, each = args.steps, len(paths) // args.steps
    kept = Loader(paths * args.epochs, args.workers) if args.persistent else None

    for epoch in range(args.first, args.first + args.epochs):
        begin, loss = now(), 1 / (epoch + 1)
        shape.begin(epoch)
        loader = kept or Loader(paths, args.workers)
        shape.step(epoch, 0, steps, 0)
        for step in range(1, steps + 1):
            loader.take(each)
            time.sleep(args.step_ms / 1000)
            shape.step(epoch, step, steps, (now() - begin) / 10**9)
        if not kept:
            loader.close()
        shape.trained(epoch, loss)
        if args.validate:
            loader = Loader(paths[: len(paths) // 4], min(args.workers, 1))
            loader.take(len(paths) // 4)
            time.sleep(2 * args.step_ms / 1000)
            loader.close()
        shape.end(epoch, loss)
        account["epochs"].append([begin, now()])
        if args.save:
            account["checkpoints"].append(save(args.folder, epoch, args.save))
    if kept:
        kept.close()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("shape", choices=SHAPES)
    p.add_argument("folder", type=pathlib.Path)
    p.add_argument("account")
    for name, default in (("epochs", 4), ("first", 0), ("workers", 2), ("steps", 16), ("step-ms", 40), ("save", 0),
                          ("startup-ms", 300)):
        p.add_argument(f"--{name}", type=int, default=default)
    p.add_argument("--persistent", action="store_true")
    p.add_argument("--validate", action="store_true")
    args = p.parse_args()
    args.folder.mkdir(exist_ok=True)
    paths = [args.folder / f"sample.{i:04}" for i in range(FILES)]
    for path in paths:
        if not path.exists():
            path.write_bytes(os.urandom(SIZE))
    account = {"epochs": [], "checkpoints": []}
    shape = SHAPES[args.shape](args)
    time.sleep(args.startup_ms / 1000)
    shape.start()
    train(args, paths, shape, account)
    shape.stop()
    with open(args.account, "w", encoding="ascii") as f:
        json.dump(account, f)


if __name__ == "__main__":
    main()
