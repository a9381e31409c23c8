# SPDX-License-Identifier: BSD-2-Clause
"""Regions of unmodified PyTorch programs: its own functions are wrapped when its modules are imported, never before, and
torch is not imported for it. PyTorch 1.13 and 2.

    ai.dataloader.start     a trainer begins an iteration of a DataLoader, which starts its workers
    ai.dataloader.fetch     a trainer waits for a batch of it; the last of an epoch, which finds its end, too
    ai.data.batch           a batch is read and collated, in the worker where there is one
    ai.compute.backward     Tensor.backward(): with a GPU, until its work is in the queue
    ai.compute.step         Optimizer.step(), of any class
    ai.checkpoint.save/load torch.save, torch.load, torch.distributed.checkpoint
    ai.comm.*               collectives of torch.distributed that the program calls; those of DistributedDataParallel are C++

A program that imports dltraced.ai, or what stands in for DFTracer, marks its regions itself: then none are added. Marking
takes as long as half a step of a tiny model (docs/regions.md), so a process that has more than 200 a second for long gets no more of them, and says so, unless
DLTRACED_REGIONS=all is in its environment.

STEP counts the steps of an optimizer from 0: what comes before step N has N too. EPOCH counts the iterations of a loader.
A backward pass has the number of samples of its batch, where that is certain (_samples.py).
"""
from __future__ import annotations

import contextlib
import contextvars
import functools
import importlib.util
import os
import sys
import time
import weakref
from typing import Any, Callable, Iterable, Optional

from . import _implementation as implementation
from ._samples import Samples

_inside: contextvars.ContextVar[tuple] = contextvars.ContextVar("dltraced_inside", default=())


class _Pace:
    """Ends the marking where it would cost too much. It looks at the clock once in 1000 regions."""
    REGIONS, SECONDS, TIMES = 1000, 5.0, 4  # so many in less time, so often one after the other

    def __init__(self) -> None:
        self.left, self.fast, self.since = self.REGIONS, 0, time.monotonic()
        self.ended = False

    def count(self) -> None:
        self.left -= 1
        if self.left > 0 or os.environ.get("DLTRACED_REGIONS") == "all":
            return
        now = time.monotonic()
        self.fast = self.fast + 1 if now - self.since < self.SECONDS else 0
        self.left, self.since, self.ended = self.REGIONS, now, self.fast == self.TIMES
        if self.ended:
            implementation.send(implementation.region("dltraced.regions"), implementation.META, 0, "ended")


class _Progress:
    """How far this process is. A forked child begins anew: what its parent counts is not its own."""

    def __init__(self) -> None:
        self.epoch: Optional[int] = None
        self.step: Optional[int] = None
        self.given: Optional[int] = None  # the epoch, by a trainer's callback, which knows better than the loader
        self.steps: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # optimizer: its steps
        self.epochs: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # loader: its iterations
        self.of_iterator: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # iterator: its loader's epoch
        self.samples = Samples()
        self.pace = _Pace()


_progress = _Progress()
os.register_at_fork(after_in_child=lambda: _progress.__init__())  # type: ignore[misc]


def _region(name: str, live: bool = False, **fields: Any) -> Any:
    _progress.pace.count()
    made = implementation.region(name, epoch=_progress.epoch, step=_progress.step, live=live, **fields)
    return implementation.with_source(made, implementation.SOURCE_TORCH)


_AI = __package__ + ".ai"  # whoever has imported it marks its regions itself
_of_callbacks = False  # a trainer's callback marks all but its loaders


def _silent() -> bool:
    return _AI in sys.modules or _progress.pace.ended


def _compiling() -> bool:
    """Is torch.compile reading the code that calls us? It is to find the function as it was."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", None)
    return bool(is_compiling and is_compiling())


def _wrap(owner: Any, attribute: str, name: str, live: bool = False, fields: Optional[Callable] = None) -> None:
    """OWNER's function ATTRIBUTE, each outermost call of it a region NAME."""
    original = getattr(owner, attribute, None)
    if original is None or hasattr(original, "_dltraced"):
        return

    @functools.wraps(original)
    def timed(*args: Any, **kwargs: Any) -> Any:
        if _compiling() or _silent():
            return original(*args, **kwargs)
        inside = _inside.get()
        if name in inside:
            return original(*args, **kwargs)
        token = _inside.set((*inside, name))
        try:
            with _region(name, live, **(fields(args, kwargs) if fields else {})):
                return original(*args, **kwargs)
        finally:
            _inside.reset(token)

    timed._dltraced = True  # type: ignore[attr-defined]
    setattr(owner, attribute, timed)


# --- loaders ---------------------------------------------------------------------------------------------------


def _marks_loaders() -> bool:
    return not _progress.pace.ended and (_of_callbacks or _AI not in sys.modules)


