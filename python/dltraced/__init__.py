# SPDX-License-Identifier: BSD-2-Clause
"""Regions of a program (epochs, steps, fetches, checkpoints), which a running dltraced records as rows of regions.out.

    with dltraced.region("my.shuffle", epoch=3) as r:     from here to the end of the block
        r.update(files=12)

    @dltraced.region("my.decode")                         each call; of an async def to its end, of a generator each item
    def decode(path): ...

    for batch in dltraced.iterate(loader, "my.fetch"):    the wait for each item
        ...

Names are "category.name". dltraced.ai has those of deep learning. DLTRACED_REGIONS=0 in the environment switches all of
it off. Where nobody traces, a region costs one system call that fails.

read(), report(), summary() and plot() are for traces: the rows of a file as a frame, what `dltraced report` finds, how
computing and I/O overlap, and figures. Their modules are imported when they are first used, since a job that marks regions does not need them.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Optional, TypeVar

from . import _decorate, _implementation

if TYPE_CHECKING:
    from ._fallback import Region
    from ._lines import Damaged
    from ._plot import plot
    from ._read import read
    from ._report import report
    from ._summary import summary

    region = Region
else:
    Region, region = _implementation.Region, _implementation.region

__all__ = ["Damaged", "Region", "enabled", "iterate", "mark", "meta", "plot", "read", "region", "report", "summary"]
__version__ = "0.1.0"

_OF_TRACES = {"Damaged": "_lines", "plot": "_plot", "read": "_read", "report": "_report", "summary": "_summary"}

T = TypeVar("T")


def __getattr__(name: str) -> Any:
    if name not in _OF_TRACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(importlib.import_module(f"{__name__}.{_OF_TRACES[name]}"), name)
    return globals()[name]


def enabled() -> bool:
    """Are regions sent? Not where DLTRACED_REGIONS=0 is in the environment."""
    return _implementation.ENABLED


def iterate(iterable: Iterable[T], name: str, *, epoch: Optional[int] = None, step: Optional[int] = None,
            bytes: Optional[int] = None, lane: Optional[int] = None, **args: Any) -> Iterator[T]:
    """ITERABLE's items, the wait for each of them a region NAME, its steps numbered from STEP (0). The last one, which
    found the end, has end=1 in ARGS."""
    return _decorate.iterate(region(name, epoch=epoch, step=step, bytes=bytes, lane=lane, **args), iterable)


def mark(name: str, *, epoch: Optional[int] = None, step: Optional[int] = None, bytes: Optional[int] = None,
         lane: Optional[int] = None, **args: Any) -> None:
    """An instant."""
    _implementation.send(region(name, epoch=epoch, step=step, bytes=bytes, lane=lane, **args), _implementation.MARK)


def meta(key: str, value: Any) -> None:
    """A fact about this process, such as "batch_size", 32."""
    _implementation.send(region(key), _implementation.META, 0, str(value))
