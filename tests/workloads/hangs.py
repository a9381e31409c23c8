#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hangs.py CASE: a job that hangs, or one that only looks as if it did. The latter ones end by themselves."""
import fcntl
import os
import signal
import socket
import sys
import time


def pair():
    """Both wait for the other one's message."""
    a, b = socket.socketpair()
    pid = os.fork()
    (b if pid else a).close()
    (a if pid else b).recv(1)


def fifos():
    """Each reads the other's FIFO."""
    os.mkfifo("a")
    os.mkfifo("b")
    if os.fork():
        r, _ = os.open("a", os.O_RDONLY), os.open("b", os.O_WRONLY)
    else:
        _, r = os.open("a", os.O_WRONLY), os.open("b", os.O_RDONLY)
    os.read(r, 1)


def pipes():
    """A parent waits for its child's line, the child for its parent's answer."""
    (r1, w1), (r2, w2) = os.pipe(), os.pipe()
    mine, other = (r1, (r2, w1)) if os.fork() else (r2, (r1, w2))
    for fd in other:
        os.close(fd)
    os.read(mine, 1)


def tcp():
    """Both ends of a connection read."""
    server = socket.create_server(("127.0.0.1", 0))
    if os.fork():
        end, _ = server.accept()
    else:
        end = socket.create_connection(server.getsockname())
    server.close()
    end.recv(1)


def lock():
    """A parent waits for a child's end while it holds the lock that the child wants."""
    with open("lock", "w", encoding="ascii") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        pid = os.fork()
        if pid:
            os.waitpid(pid, 0)
        else:
            with open("lock", "w", encoding="ascii") as wanted:
                fcntl.lockf(wanted, fcntl.LOCK_EX)


def stopped():
    """A peer is stopped."""
    r, w = os.pipe()
    pid = os.fork()
    if pid:
        os.close(w)
        os.read(r, 1)
    else:
        os.close(r)
        os.kill(os.getpid(), signal.SIGSTOP)


def slow():
    """A peer answers at last."""
    a, b = socket.socketpair()
    if os.fork():
        b.close()
        a.recv(1)
    else:
        a.close()
        time.sleep(4)
        b.send(b"x")


def computes():
    """A child computes, while its parent and another child wait for it."""
    r, w = os.pipe()
    if not os.fork():
        end = time.monotonic() + 4
        while time.monotonic() < end:
            pass
        os._exit(0)
    if not os.fork():
        os.close(w)
        os.read(r, 1)
        os._exit(0)
    os.wait()


def sleeps():
    """It sleeps."""
    time.sleep(4)


{f.__name__: f for f in (pair, fifos, pipes, tcp, lock, stopped, slow, computes, sleeps)}[sys.argv[1]]()
