#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""frameworks: trains a small network with the real trainers and data sets that people use, which print as they always do.

    frameworks.py lightning|transformers|keras|tqdm|datasets|webdataset DIR ACCOUNT [--epochs N] [--workers N] [--callback]

The samples are files of DIR, which are made here if they are missing. Each trainer prints with its defaults. ACCOUNT is
JSON, ns of CLOCK_MONOTONIC, by the trainer's own callbacks: epochs as [begin, end], and the number that the trainer gives
the first one; of each epoch the number of batches and of samples, by the length of each batch. --callback: with the one
of the package dltraced.
"""
import argparse
import json
import os
import pathlib
import time

os.environ["KERAS_BACKEND"] = "torch"
import torch

now = time.monotonic_ns
FILES, SIZE, BATCH = 475, 4096, 16


class Samples(torch.utils.data.Dataset):
    def __init__(self, folder):
        self.paths = sorted(folder.glob("*.bin"))

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        data = torch.frombuffer(bytearray(self.paths[i].read_bytes()), dtype=torch.uint8)
        time.sleep(0.002)  # as a decoder would
        return data[:256].float() / 255, int(data[0]) % 2


def network():
    return torch.nn.Sequential(torch.nn.Linear(256, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))


class Account:
    def __init__(self, first):
        self.first, self.epochs, self.batches, self.samples = first, [], [], []

    def begin(self):
        self.epochs.append([now(), 0])
        self.batches.append(0)
        self.samples.append(0)

    def batch(self, samples):
        self.batches[-1] += 1
        self.samples[-1] += samples

    def end(self):
        self.epochs[-1][1] = now()


def train(args, loader, account, shown=lambda loader, epoch: loader):
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(args.epochs):
        account.begin()
        for x, y in shown(loader, epoch):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            account.batch(len(x))
        account.end()


def by_tqdm(args, loader, account):
    from tqdm import tqdm

    train(args, loader, account, lambda loader, epoch: tqdm(loader, desc=f"Epoch {epoch}"))


def by_datasets(args, loader, account):
    import datasets

    rows = [loader.dataset[i] for i in range(FILES)]
    table = datasets.Dataset.from_dict({"x": [x.tolist() for x, _ in rows], "y": [y for _, y in rows]}).with_format("torch")
    loader = torch.utils.data.DataLoader(table, BATCH, shuffle=True, num_workers=args.workers)
    train(args, loader, account, lambda loader, _: ((batch["x"], batch["y"]) for batch in loader))


def by_webdataset(args, loader, account):
    import webdataset

    for shard in range(args.workers):
        with webdataset.TarWriter(str(args.dir / f"{shard}.tar")) as out:
            for i in range(shard, FILES, args.workers):
                out.write({"__key__": f"{i:04}", "pth": loader.dataset[i]})
    shards = [str(path) for path in sorted(args.dir.glob("*.tar"))]
    samples = webdataset.WebDataset(shards, shardshuffle=False).decode().to_tuple("pth").map(lambda row: row[0]).batched(BATCH)
    train(args, webdataset.WebLoader(samples, batch_size=None, num_workers=args.workers), account)


def by_lightning(args, loader, account):
    import lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = network()

        def training_step(self, batch, _):
            account.batch(len(batch[0]))
            loss = torch.nn.functional.cross_entropy(self.model(batch[0]), batch[1])
            self.log("train_loss", loss, prog_bar=True)
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.01)

        def on_train_epoch_start(self):
            account.begin()

        def on_train_epoch_end(self):
            account.end()

    callbacks = []
    if args.callback:
        import dltraced.lightning

        callbacks = [dltraced.lightning.Regions()]
    lightning.Trainer(max_epochs=args.epochs, accelerator="cpu", logger=False, enable_checkpointing=False,
                      callbacks=callbacks).fit(Module(), loader)


def by_transformers(args, loader, account):
    import transformers

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = network()

        def forward(self, x, labels=None):
            account.batch(len(x))
            out = self.model(x)
            return {"loss": torch.nn.functional.cross_entropy(out, labels), "logits": out}

    class Clock(transformers.TrainerCallback):
        def on_epoch_begin(self, *_, **__):
            account.begin()

        def on_epoch_end(self, *_, **__):
            account.end()

    def collate(samples):
        return {"x": torch.stack([s[0] for s in samples]), "labels": torch.tensor([s[1] for s in samples])}

    options = transformers.TrainingArguments(
        output_dir="out", num_train_epochs=args.epochs, per_device_train_batch_size=BATCH, save_strategy="no",
        logging_strategy="epoch", report_to=[], use_cpu=True, dataloader_num_workers=args.workers)
    callbacks = [Clock()]
    if args.callback:
        import dltraced.hf

        callbacks.append(dltraced.hf.Regions())
    transformers.Trainer(model=Model(), args=options, train_dataset=loader.dataset, data_collator=collate,
                         callbacks=callbacks).train()


def by_keras(args, loader, account):
    import keras

    class Clock(keras.callbacks.Callback):
        def on_epoch_begin(self, *_):
            account.begin()

        def on_epoch_end(self, *_):
            account.end()

    model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(2)])
    model.compile(optimizer="sgd", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(loader, epochs=args.epochs, callbacks=[Clock()])


TRAINERS = {"tqdm": (by_tqdm, 0), "lightning": (by_lightning, 0), "transformers": (by_transformers, 1), "keras": (by_keras, 1),
            "datasets": (by_datasets, 0), "webdataset": (by_webdataset, 0)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trainer", choices=TRAINERS)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("account", type=pathlib.Path)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--callback", action="store_true")
    args = parser.parse_args()
    args.dir.mkdir(exist_ok=True)
    if not any(args.dir.glob("*.bin")):
        for i in range(FILES):
            (args.dir / f"{i:04}.bin").write_bytes(os.urandom(SIZE))
    torch.set_num_threads(1)
    loader = torch.utils.data.DataLoader(Samples(args.dir), BATCH, shuffle=True, num_workers=args.workers)
    by, first = TRAINERS[args.trainer]
    account = Account(first)
    by(args, loader, account)
    args.account.write_text(json.dumps({"epochs": account.epochs, "first": account.first, "checkpoints": [],
                                        "batches": account.batches, "samples": account.samples}), encoding="ascii")


if __name__ == "__main__":
    main()
