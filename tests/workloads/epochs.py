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


# --- frameworks -----------------------------------------------------------------------------------


class Mmengine(Shape):
    """Every fourth step, and the validation, which has the number of its epoch."""

    def step(self, epoch, done, of, seconds):
        if done and done % 4 == 0:
            self.out(f"04/15 16:50:26 - mmengine - INFO - Epoch(train) [{epoch}][{done:3}/{of}]  lr: 1.9820e-03  eta: 0:00:15  "
                     f"time: 0.3082  data_time: 0.0042  memory: 3312  loss: 1.4919")

    def end(self, epoch, loss):
        self.out(f"04/15 16:50:26 - mmengine - INFO - Epoch(val) [{epoch}][5/5]    accuracy: 7.5000  data_time: 0.0044  time: 0.0146")


class Yolo(Shape):
    """A row of a table that is a bar; the validation is a bar of its own."""

    def bar(self, text, done, of, seconds):
        self.out(f"\r{text}: {100 * done // of:3}%|{'█' * (10 * done // of):10}| {done}/{of} [00:{int(seconds):02}<00:01,  1.68it/s]",
                 "\n" if done == of else "", sys.stderr)

    def begin(self, epoch):
        self.out("\n" + "".join(f"{name:>11}" for name in ("Epoch", "GPU_mem", "box_loss", "cls_loss", "dfl_loss", "Instances", "Size")),
                 file=sys.stderr)

    def step(self, epoch, done, of, seconds):
        self.bar(f"{f'{epoch}/{self.last}':>11}{'0G':>11}{1.222:>11}{1.679:>11}{1.368:>11}{5:>11}{640:>11}", done, of, seconds)

    def end(self, epoch, loss):
        self.bar(f"{'Class':>22}{'Images':>11}{'Instances':>11}{'Box(P':>11}{'R':>11}{'mAP50':>11}{'mAP50-95)':>11}", 2, 2, 0)
        self.out(f"{'all':>22}{128:>11}{929:>11}{0.64:>11}{0.53:>11}{0.5:>11}{0.4:>11}")


class Fastai(Shape):
    """A table whose first column counts from 0; on a terminal there would be bars, too."""

    def start(self):
        self.out("epoch     train_loss  valid_loss  accuracy  time    ")

    def end(self, epoch, loss):
        self.out(f"{epoch:<10}{loss:<12.6f}{loss:<12.6f}{1 - loss / 2:<10.6f}{'00:01':<10}")


class Timm(Shape):
    def step(self, epoch, done, of, seconds):
        if done and done % 4 == 0:
            self.out(f"Train: {epoch} [{done - 1:>4d}/{of} ({100 * (done - 1) / (of - 1):>3.0f}%)]  Loss:  6.926911 (6.9269)  "
                     f"Time: 0.170s,    5.52/s  (0.170s,    5.52/s)  LR: 1.000e-06  Data: 0.005 (0.005)")

    def end(self, epoch, loss):
        self.out("Test: [   4/4]  Time: 2.100 (2.100)  Loss:  6.9000 (6.9000)  Acc@1:  0.1000 ( 0.1000)  Acc@5:  0.5000 ( 0.5000)")


class Espnet(Shape):
    def say(self, text):
        at = time.time()
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
        self.out(f"[host] {stamp},{int(at % 1 * 1000):03} (trainer:732) INFO: {text}", file=sys.stderr)

    def begin(self, epoch):
        self.say(f"{epoch}/{self.last}epoch started" + ". Estimated time to finish: 7.6 seconds" * (epoch > self.args.first))

    def step(self, epoch, done, of, seconds):
        if done and done % 4 == 0:
            self.say(f"{epoch}epoch:train:{done - 3}-{done}batch: iter_time=0.003, forward_time=0.095, loss=80.856, train_time=0.2")

    def end(self, epoch, loss):
        self.say(f"{epoch}epoch results: [train] iter_time=0.164, loss={loss}, time=1.19 seconds, total_count=49, [valid] loss=4")


class Torchtune(Bar):
    def draw(self, epoch, done, of, seconds, end=""):
        self.out(f"\r{epoch}|{done}|Loss: 0.8484776020050049: {100 * done // of:3}%|{'█' * (10 * done // of):10}| {done}/{of} "
                 f"[00:{int(seconds):02}<00:01,  2.88it/s]", end, sys.stderr)


class Tensorflow(Shape):
    """Steps alone."""

    def start(self):
        self.steps = 0

    def step(self, epoch, done, of, seconds):
        self.steps += done > 0
        if done and self.steps % 4 == 1:
            self.out(f"INFO:tensorflow:loss = 2.3, step = {self.steps} (0.5 sec)", file=sys.stderr)


class Detectron2(Tensorflow):
    def step(self, epoch, done, of, seconds):
        self.steps += done > 0
        if done and self.steps % 4 == 0:
            self.out(f"[11/21 10:00:00 d2.utils.events]:  eta: 0:12:33  iter: {self.steps - 1}  total_loss: 5.922  loss_cls: 1.709  "
                     f"time: 0.8241  data_time: 0.8461  lr: 3.9962e-05  max_mem: 1966M")


class Unknown(Shape):
    """Lines whose form no program knows."""

    def end(self, epoch, loss):
        self.out(f"round {epoch} of {self.last} is over")


SHAPES = {
    "none": Shape, "results": Results, "train-and-val": TrainAndVal, "json": JsonLines, "headings": Headings,
    "best-so-far": BestSoFar, "heading-and-result": HeadingAndResult, "named": Named, "every": Every, "bar": Bar,
    "lightning": Lightning, "keras": Keras, "trainer": Trainer, "mllog": Mlperf, "mmengine": Mmengine, "yolo": Yolo,
    "fastai": Fastai, "timm": Timm, "espnet": Espnet, "torchtune": Torchtune, "tensorflow": Tensorflow,
    "detectron2": Detectron2, "unknown": Unknown,
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
