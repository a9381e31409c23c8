# SPDX-License-Identifier: BSD-2-Clause
"""Regions in pure Python, for where the extension was not built: the names of _region.c, and the same rows."""
from __future__ import annotations

import ctypes
import functools
import operator
import struct
import time
from typing import Any, Callable, Iterable, Iterator as AnyIterator, Optional, TypeVar

# include/dltraced.h
PRCTL = 0x444C5431
NAME_MAX, ARGS_MAX = 64, 128
NONE = -(1 << 63)
BEGIN, END, WHOLE, MARK, META = range(1, 6)
FAILED = 1
SOURCE_API, SOURCE_TORCH = 0, 1

# An iterator or a generator that ends has not failed.
ENDS = (StopIteration, StopAsyncIteration, GeneratorExit)

T = TypeVar("T")

_head = struct.Struct("=5B3x2Q4q").pack  # struct dltraced_msg without its text
_now = time.monotonic_ns  # CLOCK_MONOTONIC
# PyDLL keeps the lock of the interpreter: giving it up would cost more than the call.
_prctl = ctypes.PyDLL(None).prctl
_prctl.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong)
_prctl.restype = ctypes.c_int


def _clean_name(name: str) -> bytes:
    """As bytes, cut to what a message has room for between two characters."""
    if not isinstance(name, str):
        raise TypeError(f"a region's name is a str, not {type(name).__name__}")
    text = name.encode("utf-8", "replace").split(b"\0", 1)[0]
    return text if len(text) <= NAME_MAX else text[:NAME_MAX].decode("utf-8", "ignore").encode()


def _number(value: Any) -> int:
    if value is None:
        return NONE
    number = operator.index(value)
    if not NONE <= number < 1 << 63:
        raise OverflowError("a number of a region has 64 bits")
    return number


def _number_property(slot: str) -> Any:
    def get(self: Region) -> Optional[int]:
        value = getattr(self, slot)
        return None if value == NONE else value

    return property(get, lambda self, value: setattr(self, slot, _number(value)))


class Region:
    """A span of time with a name: a context manager, a decorator, or begun and ended by start() and stop()."""

    __slots__ = ("_name", "_args", "_base", "_start", "_outer", "_epoch", "_step", "_bytes", "_lane", "_live", "_source")

    def __init__(self, name: str, *, epoch: Optional[int] = None, step: Optional[int] = None, bytes: Optional[int] = None,
                 lane: Optional[int] = None, live: bool = False, **args: Any) -> None:
        self._name = _clean_name(name)
        self._epoch = NONE if epoch is None else _number(epoch)
        self._step = NONE if step is None else _number(step)
        self._bytes = NONE if bytes is None else _number(bytes)
        self._lane = NONE if lane is None else _number(lane)
        self._live = bool(live)
        self._source = SOURCE_API
        self._start = 0
        self._outer: Optional[list[int]] = None
        self._args = self._base = b""
        if args:
            self.update(**args)

    epoch = _number_property("_epoch")
    step = _number_property("_step")
    bytes = _number_property("_bytes")
    lane = _number_property("_lane")

    @property
    def name(self) -> str:
        return self._name.decode()

    def __enter__(self) -> Region:
        if self._start:  # begun already, as in a recursion
            self._outer = [*(self._outer or ()), self._start]
        self._start = start = _now()
        if self._live:
            self._send(BEGIN, 0, start)
        return self

    def __exit__(self, kind: Any = None, value: Any = None, traceback: Any = None) -> None:
        if not self._start:
            return
        failed = kind is not None and not issubclass(kind, ENDS)
        self._send(END if self._live else WHOLE, FAILED if failed else 0, self._start)
        if self._outer:
            self._start = self._outer.pop()
        else:
            self._start = 0
            self._args = self._base

    start = __enter__

    def stop(self) -> None:
        """It ends now; nothing where it has not begun."""
        self.__exit__()

    def update(self, *, epoch: Optional[int] = None, step: Optional[int] = None, bytes: Optional[int] = None,
               lane: Optional[int] = None, **args: Any) -> None:
        """More about it. A pair of ARGS that does not fit into the message is left out; those of a region that has
        begun are forgotten at its end."""
        if epoch is not None:
            self._epoch = _number(epoch)
        if step is not None:
            self._step = _number(step)
        if bytes is not None:
            self._bytes = _number(bytes)
        if lane is not None:
            self._lane = _number(lane)
        for key, value in args.items():
            pair = f"{key}={value}".encode("utf-8", "replace").replace(b"\n", b" ").replace(b"\0", b" ")
            text = self._args + b"\n" + pair if self._args else pair
            if len(text) <= ARGS_MAX:
                self._args = text
        if not self._start:
            self._base = self._args

    def copy(self) -> Region:
        """The same, not begun."""
        other = object.__new__(type(self))
        for slot in Region.__slots__:
            setattr(other, slot, getattr(self, slot))
        other._start, other._outer, other._args = 0, None, self._base
        return other

    def __reduce__(self) -> Any:
        from . import _decorate

        return _decorate.remade, (self.name, self._live, self._source, self.epoch, self.step, self.bytes, self.lane, self._base)

    def __call__(self, function: Callable) -> Any:
        from . import _decorate

        return _decorate.decorate(self, function)

    def __aenter__(self) -> Any:
        from . import _decorate

        return _decorate.enter(self)

    def __aexit__(self, *error: Any) -> Any:
        from . import _decorate

        return _decorate.leave(self, error)

    def _send(self, op: int, flags: int, start: int, args: Optional[bytes] = None, step: Optional[int] = None) -> None:
        name = self._name
        if args is None:
            args = self._args if op != BEGIN else b""
        # regions that live at the same time have different addresses; one after the other, different starts
        key = (start ^ id(self) << 16) & 0xFFFFFFFFFFFFFFFF if self._live else 0
        message = _head(op, flags, self._source, len(name), len(args), start, key, self._epoch,
                        self._step if step is None else step, self._bytes, self._lane) + name + args
        _prctl(PRCTL, message, len(message), 0, 0)


