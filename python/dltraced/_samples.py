# SPDX-License-Identifier: BSD-2-Clause
"""How many samples a backward pass is of. The batches of a DataLoader are counted where their sizes are certain: by the
indices that its sampler gave, or, of a dataset without indices, by what default_collate has made. Each backward pass takes
the oldest batch that its loader has returned and no pass has taken, so that a loop that fetches a batch ahead counts each
once, and evaluations, which have no backward pass, count none.
"""
from __future__ import annotations

import collections
import sys
import weakref
from typing import Any, Optional


def _rows(batch: Any) -> Optional[int]:
    """The length of what default_collate made of samples."""
    while isinstance(batch, (collections.abc.Mapping, list, tuple)):
        parts = list(batch.values()) if isinstance(batch, collections.abc.Mapping) else batch
        if not parts:
            return None
        if parts is batch and isinstance(parts[0], (str, bytes)):
            return len(parts)
        batch = parts[0]
    shape = getattr(batch, "shape", None)
    return int(shape[0]) if shape else None


class _Batches:
    def __init__(self) -> None:
        self.chosen: collections.deque = collections.deque()  # sizes, of batches that were not returned yet
        self.returned: collections.deque = collections.deque()  # of those that no backward pass has taken


class Samples:
    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # iterator: its batches
        self._latest: Optional[_Batches] = None

    def _batches(self, iterator: Any) -> _Batches:
        found = self._of.get(iterator)
        if found is None:
            found = self._of[iterator] = _Batches()
        return found

    def reset(self, iterator: Any) -> None:
        """It begins anew, as those with persistent workers do."""
        self._of.pop(iterator, None)

    def chosen(self, iterator: Any, index: Any) -> None:
        try:
            size = len(index) if iterator._auto_collation else None
        except TypeError:
            size = None
        self._batches(iterator).chosen.append(size)

    def returned(self, iterator: Any, batch: Any) -> None:
        of = self._latest = self._batches(iterator)
        loaders, collate = (sys.modules.get("torch.utils.data." + name) for name in ("dataloader", "_utils.collate"))
        if iterator._dataset_kind == loaders._DatasetKind.Iterable:  # type: ignore[union-attr]
            by_default = iterator._auto_collation and iterator._collate_fn is collate.default_collate  # type: ignore[union-attr]
            size = _rows(batch) if by_default else None
        else:
            size = of.chosen.popleft() if of.chosen else None
        of.returned.append(size)

    def taken(self) -> Optional[int]:
        """By a backward pass."""
        return self._latest.returned.popleft() if self._latest and self._latest.returned else None
