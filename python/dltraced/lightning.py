# SPDX-License-Identifier: BSD-2-Clause
"""Regions of a Lightning trainer: Trainer(callbacks=[dltraced.lightning.Regions()]), which knows its steps and
epochs better than auto.py, and takes its place."""
from __future__ import annotations

from typing import Any

from . import ai, auto

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback  # type: ignore[no-redef]


class Regions(Callback):
    """Training and its epochs, its batches as ai.compute.step with their samples, backward passes, evaluation, tests, and
    the fetches of all DataLoaders, as auto.py marks them."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        auto.install(auto.LOADERS)

    def _begin(self, name: Any, **fields: Any) -> None:
        self._open.append(name(**fields).start())

    def _end(self) -> None:
        if self._open:
            self._open.pop().stop()

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._begin(ai.pipeline.train)

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._end()

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        auto.reached(trainer.current_epoch, trainer.global_step)
        self._begin(ai.pipeline.epoch, epoch=trainer.current_epoch)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._end()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self._begin(ai.compute.step, epoch=trainer.current_epoch, step=trainer.global_step, **auto.samples())

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        self._end()
        auto.reached(trainer.current_epoch, trainer.global_step)

    def on_before_backward(self, trainer: Any, pl_module: Any, loss: Any) -> None:
        self._begin(ai.compute.backward, epoch=trainer.current_epoch, step=trainer.global_step)

    def on_after_backward(self, trainer: Any, pl_module: Any) -> None:
        self._end()

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        self._begin(ai.pipeline.evaluate, epoch=trainer.current_epoch)

    def on_validation_end(self, trainer: Any, pl_module: Any) -> None:
        self._end()

    def on_test_start(self, trainer: Any, pl_module: Any) -> None:
        self._begin(ai.pipeline.test)

    def on_test_end(self, trainer: Any, pl_module: Any) -> None:
        self._end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        while self._open:
            self._open.pop().__exit__(type(exception), exception, None)