region = Region


def with_source(made: Region, source: int) -> Region:
    """MADE, which SOURCE is the source of from now on."""
    made._source = source
    return made


def send(made: Region, op: int, start: int = 0, value: Optional[str] = None) -> None:
    """A message of its own: a mark, a fact with its VALUE, or a whole region since START."""
    args = None if value is None else value.encode("utf-8", "replace").split(b"\0", 1)[0]
    if args and len(args) > ARGS_MAX:
        args = args[:ARGS_MAX].decode("utf-8", "ignore").encode()
    made._send(op, 0, start or _now(), args)


def timed_function(function: Callable[..., T], made: Region) -> Callable[..., T]:
    """FUNCTION, each call of it a region like MADE."""
    whole = made._send

    @functools.wraps(function)
    def timed(*args: Any, **kwargs: Any) -> T:
        start = _now()
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            whole(WHOLE, 0 if isinstance(error, ENDS) else FAILED, start)
            raise
        whole(WHOLE, 0, start)
        return result

    @functools.wraps(function)
    def timed_live(*args: Any, **kwargs: Any) -> T:
        with made.copy():
            return function(*args, **kwargs)

    return timed_live if made._live else timed


class Iterator:
    """An iterator, each next of it a region like MADE, with its number as the step; the last one, which found the end,
    has end=1."""

    __slots__ = ("_next", "_made", "_step")

    def __init__(self, iterable: Iterable[T], made: Region) -> None:
        self._next = iter(iterable).__next__
        self._made = made
        self._step = 0 if made._step == NONE else made._step

    def __iter__(self) -> AnyIterator:
        return self

    def __next__(self) -> Any:
        made, step = self._made, self._step
        self._step = step + 1
        start = _now()
        try:
            item = self._next()
        except StopIteration:
            last = made.copy()
            last.update(end=1)
            last._send(WHOLE, 0, start, None, step)
            raise
        except BaseException:
            made._send(WHOLE, FAILED, start, None, step)
            raise
        made._send(WHOLE, 0, start, None, step)
        return item
