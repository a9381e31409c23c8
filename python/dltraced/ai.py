# SPDX-License-Identifier: BSD-2-Clause
"""The names of deep learning, which `dltraced report` knows. Each of them is

    with ai.compute.forward: ...                    a context manager, also called with more: ai.compute.forward(step=3)
    @ai.compute.forward                             a decorator
    for batch in ai.dataloader.fetch.iter(loader)   an iterator that times the wait for each item
    ai.pipeline.epoch.start() ... .stop()           begun and ended apart

in any thread or asyncio task, and in itself. ai.pipeline.epoch.iter(range(3)) is the other way round: a region is what is
done with each item. ai.update(epoch=1, step=7) is what regions but those of decorators have from then on, unless they have
numbers of their own.
"""
from __future__ import annotations

import contextvars
from typing import Any, Optional

from . import _decorate, region

_current: dict[str, Optional[int]] = {}


def update(*, epoch: Optional[int] = None, step: Optional[int] = None) -> None:
    """The EPOCH and STEP of this process from now on, for regions of this module that have none of their own."""
    for key, value in (("epoch", epoch), ("step", step)):
        if value is not None:
            _current[key] = value


class Name:
    """One of the names, as a function that makes its regions."""

    __slots__ = ("name", "_live", "_open")

    def __init__(self, name: str, live: bool = False) -> None:
        self.name, self._live = name, live
        # Tasks and threads have their own, as a tuple, which a task does not share with the one that made it.
        self._open: contextvars.ContextVar[tuple] = contextvars.ContextVar(name, default=())

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def _make(self, fields: dict[str, Any]) -> Any:
        return region(self.name, **{"live": self._live, **_current, **fields})

    def __call__(self, function: Any = None, **fields: Any) -> Any:
        """Decorates FUNCTION; without one, a region with FIELDS."""
        if function is None:
            return self._make(fields)
        return _decorate.decorate(region(self.name, live=self._live, **fields), function)

    def __enter__(self) -> Any:
        return self.start()

    def __exit__(self, *error: Any) -> None:
        opened = self._open.get()
        if opened:
            self._open.set(opened[:-1])
            opened[-1].__exit__(*error)

    def start(self, **fields: Any) -> Any:
        """Begins one, which the next stop() of this task or thread ends."""
        made = self._make(fields)
        if made.lane is None:
            made.lane = _decorate.lane_of_task()
        self._open.set((*self._open.get(), made))
        return made.start()

    def stop(self, **more: Any) -> None:
        """Ends the one that was started last, which has MORE; nothing where none was."""
        if more and self._open.get():
            self._open.get()[-1].update(**more)
        self.__exit__(None, None, None)

    def update(self, **more: Any) -> None:
        """More about the one that was started last."""
        if self._open.get():
            self._open.get()[-1].update(**more)

    def iter(self, iterable: Any, **fields: Any) -> Any:
        """ITERABLE's items, the wait for each of them a region."""
        if "epoch" not in fields and "epoch" in _current:
            fields["epoch"] = _current["epoch"]
        return _decorate.iterate(region(self.name, **fields), iterable)


class Stage(Name):
    """A part of the whole job."""

    __slots__ = ()

    def iter(self, iterable: Any, **fields: Any) -> Any:
        """ITERABLE's items, a region from each to the next, its epochs numbered from EPOCH (0)."""
        first = fields.pop("epoch", 0)
        for epoch, item in enumerate(iterable, first):
            with self._make({"epoch": epoch, **fields}):
                yield item


class Group:
    """Names with the same category; others than those above are made when they are first used."""

    def __init__(self, category: str, names: str, of: type = Name, live: bool = False) -> None:
        self._category, self._of, self._live = category, of, live
        for name in names.split():
            setattr(self, name, of(f"ai.{category}.{name}", live))

    def __getattr__(self, name: str) -> Name:
        if name.startswith("_"):
            raise AttributeError(name)
        made = self._of(f"ai.{self._category}.{name}", self._live)
        setattr(self, name, made)
        return made


# Those that last are live: they are shown before they end, and after a process that was killed in them.
compute = Group("compute", "forward backward step")
data = Group("data", "item batch preprocess")
dataloader = Group("dataloader", "fetch")
comm = Group("comm", "send receive barrier bcast reduce all_reduce gather all_gather scatter reduce_scatter all_to_all")
device = Group("device", "transfer")
pipeline = Group("pipeline", "epoch train evaluate test", Stage, live=True)
checkpoint = Group("checkpoint", "save load", live=True)
