# SPDX-License-Identifier: BSD-2-Clause
"""The names of DFTracer's API for Python, so that a program written for it leaves regions in a trace of dltraced. It has no
files of its own: what the program says of log files and data folders is ignored.

    import dltraced.dftracer; dltraced.dftracer.install()
    from dftracer.logger import dftracer, dft_fn

install() provides `dftracer.logger` and `dftracer.python` only where the real package cannot be imported;
install(replace=True) in any case.

image_idx and image_size are arguments of a region under these names. A name of a region is "category.name".
"""
from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
import time
import types
from typing import Any, Callable, Optional

from . import _decorate, _implementation as implementation, mark, meta, region
from ._dftracer_ai import ai, fields_of

__all__ = ["ai", "dft_fn", "dftracer", "install"]


class dftracer:  # noqa: N801 - its name
    """The log of a process, of which there is one."""

    _one: Optional[dftracer] = None

    @classmethod
    def get_instance(cls) -> dftracer:
        if cls._one is None:
            cls._one = cls()
        return cls._one

    @classmethod
    def initialize_log(cls, logfile: Any = None, data_dir: Any = None, process_id: Any = -1) -> dftracer:
        return cls.get_instance()

    def get_time(self) -> int:
        """In microseconds, by the clock of the trace."""
        return time.monotonic_ns() // 1000

    def enter_event(self) -> None:
        pass

    def exit_event(self) -> None:
        pass

    def log_event(self, name: str, cat: str, start_time: int, duration: int, string_args: Any = None, int_args: Any = None,
                  **more: Any) -> None:
        """A region that lasted DURATION and ends now: the program says so when it is over."""
        args = {**(int_args or {}), **(string_args or {}), **more}
        made = region(f"{cat}.{name}", **fields_of(args.pop("epoch", None), args.pop("step", None), None, None, args))
        implementation.send(made, implementation.WHOLE, max(1, time.monotonic_ns() - int(duration) * 1000))

    def log_metadata_event(self, key: str, value: Any) -> None:
        meta(key, value)

    def log_instant_event(self, name: str, **args: Any) -> None:
        mark(name, **args)

    def finalize(self) -> None:
        pass


class dft_fn:  # noqa: N801 - its name
    """Regions of a category: a context manager, and a maker of decorators and iterators."""

    def __init__(self, cat: str, name: Optional[str] = None, epoch: Any = None, step: Any = None, image_idx: Any = None,
                 image_size: Any = None, enable: bool = True) -> None:
        self._cat, self._enable = cat, enable
        self._given = fields_of(epoch, step, image_idx, image_size)
        self._name = name or inspect.currentframe().f_back.f_code.co_name  # type: ignore[union-attr]
        self._made = self._make(self._name)

    def _make(self, name: str) -> Any:
        return region(f"{self._cat}.{name}", **self._given)

    def __enter__(self) -> dft_fn:
        self.reset()
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if self._enable:
            self._made.__exit__(kind, value, traceback)

    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, args: Any = None) -> dft_fn:
        """More about the one that is running."""
        self._made.update(**fields_of(epoch, step, image_idx, image_size, args))
        return self

    def flush(self) -> dft_fn:
        """It ends now."""
        self._made.stop()
        return self

    def reset(self) -> dft_fn:
        """It begins now."""
        self._made = self._make(self._name)
        if self._enable:
            self._made.start()
        return self

    def _decorate(self, function: Any, name: str) -> Any:
        return _decorate.decorate(self._make(name), function) if self._enable else function

    def log(self, function: Callable) -> Any:
        """Each call. Numbers that are given by name to parameters epoch and step, image_idx and image_size are the region's."""
        if not self._enable or not implementation.ENABLED:
            return function
        names = [n for n in ("epoch", "step", "image_idx", "image_size") if n in inspect.signature(function).parameters]
        name = function.__qualname__.replace("<locals>.", "")
        if not names or not _decorate.is_plain(function):
            return self._decorate(function, name)

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            given = fields_of(*(kwargs.get(n) for n in ("epoch", "step", "image_idx", "image_size")))
            with region(f"{self._cat}.{name}", **{**self._given, **given}):
                return function(*args, **kwargs)

        return timed

    def log_init(self, function: Callable) -> Any:
        """Each construction: FUNCTION is a class's __init__."""
        return self.log(function)

    def log_static(self, function: Any) -> Any:
        """Each call of a static method, decorated as one or not."""
        plain = function.__func__ if isinstance(function, staticmethod) else function
        return staticmethod(self.log(plain))

    def iter(self, iterable: Any, name: str = "iter", **more: Any) -> Any:
        """ITERABLE's items, the wait for each of them a region."""
        return _decorate.iterate(self._make(name), iterable) if self._enable else iter(iterable)


def install(replace: bool = False) -> bool:
    """Puts `dftracer` in its place, so that it can be imported; not where the real one can, unless it is to REPLACE that.
    Returns whether it did."""
    if not replace and ("dftracer" in sys.modules or importlib.util.find_spec("dftracer") is not None):
        return False
    package = types.ModuleType("dftracer", __doc__)
    package.__path__ = []  # type: ignore[attr-defined]
    for name in ("logger", "python"):
        module = types.ModuleType(f"dftracer.{name}", __doc__)
        module.__dict__.update(dftracer=dftracer, dft_fn=dft_fn, ai=ai, **ai._below)
        setattr(package, name, module)
        sys.modules[f"dftracer.{name}"] = module
    sys.modules["dftracer"] = package
    return True
