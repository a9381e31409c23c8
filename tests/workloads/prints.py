#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""prints: prints lines about epochs in one of many ways, and notes when each was written.

    prints.py WAY ACCOUNT

WAY is a function below. ACCOUNT is JSON: for each line [fd, text, begin, end], in ns of CLOCK_MONOTONIC around the write
that has its last byte.
"""
import json
import os
import signal
import sys
import time

now = time.monotonic_ns
account = []


def say(fd, text, *pieces):
    """Prints one line. PIECES are its parts, with a write each; the newline is the last."""
    for piece in pieces[:-2]:
        os.write(fd, piece.encode())
    begin = now()
    os.write(fd, pieces[-2].encode() if pieces else f"{text}\n".encode())
    account.append([fd, text, begin, now()])
    if pieces:
        os.write(fd, pieces[-1].encode())


def lines():
    """Lines about epochs among others, on stdout and stderr; one by print(), one by a writev(2) without a newline."""
    for epoch in range(3):
        os.write(1, b"loading\n")
        say(1 + epoch % 2, f"Epoch {epoch} finished")
        os.write(3 - 1 - epoch % 2, b"of no phase\n")
    begin = now()
    print("Epoch 3 finished", flush=True)
    account.append([1, "Epoch 3 finished", begin, now()])
    begin = now()
    os.writev(1, [b"Epoch ", b"4 fini", b"shed"])
    account.append([1, "Epoch 4 finished", begin, now()])


def pieces():
    """A line in five writes, with time between them."""
    for epoch in range(3):
        say(2, f"Epoch {epoch} finished", "Ep", "och", f" {epoch} fin", "ished", "\n")
        time.sleep(0.1)


def two():
    """Two processes each write half a line in turn, then the other halves; each notes its own lines."""
    here, there = os.pipe(), os.pipe()
    child = os.fork()
    mine, yours = (here, there) if child else (there, here)
    os.write(1, b"Epoch ")
    os.write(yours[1], b".")
    os.read(mine[0], 1)
    say(1, f"Epoch {7 if child else 8} finished", f"{7 if child else 8} finished", "\n")
    if child:
        os.waitpid(child, 0)
        with open("of-child", encoding="ascii") as f:
            account.extend(json.load(f))
        account.sort(key=lambda line: line[3])
    else:
        write("of-child")
        os._exit(0)


def many():
    """100 000 lines, in writes of 8 KiB as far as Python buffers them, and a few about epochs, each after a pause."""
    for i in range(100_000):
        if i % 20_000 == 19_999:
            sys.stdout.flush()
            time.sleep(0.6)
            say(1, f"Epoch {i // 20_000} finished")
        print("step", i, "of no phase")


def junk():
    """Every byte value, much of it without newlines."""
    os.write(1, bytes(range(256)) * 300)
    os.write(2, bytes(b for b in range(256) if b not in b"\n\r\b") * 40_000)
    time.sleep(0.3)
    os.write(2, b"\n")
    say(2, "Epoch 0 finished")


def killed():
    """Ends by SIGKILL, without an account."""
    say(1, "Epoch 0 finished")
    say(1, "Epoch 1 finished", "Epoch 1 ", "finished", "")
    write(sys.argv[2])
    os.kill(os.getpid(), signal.SIGKILL)


def write(path):
    with open(path, "w", encoding="ascii") as f:
        json.dump(account, f)


if __name__ == "__main__":
    {way.__name__: way for way in (lines, pieces, two, many, junk, killed)}[sys.argv[1]]()
    write(sys.argv[2])
