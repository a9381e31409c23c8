# SPDX-License-Identifier: BSD-2-Clause
"""The tree of names that DFTracer 2 calls ai. As there, a category is a name, too; and what update() sets holds for all
regions of the tree from then on, those of decorators as well. Its checkpoint.capture and restart are our save and load.
"""
from __future__ import annotations

from typing import Any, Iterator, Optional

from .. import _decorate, meta, region
from . import _running, _tally
from ._lenient import Lenient, items, method
from ._log import dftracer, enabled, named
from ._names import DFTRACER_ENABLE, INIT_NAME, ROOT_CAT, ROOT_NAME
from ._timed import timed
from ._values import fields_of, text

if DFTRACER_ENABLE:
    from .. import ai as _marks_itself  # noqa: F401 - for dltraced.auto, which then adds none

OURS = {"checkpoint.capture": "checkpoint.save", "checkpoint.restart": "checkpoint.load"}
LIVE = ("checkpoint", "pipeline")  # last, so they are shown before they end


class DFTracerAI(Lenient):
    """A name, or a category with names below it, in all forms that DFTracer has."""

    def __init__(self, cat: Any = "unknown", name: Any = None, epoch: Any = None, step: Any = None, image_idx: Any = None,
                 image_size: Any = None, enable: Any = True, *more: Any, **unknown: Any) -> None:
        for key in (*unknown, *(("further ones",) if more else ())):
            _tally.count(f"argument {key} of {type(self).__name__}")
        self._cat, self._name, self._enabled = text(cat), named(name) or text(cat), enabled(enable)
        self._set = fields_of(epoch, step, image_idx, image_size)
        self._own: dict[str, Any] = {}
        self._children: dict[str, DFTracerAI] = {}
        self._base: Any = None  # a region with all of it, until update() changes that
        self._of: DFTracerAI = self  # which this one is a variant of: ai.compute.step(epoch=1)

    @property
    def cat(self) -> str:
        return self._cat

    @property
    def name(self) -> str:
        return self._name

    def __getattr__(self, name: str) -> Any:
        """A name that DFTracer does not have is made when it is first asked for."""
        if name.startswith("_"):
            raise AttributeError(name)
        _tally.count(f"ai.{self._cat}.{name}, recorded as any name")
        self.__dict__[name] = made = self.derive(name)
        return made

    # --- regions ---

    def _make(self) -> Any:
        if self._base is None or self._of is not self:
            full = f"{self._cat.replace('.', '_')}.{self._name}"
            self._base = region(f"ai.{OURS.get(full, full)}", live=self._cat in LIVE, **{**self._of._set, **self._own})
        return self._base.copy()

    def __enter__(self) -> DFTracerAI:
        if self._enabled:
            made = self._make()
            lane = _decorate.lane_of_task()
            if lane is not None:
                made.lane = lane
            _running.push(self, made)
            made.start()
        return self

    def __exit__(self, *error: Any) -> None:
        made = _running.pop(self)
        if made is not None:
            made.__exit__(*(error or (None, None, None)))

    @method()
    def start(self, metadata: Any = False) -> None:
        if metadata and self._enabled:
            meta(f"{self._name}.start", text(dftracer.get_instance().get_time()))
        elif not metadata:
            entry = _running.get()
            if entry is not None and entry[0] is self:  # it was begun and not ended: as there, it begins anew
                _running.pop(self)
            self.__enter__()

    @method()
    def stop(self, metadata: Any = False) -> None:
        if metadata and self._enabled:
            meta(f"{self._name}.end", text(dftracer.get_instance().get_time()))
        elif not metadata:
            self.__exit__()

    def __call__(self, fn: Any = None, *more: Any, **given: Any) -> Any:
        """Decorates FN; without it, this name with what is GIVEN."""
        enable = given.pop("enable", None)
        of = self._with(given, more) if given or more else self
        on = self._enabled if enable is None else enabled(enable)
        if not callable(fn) and not isinstance(fn, (staticmethod, classmethod)):
            if fn is not None:
                _tally.count(f"ai of a {type(fn).__name__}")
            if on != of._enabled:
                of = of if of is not self else self._with({}, ())
                of._enabled = on
            return of
        return timed(of, fn, of._make) if on else fn

    def _with(self, given: dict[str, Any], more: tuple) -> DFTracerAI:
        for key in (*(given.keys() - {"epoch", "step", "image_idx", "image_size", "args"}), *(("further ones",) if more else ())):
            _tally.count(f"argument {key} of ai")
            given.pop(key, None)
        made = DFTracerAI(self._cat, self._name)
        made._of, made._enabled, made._own = self._of, self._enabled, {**self._own, **fields_of(**given)}
        return made

    @method("items")
    def iter(self, iterator: Any = (), *, include_block: Any = True, include_iter: Any = True, iter_name: Any = None,
             block_name: Any = None) -> Iterator:
        """The wait for each item; in a pipeline the work on it. DFTracer has both, as two names."""
        if not self._enabled or not (include_block if self._cat == "pipeline" else include_iter):
            return items(iterator)
        if self._cat == "pipeline":
            return self._work(iterator)
        base = self._make()
        base.step = None  # which our iterators count
        return _decorate.iterate(base, items(iterator))

    def _work(self, iterable: Any) -> Iterator:
        for number, item in enumerate(items(iterable)):
            made = self._make()
            made.update(**fields_of(epoch=item if type(item) is int else number))
            _running.push(self, made)
            made.start()
            try:
                yield item
            finally:
                _running.pop(self)
                made.stop()

    # --- what holds from now on ---

    def _each(self) -> list[DFTracerAI]:
        return [self, *(name for child in self._children.values() for name in child._each())]

    @method("self")
    def update(self, epoch: Any = None, step: Any = None, image_idx: Any = None, image_size: Any = None, args: Any = None) -> Any:
        """What regions of this name and those below have from now on, those that are running, too."""
        fields = fields_of(epoch, step, image_idx, image_size, args)
        names = self._of._each()
        for name in names:
            name._set.update(fields)
            name._base = None
        for made in _running.each(lambda owner: isinstance(owner, DFTracerAI) and owner._of in names):
            made.update(**fields)
        return self

    @method()
    def reset(self) -> None:
        if _running.pop(self) is not None:
            self.__enter__()

    @method()
    def enable(self) -> None:
        for name in self._each():
            name._enabled = DFTRACER_ENABLE

    @method()
    def disable(self) -> None:
        for name in self._each():
            name._enabled = False

    @method("zero")
    def get_time(self) -> int:
        return dftracer.get_instance().get_time()

    # --- names below ---

    def _add(self, attribute: str, name: str) -> DFTracerAI:
        made = DFTracerAI(self._cat, name)
        made._set.update(self._set)
        made._enabled = self._enabled
        self._children[attribute] = made
        return made

    @method()
    def create_children(self, names: Any = None) -> None:
        for attribute, name in (names or {}).items():
            self.__dict__[text(attribute)] = self._add(text(attribute), text(name))

    @method("self")
    def derive(self, name: Any = "unknown") -> Any:
        """A name below this one, made when it is first used."""
        full = f"{self._name}.{text(name)}"
        return self._children.get(full) or self._add(full, full)

    @method("function")
    def init(self, fn: Any = None, *, enable: Any = None, epoch: Any = None, step: Any = None, image_idx: Any = None,
             image_size: Any = None, args: Any = None) -> Any:
        """Of a class's construction."""
        given = {"enable": enable, "epoch": epoch, "step": step, "image_idx": image_idx, "image_size": image_size, "args": args}
        return self.derive(INIT_NAME)(fn, **{key: value for key, value in given.items() if value is not None})


