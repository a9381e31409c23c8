# SPDX-License-Identifier: BSD-2-Clause
"""The log of a process, and regions of a category."""
from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Iterator, Optional

from .. import _decorate, _implementation as implementation, mark, meta, region
from . import _running, _tally
from ._lenient import Lenient, items, method
from ._names import DFTRACER_ENABLE, EntityRelation
from ._timed import takes, timed
from ._values import fields_of, number, plain, text


def enabled(enable: Any) -> bool:
    try:
        return DFTRACER_ENABLE and bool(enable)
    except Exception:
        return DFTRACER_ENABLE


def named(name: Any) -> str:
    """NAME as text; none where none is given."""
    return "" if name is None else text(name)


def full_name(cat: Any, name: Any) -> str:
    return f"{text(cat).replace('.', '_') or 'unknown'}.{text(name)}"


class dftracer(Lenient):  # noqa: N801 - its name
    """The log of a process, of which there is one. It has no files of its own."""

    _one: Optional[dftracer] = None

    def __init__(self, *more: Any, **unknown: Any) -> None:
        self.logger: Any = None
        self.dbg_logging: Any = None
        self.start_time = 0
        self._entities: dict[int, str] = {}
        type(self)._one = self

    @classmethod
    def default(cls) -> dftracer:
        return cls._one or cls()

    @classmethod
    def get_instance(cls, *more: Any, **unknown: Any) -> dftracer:
        return cls.default()

    @method("self")
    def initialize_log(self, logfile: Any = None, data_dir: Any = None, process_id: Any = -1) -> Any:
        if DFTRACER_ENABLE:
            self.start_time = self.get_time()
            _data_dirs(data_dir if data_dir is not None else os.environ.get("DFTRACER_DATA_DIR"))
        return self

    @method("nothing")
    def initialize(self, log_file: Any = None, data_dirs: Any = None, process_id: Any = -1) -> None:
        self.initialize_log(log_file, data_dirs, process_id)

    @method("zero")
    def get_time(self) -> int:
        """In microseconds, by the clock of the trace."""
        return time.monotonic_ns() // 1000

    @method("text")
    def get_config(self, key: Any = "") -> str:
        return os.environ.get(text(key), "")

    @method()
    def enter_event(self) -> None:
        pass

    @method()
    def exit_event(self) -> None:
        pass

    @method()
    def log_event(self, name: Any = "unknown", cat: Any = "unknown", start_time: Any = 0, duration: Any = 0, int_args: Any = None,
                  float_args: Any = None, string_args: Any = None, relations: Any = None) -> None:
        """A region that lasted DURATION and ends now: the program says so when it is over."""
        lasted = number(duration)
        if lasted is None:
            _tally.count("log_event without a duration")
        if lasted is None or not DFTRACER_ENABLE:
            return
        fields = {}
        for args in (int_args, float_args, string_args):
            fields.update(fields_of(args=args))
        made = region(full_name(cat, name), **fields)
        for relation, ids in (relations or {}).items():
            for entity in ids:
                made.update(**{_relation(relation): self._entities.get(entity, entity)})
        implementation.send(made, implementation.WHOLE, max(1, time.monotonic_ns() - max(0, lasted) * 1000))

    @method()
    def log_metadata_event(self, key: Any = "unknown", value: Any = "") -> None:
        if DFTRACER_ENABLE:
            meta(text(key), text(plain(value)))

    @method()
    def log_instant_event(self, name: Any = "unknown", **args: Any) -> None:
        if DFTRACER_ENABLE:
            mark(text(name), **fields_of(args=args))

    @method()
    def set_app_metadata_int(self, key: Any = "unknown", value: Any = 0) -> None:
        self.log_metadata_event(key, value)

    @method()
    def set_app_metadata_string(self, key: Any = "unknown", value: Any = "") -> None:
        self.log_metadata_event(key, value)

    @method()
    def mark_used(self, name: Any = "") -> None:
        pass

    @method("zero")
    def declare_entity(self, type: Any = "", key: Any = "", store: Any = 0, uri: Any = "") -> int:
        """A number for it, by which relations name it."""
        if not DFTRACER_ENABLE:
            return 0
        named = f"{text(type)}:{text(key)}"
        number_of = 0xCBF29CE484222325
        for byte in named.encode("utf-8", "replace"):
            number_of = (number_of ^ byte) * 0x100000001B3 & (1 << 64) - 1
        if number_of not in self._entities:
            self._entities[number_of] = named
            meta("entity", f"{named} {text(uri)}".strip())
        return number_of

    @method()
    def declare_entity_type(self, type: Any = "", role: Any = 0, description: Any = "") -> None:
        if DFTRACER_ENABLE:
            meta("entity_type", f"{text(type)} {text(description)}".strip())

    @method()
    def relate_entities(self, relation: Any = 0, subject: Any = 0, object: Any = 0) -> None:
        if DFTRACER_ENABLE and subject and object:
            meta("relation", f"{self._entities.get(subject, subject)} {_relation(relation)} {self._entities.get(object, object)}")

    @method()
    def finalize(self) -> None:
        pass


def _relation(relation: Any) -> str:
    try:
        return EntityRelation(int(relation)).name.lower()
    except (TypeError, ValueError):
        return text(relation)


_dirs_sent: set[str] = set()
ALL_FILES = "all"
DIR_BYTES = 120  # a row has no more


def _data_dirs(dirs: Any) -> None:
    """Each of them is in the trace, so that lists of files in the report leave out others: the record is whole."""
    for named in (text(dirs) if dirs else "").split(":"):
        path = os.path.realpath(named) if named and named != ALL_FILES else named
        if len(path.encode("utf-8", "replace")) > DIR_BYTES:
            path = ALL_FILES
        if path and path not in _dirs_sent:
            _dirs_sent.add(path)
            meta("DFTRACER_DATA_DIR", path)


