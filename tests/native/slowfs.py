#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""slowfs FOLDER [meta=MS] [sync=MS] [read=MIB] [write=MIB]: the file system of hungfs.py, but as slow as a far server.

    meta=MS     each look-up, open, stat and flush at close takes this long; any number of them at a time
    sync=MS     so does an fsync
    read=MIB    MiB per second for reads: one piece after the other
    write=MIB   MiB per second for writes

It is slow from SIGUSR1 to SIGUSR2, and fast otherwise, so that files can be put there. A file of it under a loop device
is a slow disk. It prints "mounted" once it is, and "slow" and "fast" when it has taken such a signal (if two wait, the
kernel delivers the lower number first, whichever was sent first), and ends by SIGTERM or umount(8).
"""
import ctypes
import heapq
import os
import select
import signal
import struct
import sys
import time

import hungfs

LOOKUP, GETATTR, OPEN, READ, WRITE, FSYNC, FLUSH, OPENDIR, CREATE = 1, 3, 14, 15, 16, 20, 25, 27, 35
META, PIECES = (LOOKUP, GETATTR, OPEN, FLUSH, OPENDIR, CREATE), {READ: "read", WRITE: "write"}
PR_SET_IO_FLUSHER = 57  # a disk may lie on this file system: this process's memory must not wait for writes to it


class Pace:
    """Returns when a request may be answered."""

    def __init__(self, words):
        self.rates, self.slow, self.free = {}, False, {}
        for word in words:
            name, _, value = word.partition("=")
            if name not in ("meta", "sync", "read", "write"):
                sys.exit(f"slowfs: {word}: {__doc__}")
            self.rates[name] = float(value)

    def set(self, slow):
        self.slow = slow
        print("slow" if slow else "fast", flush=True)

    def due(self, message, now):
        if not self.slow:
            return now
        call = struct.unpack_from("<I", message, 4)[0]
        if call in PIECES:
            return self.moved(PIECES[call], struct.unpack_from("<I", message, hungfs.IN.size + 16)[0], now)
        return now + self.rates.get("meta" if call in META else "sync" if call == FSYNC else "", 0) / 1000

    def moved(self, way, size, now):
        if way not in self.rates:
            return now
        self.free[way] = max(self.free.get(way, 0), now) + size / self.rates[way] / 2**20
        return self.free[way]


def main():
    fs, pace, waiting, number = hungfs.Fs(), Pace(sys.argv[2:]), [], 0
    ctypes.CDLL(None).prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0)
    fd, wake = hungfs.mount(sys.argv[1], "slowfs", ",default_permissions"), hungfs.signals()
    signal.signal(signal.SIGUSR1, lambda *_: pace.set(True))
    signal.signal(signal.SIGUSR2, lambda *_: pace.set(False))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print("mounted", flush=True)
    while True:
        now = time.monotonic()
        while waiting and (waiting[0][0] <= now or not pace.slow):
            hungfs.answer(fs, fd, heapq.heappop(waiting)[2])
        ready = select.select([fd, wake], [], [], waiting[0][0] - now if waiting else None)[0]
        if wake in ready:
            os.read(wake, 100)
        if fd in ready:
            message = hungfs.request(fd)
            if message is None:
                return
            if message:
                number += 1
                heapq.heappush(waiting, (pace.due(message, time.monotonic()), number, message))


main()
