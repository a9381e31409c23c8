# SPDX-License-Identifier: BSD-2-Clause
"""regions.py TALLY [fallback]: regions by the package dltraced: context managers, decorators, iterators, generators,
coroutines, recursion, exceptions, threads, forked and spawned processes. Each that is to have a row is a line of TALLY, in
JSON, with the program's own clock around its begin and its end. fallback: by the package's pure Python.
regions.py bench [fallback]: ns per region of each form.
"""
import asyncio
import concurrent.futures
import contextlib
import functools
import json
import multiprocessing
import os
import sys
import threading
import time

FALLBACK = "fallback" in sys.argv or os.environ.get("FALLBACK")
if FALLBACK:
    sys.modules["dltraced._region"] = None
    os.environ["FALLBACK"] = "1"  # for spawned processes as well

import dltraced  # noqa: E402
from dltraced import ai  # noqa: E402

now = time.monotonic_ns
tally = None


def note(name, at, *, step=None, epoch=None, bytes=None, args="-", failed=False, task=None):
    """AT: times before and after the begin, before and after the end. TASK: regions of different tasks have different lanes.
    """
    line = {"pid": os.getpid(), "tid": threading.get_native_id(), "name": name, "at": at, "step": step, "epoch": epoch,
            "bytes": bytes, "args": args, "failed": failed, "task": task}
    os.write(tally, json.dumps(line).encode() + b"\n")


class Clock:
    """The times around a region, in the order of calls."""

    def __init__(self):
        self.at = [now()]

    def __call__(self):
        self.at.append(now())


def context_managers():
    for i in range(20):
        clock = Clock()
        with dltraced.region("py.with", step=i, epoch=2, bytes=4096, kind="x", n=i) as r:
            clock()
            r.update(step=i + 100, more="a b")
            clock()
        clock()
        note("py.with", clock.at, step=i + 100, epoch=2, bytes=4096, args=f"kind=x\\012n={i}\\012more=a\\040b")
    reused = dltraced.region("py.reused")
    for i in range(20):
        clock = Clock()
        with reused as r:
            clock()
            r.update(use=i)  # for this use only
            clock()
        clock()
        note("py.reused", clock.at, args=f"use={i}")
    clock = Clock()
    with dltraced.region("py.live", live=True, size=1):
        clock()
        clock()
    clock()
    note("py.live", clock.at, args="size=1")
    outer = Clock()
    with reused:  # nested in itself
        outer()
        inner = Clock()
        with reused:
            inner()
            inner()
        inner()
        note("py.reused", inner.at)
        outer()
    outer()
    note("py.reused", outer.at)


def hostile_text():
    """Names and arguments of any length and content."""
    for name, text in (("é" * 40, "é" * 32), ("py.\ud800x", "py.?x"), ("py.nul\0more", "py.nul"), ("x" * 64 + ".y", "x" * 64)):
        clock = Clock()
        with dltraced.region(name, line="1\n2\0", long="y" * 200, last=1):
            clock()
            clock()
        clock()
        note(text, clock.at, args="line=1\\0402\\040\\012last=1")
    if not dltraced.enabled():
        return
    for wrong in (lambda: dltraced.region(1), lambda: dltraced.region(), lambda: dltraced.region("x", step="1")):
        with contextlib.suppress(TypeError):
            wrong()
            sys.exit("no TypeError")
    with contextlib.suppress(OverflowError):
        dltraced.region("x", step=1 << 64)
        sys.exit("no OverflowError")


