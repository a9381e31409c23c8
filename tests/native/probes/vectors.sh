#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# REQUESTED of a call with a list of buffers is their sum, or - where this list cannot be read when the call ends: here
# another thread has taken its page, or its second page alone, out of reach meanwhile. The call itself does not need it.
. "${0%/*}/../lib.sh"
need python3

cat >vectors.py <<'END'
import ctypes
import mmap
import os
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.readv.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
libc.readv.restype = ctypes.c_ssize_t
PAGE, PAIR = mmap.PAGESIZE, 2 * ctypes.sizeof(ctypes.c_size_t)
lists = mmap.mmap(-1, 2 * PAGE)
base = ctypes.addressof(ctypes.c_char.from_buffer(lists))
buffer = ctypes.create_string_buffer(64)


def wait(thread):
    """Waits until THREAD sleeps in its call."""
    while open(f"/proc/self/task/{thread.native_id}/stat").read().rsplit(")", 1)[1].split()[0] != "S" or \
            not open(f"/proc/self/task/{thread.native_id}/syscall").read().startswith(READV):
        time.sleep(0.001)


def read(n, hidden):
    """readv(2) of N buffers, whose list is in both pages half and half; the second one or (hidden 2) both are hidden."""
    at = base + PAGE - n // 2 * PAIR
    for i in range(n):
        ctypes.c_size_t.from_address(at + i * PAIR).value = ctypes.addressof(buffer)
        ctypes.c_size_t.from_address(at + i * PAIR + PAIR // 2).value = 3
    from_fd, to_fd = os.pipe()
    got = []
    thread = threading.Thread(target=lambda: got.append(libc.readv(from_fd, at, n)))
    thread.start()
    wait(thread)
    first = base + (2 - hidden) * PAGE
    if hidden:
        assert libc.mprotect(first, hidden * PAGE, 0) == 0
    os.write(to_fd, b"x" * 5)
    thread.join()
    if hidden:
        assert libc.mprotect(first, hidden * PAGE, mmap.PROT_READ | mmap.PROT_WRITE) == 0
    assert got == [5], got


READV = {"x86_64": "19 ", "aarch64": "65 "}[os.uname().machine]
for n in (2, 20):
    for hidden in (0, 1, 2):
        read(n, hidden)
END
trace -- python3 vectors.py || fail "status $?"
equal sums "$(col vfs_rw 'REQUESTED ":" RETURNED' 'FUNC == "readv"' | tr '\n' ' ')" "6:5 -:5 -:5 60:5 -:5 -:5 "
