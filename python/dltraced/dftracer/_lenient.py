# SPDX-License-Identifier: BSD-2-Clause
"""Objects that never raise into the program: what they do not know is accepted and counted."""
from __future__ import annotations

import functools
from typing import Any, Callable, Iterator

from . import _tally


class Anything:
    """What stands for a name that is not known: it is called, decorates, is entered and iterated over, without effect."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._args = args

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return args[0] if len(args) == 1 and not kwargs and callable(args[0]) else Anything(*args)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def __iter__(self) -> Iterator:
        return items(self._args[0] if self._args else ())


def items(iterable: Any) -> Iterator:
    """An iterator over ITERABLE, or an asynchronous one; over nothing where it is none."""
    try:
        return iter(iterable)
    except TypeError:
        if hasattr(iterable, "__aiter__"):
            return iterable
        _tally.count(f"a {type(iterable).__name__} to iterate over")
        return iter(())


def first_callable(args: Any) -> Any:
    return next((each for each in args if callable(each)), None)


ANSWERS: dict[str, Callable] = {
    "nothing": lambda self, args: None,
    "self": lambda self, args: self,
    "zero": lambda self, args: 0,
    "text": lambda self, args: "",
    "function": lambda self, args: first_callable(args) or Anything(),
    "items": lambda self, args: items(args[0] if args else ()),
}


class method:  # noqa: N801 - a decorator
    """A method, also of its class without an object: of OWNER.default(). Arguments that it does not have are counted and left
    out; where it fails, it counts that and gives the ANSWER of its kind."""

    def __init__(self, answer: str = "nothing") -> None:
        self._answer = ANSWERS[answer]

    def __call__(self, function: Callable) -> method:
        code = function.__code__
        self._function, self._most = function, code.co_argcount
        self._known = frozenset(code.co_varnames[:code.co_argcount + code.co_kwonlyargcount])
        self.__doc__ = function.__doc__
        return self

    def __get__(self, owner: Any, of: Any) -> Callable:
        return functools.partial(self._call, of.default() if owner is None else owner)

    def _call(self, owner: Any, *args: Any, **kwargs: Any) -> Any:
        name = self._function.__qualname__
        if len(args) >= self._most:
            _tally.count(f"further arguments of {name}")
            args = args[:self._most - 1]
        for key in kwargs.keys() - self._known:
            _tally.count(f"argument {key} of {name}")
            del kwargs[key]
        try:
            return self._function(owner, *args, **kwargs)
        except Exception as error:
            _tally.count(f"{name} with these values: {type(error).__name__}")
            return self._answer(owner, args)


class OfClasses(type):
    """Classes of which any name can be asked for, too."""

    def __getattr__(cls, name: str) -> Any:
        return unknown(cls.__name__, name)


def unknown(of: str, name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    _tally.count(f"{of}.{name}")
    return Anything()


class Lenient(metaclass=OfClasses):
    def __getattr__(self, name: str) -> Any:
        return unknown(type(self).__name__, name)

    @classmethod
    def default(cls) -> Any:
        return cls()