def decorators():
    inside = []

    @dltraced.region("py.call", fixed=1)
    def call(depth):
        """Documented."""
        inside.append(now())
        if depth:
            recursive(depth - 1)
        inside.append(now())
        return depth

    def recursive(depth):
        clock = Clock()
        del inside[:]
        result = call(depth)
        clock()
        # known are the innermost begin and the last end; the order of calls bounds those between
        at = [clock.at[0], inside[0] if not depth else clock.at[1], inside[-1], clock.at[1]]
        note("py.call", at, args="fixed=1")
        return result

    for depth in range(4):
        if recursive(depth) != depth:
            sys.exit("another result")
    if call.__name__ != "call" or call.__doc__ != "Documented.":
        sys.exit(f"not its name: {call}")

    class Model:
        @ai.compute.forward
        def forward(self, x, *, y=1):
            return self, x, y

        @staticmethod
        @ai.compute.forward
        def static(x):
            return x

        @ai.compute.forward
        @classmethod
        def of_class(cls, x):
            return cls, x

    model = Model()
    for function, result in ((functools.partial(model.forward, 1, y=2), (model, 1, 2)), (functools.partial(Model.static, 3), 3),
                             (functools.partial(Model.of_class, 4), (Model, 4))):
        clock = Clock()
        if function() != result:
            sys.exit(f"not {result}")
        clock()
        note("ai.compute.forward", [clock.at[0], clock.at[1]] * 2)

    @dltraced.region("py.made")
    class Made:
        def __init__(self, x):
            self.x = x

    clock = Clock()
    if Made(5).x != 5 or not isinstance(Made, type):
        sys.exit("not the class")
    clock()
    note("py.made", [clock.at[0], clock.at[1]] * 2)


def iterators():
    """A region for each wait, and for the one at the end."""
    for name, made in (("ai.dataloader.fetch", lambda: ai.dataloader.fetch.iter(range(8))),
                       ("py.iterate", lambda: dltraced.iterate(range(8), "py.iterate"))):
        at = now()
        step = -1
        for step, item in enumerate(made()):
            note(name, [at, now()] * 2, step=step)
            at = now()
        note(name, [at, now()] * 2, step=step + 1, args="end=1")

    @dltraced.region("py.generator")
    def generator(n):
        got = 0
        for i in range(n):
            got = (yield got + i) or 0

    items = generator(3)
    at = now()
    steps = 0
    for value, result in ((None, 0), (10, 11), (20, 22)):
        if items.send(value) != result:
            sys.exit("another item")
        note("py.generator", [at, now()] * 2, step=steps)
        steps += 1
        at = now()
    with contextlib.suppress(ValueError):
        at = now()
        items.throw(ValueError("thrown"))
    note("py.generator", [at, now()] * 2, step=steps, failed=True)
    closed = generator(3)
    at = now()
    next(closed)
    closed.close()
    note("py.generator", [at, now()] * 2, step=0)
    for epoch in ai.pipeline.epoch.iter(range(2)):
        clock = Clock()
        clock()
    # its last epoch begins before, and ends after, the clock
    note("ai.pipeline.epoch", [clock.at[0] - 10**9, clock.at[0], clock.at[1], now()], epoch=1)
    note("ai.pipeline.epoch", [clock.at[0] - 10**9, clock.at[0], clock.at[0] - 10**9, clock.at[0]], epoch=0)


def exceptions():
    @dltraced.region("py.raises")
    def raises(error):
        raise error

    for error, failed in ((ValueError("x"), True), (KeyboardInterrupt(), True), (StopIteration(), False)):
        clock = Clock()
        with contextlib.suppress(type(error)):
            raises(error)
        clock()
        note("py.raises", [clock.at[0], clock.at[1]] * 2, failed=failed)
        clock = Clock()
        with contextlib.suppress(type(error)), dltraced.region("py.left"):
            raise error
        clock()
        note("py.left", [clock.at[0], clock.at[1]] * 2, failed=failed)

    def failing():
        yield 1
        raise ValueError

    at = now()
    items = dltraced.iterate(failing(), "py.failing")
    next(items)
    note("py.failing", [at, now()] * 2, step=0)
    at = now()
    with contextlib.suppress(ValueError):
        next(items)
    note("py.failing", [at, now()] * 2, step=1, failed=True)


