# SPDX-License-Identifier: BSD-2-Clause
"""Decorated functions: each call is a region, which has the numbers that the call is given."""
from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Optional

from .. import _decorate
from . import _running, _tally
from ._names import WITH_ARGUMENTS
from ._values import NAMES, NUMBERS, fields_of

Take = Callable[[Any, tuple, dict], None]


def takes(function: Callable) -> Optional[Take]:
    """What gives a region the epoch, step, image_idx and image_size of a call of FUNCTION: an argument's value or default,
    else that of the object. None: it has none of these."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    names = [p.name for p in parameters]
    of_self = names[:1] == ["self"]
    places = [(name, names.index(name), parameters[names.index(name)].default) for name in NAMES if name in names]
    if not WITH_ARGUMENTS or not places and not of_self:
        return None

    def take(made: Any, args: tuple, kwargs: dict) -> None:
        left = NAMES if of_self and args else ()
        for name, at, default in places:
            value = kwargs[name] if name in kwargs else args[at] if at < len(args) else default
            if value is not None and value is not inspect.Parameter.empty:
                put(made, name, value)
                left = tuple(n for n in left if n != name)
        for name in left:
            try:
                value = getattr(args[0], name, None)
            except Exception:  # of a property
                continue
            if value is not None and (isinstance(value, (int, float)) or hasattr(value, "__index__")):
                put(made, name, value)

    return take


def put(made: Any, name: str, value: Any) -> None:
    if type(value) is int and -(1 << 63) < value < 1 << 63:
        if name in NUMBERS:
            setattr(made, name, value)
        else:
            made.update(**{name: value})
    else:
        made.update(**fields_of(**{name: value}))


def timed(owner: Any, function: Any, make: Callable[[], Any], take: Optional[Take] = None) -> Any:
    """FUNCTION, each call of it a region that MAKE makes while OWNER is enabled; a coroutine's until its end, a generator's
    only the call, as DFTracer's."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(timed(owner, function.__func__, make, take))
    if isinstance(function, type):
        return _decorate.decorate(make(), function)

    def begin(args: tuple, kwargs: dict) -> Any:
        try:
            made = make()
            if take is not None:
                take(made, args, kwargs)
        except Exception as error:
            _tally.count(f"arguments of {getattr(function, '__qualname__', 'a function')}: {type(error).__name__}")
            made = make()
        outer = _running.get()
        _running.put((owner, made, outer))
        made.start()
        return made, outer

    if inspect.iscoroutinefunction(function):
        @functools.wraps(function)
        async def coroutine(*args: Any, **kwargs: Any) -> Any:
            if not owner._enabled:
                return await function(*args, **kwargs)
            made, outer = begin(args, kwargs)
            made.lane = _decorate.lane_of_task()
            try:
                with made:
                    return await function(*args, **kwargs)
            finally:
                _running.put(outer)

        return coroutine

    def call(*args: Any, **kwargs: Any) -> Any:
        if not owner._enabled:
            return function(*args, **kwargs)
        made, outer = begin(args, kwargs)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            made.__exit__(type(error), error, None)
            raise
        else:
            made.stop()
            return result
        finally:
            _running.put(outer)

    try:
        return functools.wraps(function)(call)
    except Exception:
        return call