class IO(DFTracerAI):
    """Of a data object: open, read, write, close."""

    def __init__(self, cat: Any = "unknown", parent_name: Any = "unknown", *given: Any, **named: Any) -> None:
        super().__init__(cat, f"{text(parent_name)}.io", *given, **named)
        self.create_children({name: f"{self._name}.{name}" for name in ("open", "read", "write", "close")})


def _category(class_name: str, cat: str, names: str, io: bool = False) -> Any:
    """A class of the names of category CAT."""
    def __init__(self: Any, *given: Any, **named: Any) -> None:
        DFTracerAI.__init__(self, cat, cat, *given, **named)
        self.create_children({name: f"other.{name}" if cat == "other" else name for name in names.split()})
        if io:
            self.__dict__["io"] = self._children["io"] = IO(cat, cat, *given, **named)

    return type(DFTracerAI)(class_name, (DFTracerAI,), {"__init__": __init__, "__module__": __name__})


Compute = _category("Compute", "compute", "forward backward step")
Data = _category("Data", "data", "preprocess item", io=True)
DataLoader = _category("DataLoader", "dataloader", "fetch")
Communication = _category("Communication", "comm", "send receive barrier bcast reduce all_reduce gather all_gather scatter "
                                                   "reduce_scatter all_to_all")
Device = _category("Device", "device", "transfer")
Checkpoint = _category("Checkpoint", "checkpoint", "capture restart", io=True)
Pipeline = _category("Pipeline", "pipeline", "epoch train evaluate test")
Other = _category("Other", "other", "log", io=True)
CATEGORIES = {"compute": Compute, "data": Data, "dataloader": DataLoader, "comm": Communication, "device": Device,
              "checkpoint": Checkpoint, "pipeline": Pipeline, "other": Other}


class AI(DFTracerAI):
    """The root."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(ROOT_CAT, ROOT_NAME, *given, **named)
        for name, category in CATEGORIES.items():
            self.__dict__[name] = self._children[name] = category(*given, **named)


ai = AI()


def category(name: str) -> Optional[DFTracerAI]:
    return ai._children.get(name)
