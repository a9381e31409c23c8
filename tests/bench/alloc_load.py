# SPDX-License-Identifier: BSD-2-Clause
"""alloc_load -n TIMES -b BLOCK -g GATE -o RESULT PATTERN: as load.c, pairs of malloc and free by lines of Python.

  python        the memory of a bytearray of 1000 bytes, 6 functions deep
  python-deep   the same 30 functions deep
  python-called the same, each in a call of a function
  python-nogil  malloc(3) and free(3) by ctypes, which gives up the GIL, in a thread of its own, 6 functions deep
"""
import argparse
import ctypes
import json
import os
import threading
import time

DEPTH = {"python": 6, "python-deep": 30, "python-called": 6, "python-nogil": 6}


def least_of(args, block):
    """Returns the CPU ns of a pair in the best block."""
    least = float("inf")
    for _ in range(max(args.n // args.b, 1)):
        begin = time.thread_time_ns()
        block(range(args.b))
        least = min(least, time.thread_time_ns() - begin)
    return least / args.b


def objects(r):
    for _ in r:
        bytearray(1000)


def made():
    bytearray(1000)


def called(r):
    for _ in r:
        made()


def calls(r):
    for _ in r:
        free(malloc(1000))


def down(depth, args, block):
    return down(depth - 1, args, block) if depth > 1 else least_of(args, block)


def gate(args, word):
    with open(f"{args.g}.up", "w", encoding="utf-8") as f:
        f.write(f"{word} {os.getpid()}\n")
    with open(f"{args.g}.down", encoding="utf-8") as f:
        f.readline()


p = argparse.ArgumentParser()
p.add_argument("-n", type=int)
p.add_argument("-b", type=int)
p.add_argument("-g")
p.add_argument("-o")
p.add_argument("pattern", choices=DEPTH)
args = p.parse_args()
libc = ctypes.CDLL(None)
malloc, free = libc.malloc, libc.free
malloc.restype = ctypes.c_void_p
malloc.argtypes, free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
least = []
gate(args, "ready")
if args.pattern == "python-nogil":
    thread = threading.Thread(target=lambda: least.append(down(DEPTH[args.pattern], args, calls)))
    thread.start()
    thread.join()
else:
    least.append(down(DEPTH[args.pattern], args, called if args.pattern == "python-called" else objects))
gate(args, "done")
with open(args.o, "w", encoding="utf-8") as f:
    json.dump({"least_ns": least[0]}, f)
