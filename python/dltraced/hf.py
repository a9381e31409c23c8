# SPDX-License-Identifier: BSD-2-Clause
"""Regions of a trainer of Hugging Face: Trainer(callbacks=[dltraced.hf.Regions()]). Not beside `python -m dltraced`, which
marks the same steps."""
from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from . import ai, mark


class Regions(TrainerCallback):
    """Training and its epochs, its steps; instants where a checkpoint was saved and where an evaluation has ended."""

    def __init__(self) -> None:
        self._open: list[Any] = []

    def _begin(self, name: Any, state: Any) -> None:
        self._open.append(name(epoch=int(state.epoch or 0), step=state.global_step).start())

    def _end(self) -> None:
        if self._open:
            self._open.pop().stop()

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._begin(ai.pipeline.train, state)

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._end()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._begin(ai.pipeline.epoch, state)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._end()

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._begin(ai.compute.step, state)

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._end()

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        mark("checkpoint.saved", step=state.global_step)

    def on_evaluate(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        mark("evaluated", step=state.global_step)
