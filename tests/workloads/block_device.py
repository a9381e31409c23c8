# SPDX-License-Identifier: BSD-2-Clause
"""block_device DEVICE: does I/O on a block device itself, past its page cache and through it.

Past the cache by calls, by libaio, and from shared memory. Prints lines "WAY T PID OFFSET BYTES": WAY is direct, shared,
held or buffered, T is R or W.
"""
import ctypes
import mmap
import os
import platform
import struct
import sys

SIZES = (4096, 65536, 1 << 20, 4 << 20)  # the last one has several bios
MIB = 1 << 20
SYS_IO_SETUP, SYS_IO_GETEVENTS, SYS_IO_SUBMIT = {"x86_64": (206, 208, 209), "aarch64": (0, 4, 2)}.get(platform.machine(), (None,) * 3)


def did(way, kind, at, size):
    print(way, kind, os.getpid(), at, size, flush=True)


def calls(fd, memory, way, at):
    for size in SIZES:
        os.preadv(fd, [memoryview(memory)[:size]], at)
        did(way, "R", at, size)
        at += size
        os.pwritev(fd, [memoryview(memory)[:size]], at)
        did(way, "W", at, size)
        at += size + MIB  # a gap, as adjacent parts might become one request


def libaio(fd, memory, at):
    """A read and a write, both in flight: struct iocb of linux/aio_abi.h."""
    syscall, context = ctypes.CDLL(None, use_errno=True).syscall, ctypes.c_ulong()
    if SYS_IO_SETUP is None or syscall(SYS_IO_SETUP, 2, ctypes.byref(context)):
        return
    buffer = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for opcode, kind in ((0, "R"), (1, "W")):
        iocb = ctypes.create_string_buffer(struct.pack("=QIIHhIQQqQII", 0, 0, 0, opcode, 0, fd, buffer, 65536, at, 0, 0, 0))
        array, events = (ctypes.c_void_p * 1)(ctypes.addressof(iocb)), ctypes.create_string_buffer(32)
        if syscall(SYS_IO_SUBMIT, context, ctypes.c_long(1), array) != 1:
            sys.exit(f"io_submit: {os.strerror(ctypes.get_errno())}")
        syscall(SYS_IO_GETEVENTS, context, ctypes.c_long(1), ctypes.c_long(1), events, None)
        if struct.unpack_from("=q", events, 16)[0] != 65536:
            sys.exit("libaio: not all of it")
        did("direct", kind, at, 65536)
        at += 65536 + MIB


def buffered(fd, memory, at):
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.pread(fd, 300000, at)
    did("buffered", "R", at, 300000)
    at += 4 * MIB
    os.pwrite(fd, bytes(memory[:200704]), at)
    did("buffered", "W", at, 200704)
    os.fsync(fd)


def main():
    memory, shared = (mmap.mmap(-1, SIZES[-1], flags=how | mmap.MAP_ANONYMOUS) for how in (mmap.MAP_PRIVATE, mmap.MAP_SHARED))
    for m in (memory, shared):
        m.write(os.urandom(len(m)))
    fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
    calls(fd, memory, "direct", 0)
    libaio(fd, memory, 20 * MIB)
    calls(fd, shared, "shared", 24 * MIB)
    os.close(fd)
    fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT | os.O_EXCL)
    calls(fd, memory, "held", 40 * MIB)
    os.close(fd)
    fd = os.open(sys.argv[1], os.O_RDWR)
    buffered(fd, memory, 56 * MIB)
    os.close(fd)


main()
