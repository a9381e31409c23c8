# SPDX-License-Identifier: BSD-2-Clause
"""Regions around what is not a plain function: coroutines, generators, classes; of both implementations."""
from __future__ import annotations

import collections.abc
import functools
import inspect
import itertools
import sys
import weakref
from typing import Any, Callable

from . import _implementation as implementation

_numbers = itertools.count(1)
_lanes: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def lane_of_task() -> Any:
    """The number of the asyncio task that runs; None outside of one."""
    asyncio = sys.modules.get("asyncio")
    try:
        task = asyncio.current_task() if asyncio else None
    except RuntimeError:  # no loop runs here, or another library's
        task = None
    if task is None:
        return None
    if task not in _lanes:
        _lanes[task] = next(_numbers)
    return _lanes[task]


def remade(name: str, live: bool, source: int, epoch: Any, step: Any, bytes: Any, lane: Any, args: bytes) -> Any:
    """A region that was pickled or copied; not begun, whether that one was or not."""
    made = implementation.with_source(implementation.region(name, epoch=epoch, step=step, bytes=bytes, lane=lane, live=live), source)
    for pair in args.decode(errors="replace").split("\n") if args else ():
        key, _, value = pair.partition("=")
        made.update(**{key: value})
    return made


async def enter(made: Any) -> Any:
    """`async with`: of the task that runs."""
    if made.lane is None:
        made.lane = lane_of_task()
    return made.start()


async def leave(made: Any, error: Any) -> None:
    made.__exit__(*error)


def _of_task(made: Any) -> Any:
    """A region like MADE of the task that runs."""
    made = made.copy()
    if made.lane is None:
        made.lane = lane_of_task()
    return made


def _item(made: Any, step: int) -> Any:
    made = made.copy()
    made.step = step if made.step is None else made.step + step
    return made


class Generator(collections.abc.Generator):
    """A generator, each resumption of which is a region."""

    def __init__(self, generator: Any, made: Any) -> None:
        self._generator, self._made, self._steps = generator, made, itertools.count()

    def _resume(self, method: Callable, *args: Any) -> Any:
        with _item(self._made, next(self._steps)) as item:
            try:
                return method(*args)
            except StopIteration:
                item.update(end=1)
                raise

    def __next__(self) -> Any:
        return self._resume(self._generator.__next__)

    def send(self, value: Any) -> Any:
        return self._resume(self._generator.send, value)

    def throw(self, *error: Any) -> Any:
        return self._resume(self._generator.throw, *error)

    def close(self) -> None:
        self._generator.close()


class AsyncGenerator(collections.abc.AsyncGenerator):
    """An asynchronous one, or any asynchronous iterator."""

    def __init__(self, generator: Any, made: Any) -> None:
        self._generator, self._made, self._steps = generator, made, itertools.count()

    async def _resume(self, method: Callable, *args: Any) -> Any:
        with _item(_of_task(self._made), next(self._steps)) as item:
            try:
                return await method(*args)
            except StopAsyncIteration:
                item.update(end=1)
                raise

    def __anext__(self) -> Any:
        return self._resume(self._generator.__anext__)

    def asend(self, value: Any) -> Any:
        return self._resume(self._generator.asend, value)

    def athrow(self, *error: Any) -> Any:
        return self._resume(self._generator.athrow, *error)

    async def aclose(self) -> None:
        close = getattr(self._generator, "aclose", None)
        if close:
            await close()


_KINDS = ((inspect.isgeneratorfunction, Generator), (inspect.isasyncgenfunction, AsyncGenerator))


def is_plain(function: Any) -> bool:
    """Whether it is a function in Python whose work is done when a call returns: no coroutine and no generator."""
    kinds = (inspect.iscoroutinefunction, *(kind for kind, _ in _KINDS))
    return inspect.isfunction(function) and not any(kind(function) for kind in kinds)


def decorate(made: Any, function: Any) -> Any:
    """FUNCTION, each use of it a region like MADE: the calls of a function and of a class, coroutines to their end,
    generators once per item."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(made, function.__func__))
    if isinstance(function, type):
        function.__init__ = decorate(made, function.__init__)  # type: ignore[misc]
        return function
    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            with _of_task(made):
                return await function(*args, **kwargs)

        return coroutine
    for of_kind, wrapper in _KINDS:
        if of_kind(function):
            @functools.wraps(function)
            def generator(*args: Any, **kwargs: Any) -> Any:
                return wrapper(function(*args, **kwargs), made)

            return generator
    if not callable(function):
        raise TypeError(f"a region decorates what can be called, not {type(function).__name__}")
    return implementation.timed_function(function, made)


def iterate(made: Any, iterable: Any) -> Any:
    """ITERABLE's items, the wait for each of them a region like MADE."""
    if hasattr(iterable, "__aiter__") and not hasattr(iterable, "__iter__"):
        return AsyncGenerator(iterable.__aiter__(), made)
    return implementation.Iterator(iterable, made)
