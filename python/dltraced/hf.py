# SPDX-License-Identifier: BSD-2-Clause
"""Regions of a trainer of Hugging Face: Trainer(callbacks=[dltraced.hf.Regions()]), which knows its steps and epochs
better than auto.py, and takes its place."""
from __future__ import annotations

from typing import Any, Optional

from transformers import TrainerCallback

from . import ai, auto, mark


class Regions(TrainerCallback):
    """Training and its epochs, its steps with their samples, and the fetches of all DataLoaders, as auto.py marks them;
    instants where a checkpoint was saved and where an evaluation has ended."""

    def __init__(self) -> None:
        self._open: list[Any] = []
        self._epoch = 0
        self._samples: Optional[int] = 0  # of the step; None: not known
        auto.install(auto.LOADERS)

    def _begin(self, name: Any, state: Any) -> None:
        self._open.append(name(epoch=self._epoch, step=state.global_step).start())

    def _end(self) -> None:
        if self._open:
            self._open.pop().stop()

    def _reached(self, state: Any) -> None:
        self._epoch = int(state.epoch or 0)
        auto.reached(self._epoch, state.global_step)

    def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._reached(state)
        self._begin(ai.pipeline.train, state)

    def on_train_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._end()

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._reached(state)
        self._begin(ai.pipeline.epoch, state)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._end()

    def on_step_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._samples = 0
        self._begin(ai.compute.step, state)

    def _batch_end(self) -> None:
        taken = auto.samples().get("samples")
        self._samples = None if taken is None or self._samples is None else self._samples + taken

    def on_substep_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:  # of gradients that are added up
        self._batch_end()

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        self._batch_end()
        if self._samples and self._open:
            self._open[-1].update(samples=self._samples)
        self._end()
        auto.reached(self._epoch, state.global_step)

    def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        mark("checkpoint.saved", step=state.global_step)

    def on_evaluate(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        mark("evaluated", step=state.global_step)