class dft_fn(Lenient):  # noqa: N801 - its name
    """Regions of a category: a context manager, and a maker of decorators and iterators."""

    def __init__(self, cat: Any = "unknown", name: Any = None, epoch: Any = None, step: Any = None, image_idx: Any = None,
                 image_size: Any = None, enable: Any = True, *more: Any, **unknown: Any) -> None:
        for key in (*unknown, *(("further ones",) if more else ())):
            _tally.count(f"argument {key} of dft_fn")
        self._enabled = enabled(enable)
        self._cat, self._name = cat, named(name) or sys._getframe(1).f_code.co_name
        self._given = fields_of(epoch, step, image_idx, image_size)
        self._flushed = False

    def _make(self, name: Any = None) -> Any:
        return region(full_name(self._cat, named(name) or self._name), **self._given)

    def __enter__(self) -> dft_fn:
        if self._enabled:
            self._flushed = False
            made = self._make()
            _running.push(self, made)
            made.start()
        return self

    def __exit__(self, *error: Any) -> None:
        made = _running.pop(self)
        if made is not None and not self._flushed:
            made.__exit__(*(error or (None, None, None)))

    @method("self")
    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, args: Any = None) -> Any:
        """More about the one that is running, also of a function that this object decorates."""
        made = _running.innermost(lambda owner: owner is self)
        fields = fields_of(epoch, step, image_idx, image_size, args)
        if made is None:
            self._given.update(fields)
        else:
            made.update(**fields)
        return self

    @method("self")
    def flush(self) -> Any:
        """It ends now."""
        made = _running.innermost(lambda owner: owner is self)
        if made is not None:
            made.stop()
            self._flushed = True
        return self

    @method("self")
    def reset(self) -> Any:
        """It begins now, anew where it is running."""
        if self._enabled:
            _running.pop(self)
            self.__enter__()
        return self

    def _log(self, function: Any, name: Any) -> Any:
        if isinstance(function, (staticmethod, classmethod)):
            return type(function)(self._log(function.__func__, name))
        if not self._enabled or not callable(function):
            return function
        base = self._make(named(name) or getattr(function, "__qualname__", type(function).__name__))
        return timed(self, function, base.copy, takes(function))

    def _decorator(self, function: Any, name: Any, log: Callable) -> Any:
        if callable(function) or isinstance(function, (staticmethod, classmethod)):
            return log(function, name)
        given = function if isinstance(function, str) and name is None else name
        return lambda function=None, *more: log(function, given)

    @method("function")
    def log(self, func: Any = None, name: Any = None) -> Any:
        """Each call, with the epoch, step, image_idx and image_size that it is given."""
        return self._decorator(func, name, self._log)

    @method("function")
    def log_init(self, init: Any = None, name: Any = None) -> Any:
        """Each construction: INIT is a class's __init__."""
        return self._decorator(init, name, self._log)

    @method("function")
    def log_static(self, func: Any = None, name: Any = None) -> Any:
        """Each call of a static method, decorated as one or not."""
        def log(function: Any, name: Any) -> Any:
            if isinstance(function, staticmethod) or "." not in getattr(function, "__qualname__", "").rpartition("<locals>.")[2]:
                return self._log(function, name)
            return staticmethod(self._log(function, name))

        return self._decorator(func, name, log)

    @method()
    def log_metadata(self, key: Any = "unknown", value: Any = "") -> None:
        if self._enabled:
            meta(text(key), text(plain(value)))

    @method("items")
    def iter(self, func: Any = (), name: Any = "loop", iter_name: Any = "step") -> Iterator:
        """FUNC's items: NAME.iter is the wait for each, NAME.yield the work on it, ITER_NAME its number from 1."""
        if not self._enabled:
            return items(func)
        iterator = items(func)
        if hasattr(iterator, "__aiter__"):
            return _decorate.iterate(self._make(f"{text(name)}.iter"), iterator)
        return self._loop(iterator, self._make(f"{text(name)}.iter"), self._make(f"{text(name)}.yield"), text(iter_name))

    def _loop(self, iterator: Iterator, wait: Any, work: Any, counter: str) -> Iterator:
        n = 0
        while True:
            n += 1
            made = wait.copy()
            made.update(**fields_of(args={counter: n}))
            made.start()
            try:
                item = next(iterator)
            except StopIteration:
                return
            made.stop()
            made = work.copy()
            made.update(**fields_of(args={counter: n}))
            _running.push(self, made)
            made.start()
            try:
                yield item
            finally:
                _running.pop(self)
            made.stop()  # not of an item with which the loop is left, as DFTracer

    @method("self")
    def relate(self, relation: Any = 0, entity: Any = 0) -> Any:
        """The event that is running is related to ENTITY, by a number of declare_entity()."""
        if self._enabled and entity:
            self.update(args={_relation(relation): dftracer.get_instance()._entities.get(entity, entity)})
        return self

    @method("zero")
    def relate_entity(self, relation: Any = 0, type: Any = "", key: Any = "", store: Any = 0, uri: Any = "") -> int:
        if not self._enabled:
            return 0
        entity = dftracer.get_instance().declare_entity(type, key, store, uri)
        self.relate(relation, entity)
        return entity

    @method("zero")
    def uses(self, type: Any = "", key: Any = "", store: Any = 0, uri: Any = "") -> int:
        return self.relate_entity(EntityRelation.USED, type, key, store, uri)

    @method("zero")
    def generates(self, type: Any = "", key: Any = "", store: Any = 0, uri: Any = "") -> int:
        return self.relate_entity(EntityRelation.GENERATED, type, key, store, uri)
