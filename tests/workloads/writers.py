# SPDX-License-Identifier: BSD-2-Clause
"""writers HOW FILE: two processes write FILE, which is then written back.

turns: every other 4 KiB. over: the second writes every other 4 KiB over what the first has written. bytes: 1000 bytes in
turn, so that they share pages. long: the first writes 200 MiB by one call, while the second makes the kernel write back.
Prints a line for each process: its PID, and how many of the bytes are from it.
"""
import os
import sys

PAGE, PAGES = 4096, 2048
LONG = 200 << 20


def pages(first, step, fd):
    for i in range(first, PAGES, step):
        os.pwrite(fd, bytes([first + 1]) * PAGE, i * PAGE)


def in_turns(fd, first):
    pages(first, 2, fd)
    return PAGES // 2 * PAGE


def over(fd, first, mine, other):
    """The second waits for the first."""
    if first == 0:
        pages(0, 1, fd)
        os.write(other, b".")
    else:
        os.read(mine, 1)
        pages(1, 2, fd)
    return PAGES // 2 * PAGE


def in_bytes(fd, first):
    for i in range(first, 4000, 2):
        os.pwrite(fd, bytes(1000), i * 1000)
    return 2000 * 1000


def long(fd, first, mine, other):
    if first == 0:
        written = os.pwrite(fd, bytes(LONG), 0)
        os.write(other, b".")
        return written
    os.set_blocking(mine, False)
    while True:
        os.fdatasync(fd)
        try:
            os.read(mine, 1)
            return 0
        except BlockingIOError:
            pass


HOW = {
    "turns": lambda fd, first, *_: in_turns(fd, first),
    "over": over,
    "bytes": lambda fd, first, *_: in_bytes(fd, first),
    "long": long,
}


def main():
    how, path = sys.argv[1:]
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
    mine, other = os.pipe()
    pids = []
    for first in (0, 1):
        pid = os.fork()
        if not pid:
            fd = os.open(path, os.O_RDWR)
            own = HOW[how](fd, first, mine, other)
            sys.stdout.write(f"{os.getpid()} {own}\n")
            sys.stdout.flush()
            os._exit(0)
        pids.append(pid)
    if any([os.waitpid(pid, 0)[1] for pid in pids]):
        sys.exit("a process failed")
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)


main()
