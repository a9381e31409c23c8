#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""annotated.py [ours] FOLDER: a PyTorch job with the annotations of DFTracer 2, which does nothing for them unless
DFTRACER_ENABLE=1 is in the environment; then it leaves FOLDER/job*.pfw. ours: the names are those of the package dltraced.

Three epochs of batches of files of FOLDER, which are made here, with a checkpoint after each.
"""
import pathlib
import sys
import time

ours = sys.argv[1] == "ours"
if ours:
    import dltraced.dftracer

    dltraced.dftracer.install(replace=True)

import torch
from dftracer.python import ai, dftracer
from torch.utils.data import DataLoader, Dataset

EPOCHS, FILES, BATCH = 3, 22, 4


class Samples(Dataset):
    def __init__(self, folder):
        self.paths = [folder / f"{i:02}.bin" for i in range(FILES)]

    def __len__(self):
        return len(self.paths)

    @ai.data.item
    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.tensor([self.paths[index].read_bytes()[0] / 255])


@ai.compute.forward
def forward(model, batch):
    return model(batch).square().mean()


def main():
    folder = pathlib.Path(sys.argv[-1])
    folder.mkdir(exist_ok=True)
    for path in Samples(folder).paths:
        path.write_bytes(bytes([7]) * 4096)
    log = dftracer.initialize_log(str(folder / "job.pfw"), None, -1)
    torch.set_num_threads(1)
    model = torch.nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader, step = DataLoader(Samples(folder), batch_size=BATCH), 0
    for epoch in ai.pipeline.epoch.iter(range(EPOCHS)):
        ai.update(epoch=epoch)
        for batch in ai.dataloader.fetch.iter(loader):
            ai.update(step=step)
            optimizer.zero_grad()
            loss = forward(model, batch)
            with ai.compute.backward:
                loss.backward()
            ai.compute.step.start()
            optimizer.step()
            ai.compute.step.stop()
            step += 1
        with ai.checkpoint.capture:
            torch.save(model.state_dict(), folder / "saved")
    log.finalize()


if __name__ == "__main__":
    main()
