# SPDX-License-Identifier: BSD-2-Clause
"""The regions that are running in this thread or task, with the object of DFTracer's API that each is of: update() of it is
about the innermost. As a chain of tuples, which a task does not share with the one that made it."""
from __future__ import annotations

import contextvars
from typing import Any, Callable, Optional

Entry = tuple  # owner, region, the entry around it
_chain: contextvars.ContextVar[Optional[Entry]] = contextvars.ContextVar("dltraced_dftracer", default=None)
get, put = _chain.get, _chain.set


def push(owner: Any, made: Any) -> None:
    put((owner, made, get()))


def pop(owner: Any) -> Any:
    """The innermost region of OWNER, which is no longer there; None: there is none."""
    entry = get()
    if entry is not None and entry[0] is owner:
        put(entry[2])
        return entry[1]
    inner = []
    while entry is not None and entry[0] is not owner:
        inner.append(entry)
        entry = entry[2]
    if entry is None:
        return None
    rest = entry[2]
    for other in reversed(inner):
        rest = (other[0], other[1], rest)
    put(rest)
    return entry[1]


def innermost(is_wanted: Callable[[Any], bool]) -> Any:
    """The innermost region of an owner that IS_WANTED; None: there is none."""
    entry = get()
    while entry is not None and not is_wanted(entry[0]):
        entry = entry[2]
    return None if entry is None else entry[1]


def each(is_wanted: Callable[[Any], bool]) -> Any:
    entry = get()
    while entry is not None:
        if is_wanted(entry[0]):
            yield entry[1]
        entry = entry[2]
