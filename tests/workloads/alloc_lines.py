# SPDX-License-Identifier: BSD-2-Clause
"""alloc_lines [COUNT]: allocates blocks of 64 KiB and more at known lines, with the GIL and, by ctypes, without it: in
functions, recursion, generators, coroutines, classes, code that is compiled again and again, threads, and forked children.
Prints what each stack has got: calls, bytes, and the stack from the innermost frame on, as sites.out has it.
"""
import asyncio
import collections
import ctypes
import os
import sys
import threading

N = int(sys.argv[1]) if len(sys.argv) > 1 else 1
QUALIFIED = sys.version_info >= (3, 11)  # what a function is called
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
tally = collections.Counter()
lock = threading.Lock()


def note(size, depth=1):
    """The caller's line has allocated SIZE bytes."""
    frame = sys._getframe(depth)
    frames = []
    while frame and len(frames) < 32:
        code = frame.f_code
        name = code.co_qualname if QUALIFIED else code.co_name
        frames.append(f"{code.co_filename}:{frame.f_lineno}:{name}")
        frame = frame.f_back
    with lock:
        tally[";".join(frames), size] += 1


def keeps(n):
    for _ in range(50 * n):
        b = bytearray(100000 - 1); note(100000)
    for _ in range(7 * n):
        b = bytearray(300000 - 1); note(300000)
    return b


def without_gil(n):
    for _ in range(30 * n):
        libc.free(libc.malloc(200000)); note(200000)


def recursive(depth):
    b = bytearray(70000 - 1); note(70000)
    if depth:
        recursive(depth - 1)
    libc.free(libc.malloc(80000)); note(80000)
    return b


def generates(n):
    for i in range(n):
        b = bytearray(90000 - 1); note(90000)
        yield b


def delegates(n):
    yield from generates(n)


class Layer:
    def forward(self, n):
        f = lambda: (bytearray(110000 - 1), note(110000))
        for _ in range(n):
            f()

    def __del__(self):
        b = bytearray(120000 - 1); note(120000)


async def coroutine(n):
    for _ in range(n):
        await asyncio.sleep(0)
        b = bytearray(130000 - 1); note(130000)


def compiled(n):
    """The memory of one code object is used for the next."""
    for i in range(40 * n):
        source = "\n" * (i % 13) + "def f():\n" + "\n" * (i % 7) + "    b = bytearray(140000 - 1); note(140000)\nf()\n"
        exec(compile(source, f"<made {i % 3}>", "exec"), {"note": note})


def deep(n):
    if n:
        return deep(n - 1)
    b = bytearray(150000 - 1); note(150000)


def sorts(n):
    def key(x):
        b = bytearray(160000 - 1); note(160000)
        return -x
    return sorted(range(n), key=key)


def everything():
    keeps(N)
    without_gil(N)
    for _ in range(N):
        recursive(5)
    sum(1 for _ in delegates(10 * N))
    for _ in range(N):
        Layer().forward(3)
    asyncio.run(coroutine(5 * N))
    compiled(N)
    for i in range(60):
        deep(i)
    sorts(6 * N)


def threads(n):
    all = [threading.Thread(target=t) for t in (lambda: keeps(1), lambda: without_gil(1), lambda: recursive(3)) * n]
    for t in all:
        t.start()
    for t in all:
        t.join()


def child():
    global tally
    pipe = os.pipe()
    pid = os.fork()
    if not pid:
        tally = collections.Counter()
        everything()
        threads(1)
        os.write(pipe[1], repr(dict(tally)).encode())
        os._exit(0)
    os.close(pipe[1])
    with os.fdopen(pipe[0]) as f:
        theirs = eval(f.read())
    os.waitpid(pid, 0)
    tally.update(theirs)


if __name__ == "__main__":
    everything()
    threads(4)
    child()
    for (stack, size), calls in sorted(tally.items()):
        print(calls, calls * size, stack)