def _loader_fields(loader: Any) -> dict[str, Any]:
    """How LOADER makes its batches: what another number of workers would change (docs/what-if.md). Fields that this torch
    does not have are left out. Called once its workers run, when the way to start them has been chosen."""
    fields: dict[str, Any] = {"workers": loader.num_workers}
    if loader.num_workers:
        context = loader.multiprocessing_context or sys.modules.get("multiprocessing")
        fields.update(prefetch=loader.prefetch_factor, persistent=int(loader.persistent_workers),
                      in_order=int(getattr(loader, "in_order", True)), method=context and context.get_start_method())
    kind = sys.modules["torch.utils.data.dataloader"]._DatasetKind
    size = loader.batch_size or getattr(loader.batch_sampler, "batch_size", None)  # a sampler of the program's may have none
    fields.update(pin=int(loader.pin_memory), iterable=int(loader._dataset_kind == kind.Iterable), batch=size)
    return {name: value for name, value in fields.items() if isinstance(value, (int, str))}


def _patch_loaders(module: Any) -> None:
    iterator, loader = module._BaseDataLoaderIter, module.DataLoader
    next_item, begin, next_index, reset = iterator.__next__, loader.__iter__, iterator._next_index, iterator._reset

    @functools.wraps(begin)
    def __iter__(self: Any) -> Any:
        if not _marks_loaders():
            return begin(self)
        epoch = _progress.epochs.get(self, -1) + 1
        if _progress.step is None:
            _progress.step = 0
        start = _region("ai.dataloader.start", live=True)  # the page cache's sums are those of a new epoch from here on
        start.epoch = epoch if _progress.given is None else _progress.given
        with start:
            items = begin(self)
            with contextlib.suppress(AttributeError, KeyError):  # of a torch that is built otherwise: then without
                start.update(**_loader_fields(self))
        _progress.epochs[self] = _progress.of_iterator[items] = epoch
        return items

    @functools.wraps(next_item)
    def __next__(self: Any) -> Any:
        if not _marks_loaders():
            return next_item(self)
        _progress.epoch = _progress.of_iterator.get(self) if _progress.given is None else _progress.given
        if _progress.step is None:
            _progress.step = 0
        with _region("ai.dataloader.fetch") as fetch:
            try:
                batch = next_item(self)
            except StopIteration:
                fetch.update(end=1)
                raise
        _progress.samples.returned(self, batch)
        return batch

    @functools.wraps(next_index)
    def _next_index(self: Any) -> Any:
        index = next_index(self)
        if _marks_loaders():
            _progress.samples.chosen(self, index)
        return index

    @functools.wraps(reset)
    def _reset(self: Any, *args: Any, **kwargs: Any) -> Any:
        _progress.samples.reset(self)
        return reset(self, *args, **kwargs)

    loader.__iter__ = __iter__
    iterator.__next__ = __next__
    iterator._next_index, iterator._reset = _next_index, _reset
    if "next" in vars(iterator):
        iterator.next = __next__


def _patch_fetchers(module: Any) -> None:
    for fetcher in (module._MapDatasetFetcher, module._IterableDatasetFetcher):
        original = fetcher.fetch

        @functools.wraps(original)
        def fetch(self: Any, wanted: Any, original: Callable = original) -> Any:
            if not _marks_loaders():
                return original(self, wanted)
            worker = sys.modules["torch"].utils.data.get_worker_info()
            with _region("ai.data.batch", **({"worker": worker.id} if worker else {})) as batch:
                try:
                    return original(self, wanted)
                except StopIteration:
                    batch.update(end=1)
                    raise

        fetcher.fetch = fetch


# --- the trainer's work ----------------------------------------------------------------------------------------


def _wrap_step(of: type) -> None:
    """The function step that class OF has, its own or that of a class above it: once."""
    original = of.step  # type: ignore[attr-defined]
    if hasattr(original, "_dltraced"):
        return

    @functools.wraps(original)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _compiling() or _silent() or "step" in _inside.get():  # of a class above, or of an optimizer that this one is made of
            return original(self, *args, **kwargs)
        count = _progress.steps.get(self, 0)
        _progress.step = max(count, _progress.step or 0)
        token = _inside.set((*_inside.get(), "step"))
        try:
            with _region("ai.compute.step") as made:
                made.step = count
                return original(self, *args, **kwargs)
        finally:
            _inside.reset(token)
            _progress.steps[self] = count + 1
            _progress.step = max(count + 1, _progress.step)

    step._dltraced = True  # type: ignore[attr-defined]
    of.step = step  # type: ignore[attr-defined]


