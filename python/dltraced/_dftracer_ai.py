# SPDX-License-Identifier: BSD-2-Clause
"""The tree of names that DFTracer 2 calls ai, for dftracer.py. As there, a category is a name, too; and what update() sets
holds for all regions of the tree from then on, those of decorators as well. Its checkpoint.capture and restart are our
save and load.
"""
from __future__ import annotations

import functools
from typing import Any

from . import _decorate, ai as ours, region

OURS = {"checkpoint.capture": "checkpoint.save", "checkpoint.restart": "checkpoint.load"}
TREE = {
    "compute": "forward backward step", "data": "preprocess item", "dataloader": "fetch", "device": "transfer",
    "comm": "send receive barrier bcast reduce all_reduce gather all_gather scatter reduce_scatter all_to_all",
    "checkpoint": "capture restart", "pipeline": "epoch train evaluate test", "other": "log",
}


def fields_of(epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, args: Any = None) -> dict[str, Any]:
    """What of these is given. Others than numbers, which DFTracer takes too, are arguments."""
    fields: dict[str, Any] = {}
    given = {"epoch": epoch, "step": step, "image_idx": image_idx, "image_size": image_size}
    for key, value in (*given.items(), *(args or {}).items()):
        if value is None:
            continue
        if key in ("epoch", "step", "bytes", "lane") and not hasattr(value, "__index__"):
            key += "_"
        fields["name_" if key in ("name", "live") else str(key)] = value
    return fields


class Name:
    """A name, or a category with names below it, in all forms that DFTracer has."""

    def __init__(self, cat: str, name: str, below: str = "") -> None:
        self.cat, self.name, self._enabled, self._set = cat, name, True, {}  # type: ignore[var-annotated]
        full = OURS.get(f"{cat}.{name}", f"{cat}.{name}")
        last = cat in ("checkpoint", "pipeline")
        self._of = (ours.Stage if cat == "pipeline" else ours.Name)(f"ai.{full}", last)
        self._below = {child: Name(cat, child) for child in below.split()}

    def __getattr__(self, name: str) -> Name:
        try:
            return self.__dict__["_below"][name]
        except KeyError:
            raise AttributeError(name) from None

    def derive(self, name: str) -> Name:
        """A name below this one, made when it is first used."""
        if name not in self._below:
            made = self._below[name] = Name(self.cat, f"{self.name}.{name}")
            made._set.update(self._set)
        return self._below[name]

    def _each(self) -> list[Name]:
        return [self, *(name for child in self._below.values() for name in child._each())]

    def enable(self) -> None:
        for name in self._each():
            name._enabled = True

    def disable(self) -> None:
        for name in self._each():
            name._enabled = False

    def update(self, *values: Any, **named: Any) -> Name:
        """What regions of this name and those below have from now on, the one that is running, too."""
        fields = fields_of(*values, **named)
        for name in self._each():
            name._set.update(fields)
        self._of.update(**fields)
        return self

    def reset(self) -> None:
        pass

    def __call__(self, fn: Any = None, *, enable: Any = None, **given: Any) -> Any:
        fields = fields_of(**given)
        if fn is None:
            self.update(**given)
            return self
        if enable is False:
            return fn
        if not _decorate.is_plain(fn):
            return _decorate.decorate(region(self._of.name, live=self._of._live, **fields), fn)

        @functools.wraps(fn)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if not self._enabled:
                return fn(*args, **kwargs)
            with self._of(**{**self._set, **fields}):
                return fn(*args, **kwargs)

        return timed

    def init(self, fn: Any = None, **given: Any) -> Any:
        """Of a class's construction."""
        return self.derive("init")(fn, **given)

    def start(self, metadata: bool = False) -> None:
        if self._enabled and not metadata:
            self._of.start(**self._set)

    def stop(self, metadata: bool = False) -> None:
        if not metadata:
            self._of.stop()

    def __enter__(self) -> Name:
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._of.__exit__(*error)

    def iter(self, iterator: Any, **names: Any) -> Any:
        """The wait for each item; in a pipeline the work on it. DFTracer has both, in two names, which NAMES may change."""
        if not self._enabled:
            return iter(iterator)
        own = ("step", "epoch") if self.cat == "pipeline" else ("step",)  # which our iterators count
        return self._of.iter(iterator, **{key: value for key, value in self._set.items() if key not in own})


class Tree(Name):
    """The root."""

    def __init__(self) -> None:
        super().__init__("ai", "ai")
        self._below = {cat: Name(cat, cat, names) for cat, names in TREE.items()}


ai = Tree()