async def tasks():
    """Regions that overlap on one thread, each in its own lane."""
    @dltraced.region("py.async")
    async def coroutine(task):
        begun = now()
        await asyncio.sleep(0.001 * (5 - task))
        return begun, now()

    @dltraced.region("py.items")
    async def items():
        for i in range(3):
            await asyncio.sleep(0)
            yield i

    async def one(task):
        at = now()
        begun, ended = await coroutine(task)
        note("py.async", [at, begun, ended, now()], task=task)
        clock = Clock()
        async with dltraced.region("py.async_with"):
            clock()
            await asyncio.sleep(0.001 * task)
            clock()
        clock()
        note("py.async_with", clock.at, task=task)
        clock = Clock()
        with ai.data.preprocess:  # one object for all of them
            clock()
            await asyncio.sleep(0.001 * task)
            clock()
        clock()
        note("ai.data.preprocess", clock.at, task=task)
        at = now()
        step = 0
        async for item in items():
            note("py.items", [at, now()] * 2, step=item, task=task)
            at, step = now(), item + 1
        note("py.items", [at, now()] * 2, step=step, args="end=1", task=task)

    await asyncio.gather(*map(one, range(1, 5)))


def names():
    """start() and stop(), nested, and numbers that stay until they are replaced."""
    ai.update(epoch=7, step=9)
    outer = Clock()
    ai.checkpoint.save.start(bytes=5)
    outer()
    inner = Clock()
    ai.checkpoint.save.start(step=1)
    inner()
    inner()
    ai.checkpoint.save.stop(shard=2)
    inner()
    note("ai.checkpoint.save", inner.at, epoch=7, step=1, args="shard=2")
    outer()
    ai.checkpoint.save.stop()
    outer()
    note("ai.checkpoint.save", outer.at, epoch=7, step=9, bytes=5)
    ai.checkpoint.save.stop()  # without a start()
    clock = Clock()
    with ai.comm.my_own(step=3):
        clock()
        clock()
    clock()
    note("ai.comm.my_own", clock.at, epoch=7, step=3)
    ai._current.clear()
    at = now()
    dltraced.mark("py.instant", step=1, why="x")
    note("py.instant", [at, now()] * 2, step=1, args="why=x")
    at = now()
    dltraced.meta("batch_size", 32)
    note("batch_size", [at, now()] * 2, args="32")


def leaf(count, name="py.leaf"):
    for i in range(count):
        clock = Clock()
        with ai.data.item(step=i):
            clock()
            clock()
        clock()
        note("ai.data.item", clock.at, step=i)


@dltraced.region("py.worker")
def worker(path):  # looked up by its name in a spawned process
    open_tally(path)
    leaf(10)


def processes(path):
    for method in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(method)
        at = now()
        process = context.Process(target=worker, args=(path,))
        process.start()
        process.join()
        if process.exitcode:
            sys.exit(f"{method}: {process.exitcode}")
        line = {"pid": process.pid, "tid": process.pid, "name": "py.worker", "at": [at, now()] * 2, "step": None, "epoch": None,
                "bytes": None, "args": "-", "failed": False, "task": None}
        os.write(tally, json.dumps(line).encode() + b"\n")


def threads():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(leaf, [50] * 8))


def open_tally(path):
    global tally
    tally = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)


def bench():
    """Returns the ns per region, in the thread's CPU time: the median of three."""
    def nothing(x):
        return x

    reused, decorated, items = dltraced.region("py.bench"), dltraced.region("py.bench")(nothing), range(100000)

    def plain():
        for i in items:
            pass

    def call():
        for i in items:
            nothing(i)

    def with_reused():
        for i in items:
            with reused:
                pass

    def with_new():
        for i in items:
            with dltraced.region("py.bench", step=i):
                pass

    def decorator():
        for i in items:
            decorated(i)

    def iterator():
        for i in dltraced.iterate(items, "py.bench"):
            pass

    for form in (plain, call, with_reused, with_new, decorator, iterator):
        took = []
        for _ in range(3):
            begun = time.thread_time_ns()
            form()
            took.append((time.thread_time_ns() - begun) / len(items))
        print(f"{form.__name__:12} {sorted(took)[1]:7.0f}")


def main():
    if sys.argv[1] == "bench":
        bench()
        return
    open_tally(sys.argv[1])
    context_managers()
    hostile_text()
    decorators()
    iterators()
    exceptions()
    asyncio.run(tasks())
    names()
    threads()
    processes(sys.argv[1])


if __name__ == "__main__":
    main()