def _patch_optimizers(module: Any) -> None:
    """Each class when its first object is made: then its step is what torch itself has made of it."""
    def after(method: str) -> None:
        original = getattr(module.Optimizer, method)

        @functools.wraps(original)
        def made(self: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(self, *args, **kwargs)
            if callable(getattr(type(self), "step", None)):
                _wrap_step(type(self))
            return result

        setattr(module.Optimizer, method, made)

    after("__init__")
    after("__setstate__")  # of a pickled one


def _batch_fields(args: tuple, kwargs: dict) -> dict[str, Any]:
    samples = _progress.samples.taken()
    return {} if samples is None else {"samples": samples}


def _patch_tensors(module: Any) -> None:
    _wrap(module.Tensor, "backward", "ai.compute.backward", fields=_batch_fields)


# --- checkpoints and collectives -------------------------------------------------------------------------------


def _patch_checkpoints(module: Any) -> None:
    for function, name in (("save", "save"), ("save_state_dict", "save"), ("async_save", "save"),
                           ("load", "load"), ("load_state_dict", "load")):
        _wrap(module, function, "ai.checkpoint." + name, live=True)


COLLECTIVES = {
    "send": "send", "isend": "send", "recv": "receive", "irecv": "receive",
    "barrier": "barrier", "monitored_barrier": "barrier",
    "broadcast": "bcast", "broadcast_object_list": "bcast", "reduce": "reduce", "all_reduce": "all_reduce",
    "gather": "gather", "gather_object": "gather", "all_gather": "all_gather", "all_gather_object": "all_gather",
    "all_gather_into_tensor": "all_gather", "_all_gather_base": "all_gather", "scatter": "scatter",
    "scatter_object_list": "scatter", "reduce_scatter": "reduce_scatter", "reduce_scatter_tensor": "reduce_scatter",
    "_reduce_scatter_base": "reduce_scatter", "all_to_all": "all_to_all", "all_to_all_single": "all_to_all",
}


def _collective_fields(args: tuple, kwargs: dict) -> dict[str, Any]:
    """The bytes of a tensor that is given first; async=1: until it is in the queue."""
    tensor = args[0] if args else kwargs.get("tensor")
    fields = {"async": 1} if kwargs.get("async_op") else {}
    try:
        fields["bytes"] = tensor.numel() * tensor.element_size()
    except (AttributeError, RuntimeError, TypeError):
        pass
    return fields


def _patch_collectives(module: Any) -> None:
    for function, name in COLLECTIVES.items():
        _wrap(module, function, "ai.comm." + name, fields=_collective_fields)


# --- at the import ---------------------------------------------------------------------------------------------

PATCHES: dict[str, Callable] = {
    "torch._tensor": _patch_tensors,
    "torch.distributed._shard.checkpoint.state_dict_loader": _patch_checkpoints,
    "torch.distributed._shard.checkpoint.state_dict_saver": _patch_checkpoints,
    "torch.distributed.checkpoint.state_dict_loader": _patch_checkpoints,
    "torch.distributed.checkpoint.state_dict_saver": _patch_checkpoints,
    "torch.distributed.distributed_c10d": _patch_collectives,
    "torch.optim.optimizer": _patch_optimizers,
    "torch.serialization": _patch_checkpoints,
    "torch.utils.data._utils.fetch": _patch_fetchers,
    "torch.utils.data.dataloader": _patch_loaders,
}


def _patch(module: Any) -> None:
    try:
        PATCHES[module.__name__](module)
    except Exception as error:  # a torch that is built otherwise: the program goes on
        sys.stderr.write(f"dltraced: no regions of {module.__name__}, which is not as expected: {error!r}\n")


class _Finder:  # not of importlib.abc, whose import alone takes longer than all of this package
    """Finds what the others find, and patches it once it has been executed."""

    def __init__(self, names: Iterable[str]) -> None:
        self._left = set(names)

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name not in self._left:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            return None
        if not hasattr(spec.loader, "exec_module"):
            return spec
        self._left.discard(name)
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            _patch(module)

        try:
            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        except AttributeError:  # of a loader that has no place for it
            pass
        return spec


def install(names: Iterable[str] = PATCHES) -> None:
    """Marks what of the modules NAMES is imported from now on, and what of it is there already. Only the first call does."""
    global _of_callbacks
    _of_callbacks = _of_callbacks or names is LOADERS
    if not implementation.ENABLED or any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder(names))
    for name in names:
        if name in sys.modules:
            _patch(sys.modules[name])
    for name in ("save", "load"):  # which torch has taken out of torch.serialization
        if "torch.serialization" in sys.modules and hasattr(sys.modules.get("torch"), name):
            setattr(sys.modules["torch"], name, getattr(sys.modules["torch.serialization"], name))


# --- for the callbacks of trainers -----------------------------------------------------------------------------

LOADERS = ("torch.utils.data._utils.fetch", "torch.utils.data.dataloader")


def reached(epoch: int, step: int) -> None:
    """The trainer is here: fetches from now on have these numbers."""
    _progress.given, _progress.step = epoch, step


def samples() -> dict[str, int]:
    """The samples of the oldest batch that was fetched and not asked for yet, as a field of a region: none if unknown."""
    return _batch_fields((), {})
