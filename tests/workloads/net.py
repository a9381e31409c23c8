# SPDX-License-Identifier: BSD-2-Clause
"""net.py PROTOCOL: calls on sockets of each kind, counted by the program itself.

Lines of PROTOCOL, with tabs:
  calls   TID CALL RW NAME COUNT BYTES AGAIN FAILED   what a thread did with the socket NAME
  socket  NAME FAMILY TYPE PROTO LOCAL PEER PATH PEER_PID RECEIVED SENT
  near    INODE                                       of a pipe and an eventfd: they are no sockets
"""
import ctypes
import collections
import errno
import os
import socket
import sys
import tempfile
import threading
import time

ROUNDS, BLOCK, SLOW_S = 20, 3000, 0.02
calls, lock = collections.Counter(), threading.Lock()
moved, named = collections.Counter(), {}
libc = ctypes.CDLL(None, use_errno=True)


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Message(ctypes.Structure):  # struct mmsghdr, recvmmsg(2)
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_uint), ("iov", ctypes.POINTER(Iovec)),
                ("iovlen", ctypes.c_size_t), ("control", ctypes.c_void_p), ("controllen", ctypes.c_size_t),
                ("flags", ctypes.c_int), ("pad", ctypes.c_int), ("bytes", ctypes.c_uint)]


def inode(fd):
    return os.fstat(fd).st_ino


def count(call, rw, sock, call_it):
    """Counts what CALL_IT, which returns its bytes, does as this thread's CALL on SOCK."""
    result, failed, again = 0, 0, 0
    try:
        result = call_it()
    except OSError as error:
        again = error.errno == errno.EAGAIN
        failed = not again
    key = threading.get_native_id(), call, rw, inode(sock.fileno())
    with lock:
        for what, n in (("count", 1), ("bytes", result), ("again", again), ("failed", failed)):
            calls[key, what] += n
        if rw in "RW":
            moved[key[3], rw] += result
    return result


def send(sock, data):
    return count("sendto", "W", sock, lambda: sock.send(data))


def receive(sock, size, flags=0):
    return count("recvfrom", "R", sock, lambda: len(sock.recv(size, flags)) * (not flags & socket.MSG_PEEK))


def many(call, rw, sock, n):
    """One recvmmsg or sendmmsg of N messages of BLOCK bytes."""
    data = ctypes.create_string_buffer(BLOCK * n)
    iovs = (Iovec * n)(*(Iovec(ctypes.addressof(data) + i * BLOCK, BLOCK) for i in range(n)))
    messages = (Message * n)(*(Message(iov=ctypes.pointer(iovs[i]), iovlen=1) for i in range(n)))

    def call_it():
        got = getattr(libc, call)(sock.fileno(), messages, n, 0, *([None] if call == "recvmmsg" else []))
        if got < 0:
            raise OSError(ctypes.get_errno(), call)
        return sum(m.bytes for m in messages[:got])
    count(call, rw, sock, call_it)


def exchange(client, server):
    """By each kind of call: the client's thread sends, another answers."""
    def answer():
        for i in range(ROUNDS):
            receive(server, BLOCK, socket.MSG_WAITALL)
            if i == 1:
                time.sleep(SLOW_S)  # the client's call is long, and has a row of its own
            send(server, b"a" * BLOCK)
    thread = threading.Thread(target=answer)
    thread.start()
    for i in range(ROUNDS):
        if i % 2:
            send(client, b"q" * BLOCK)
            count("recvmsg", "R", client, lambda: len(client.recvmsg(BLOCK, 0, socket.MSG_WAITALL)[0]))
        else:
            count("write", "W", client, lambda: os.write(client.fileno(), b"q" * BLOCK))
            receive(client, BLOCK, socket.MSG_PEEK)
            receive(client, BLOCK, socket.MSG_WAITALL)
    thread.join()
    count("sendmsg", "W", client, lambda: client.sendmsg([b"1" * 10, b"2" * 20]))
    count("read", "R", server, lambda: len(os.read(server.fileno(), BLOCK)))
    count("writev", "W", client, lambda: os.writev(client.fileno(), [b"1" * 10, b"2" * 30]))
    count("readv", "R", server, lambda: os.readv(server.fileno(), [bytearray(BLOCK)]))
    client.setblocking(False)
    receive(client, 1)  # nothing is there
    client.setblocking(True)


def text(address):
    if isinstance(address, (str, bytes)):
        return "-"
    if len(address) == 4:
        return f"[{address[0]}]:{address[1]}"
    return f"{address[0]}:{address[1]}"


def note(sock, family, kind, proto, path="-", peer_pid="-"):
    local, peer = text(sock.getsockname()), "-"
    try:
        peer = text(sock.getpeername())
    except OSError:
        pass
    named[inode(sock.fileno())] = (family, kind, proto, local, peer, path, peer_pid)


def connection(family, address, name, proto, path="-"):
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.bind(address)
        listener.listen()
        peer_pid = str(os.getpid()) if path != "-" else "-"
        with socket.socket(family, socket.SOCK_STREAM) as client:
            count("connect", "-", client, lambda: client.connect(listener.getsockname()) or 0)
            accepted = []
            count("accept4", "-", listener, lambda: accepted.append(listener.accept()[0]) or 0)
            with accepted[0] as server:
                note(client, name, "stream", proto, path, peer_pid)
                note(server, name, "stream", proto, path, peer_pid)
                exchange(client, server)
                if proto == "tcp":
                    send_file(client, server)


def send_file(client, server):
    with tempfile.TemporaryFile() as file:
        file.write(b"f" * BLOCK)
        file.flush()
        count("sendfile", "W", client, lambda: os.sendfile(client.fileno(), file.fileno(), 0, BLOCK))
    receive(server, BLOCK, socket.MSG_WAITALL)


def datagrams(family, address, name):
    with socket.socket(family, socket.SOCK_DGRAM) as a, socket.socket(family, socket.SOCK_DGRAM) as b:
        a.bind(address)
        b.bind(address)
        count("connect", "-", a, lambda: a.connect(b.getsockname()) or 0)
        note(a, name, "dgram", "udp")
        note(b, name, "dgram", "udp")
        many("sendmmsg", "W", a, 5)
        many("recvmmsg", "R", b, 5)
        send(a, b"d" * BLOCK)
        receive(b, BLOCK)


def pair():
    a, b = socket.socketpair()
    with a, b:
        for sock in a, b:
            note(sock, "unix", "stream", "-", "-", str(os.getpid()))
        exchange(a, b)


def refused():
    """Nobody listens there: the call fails, and there is no connection."""
    with socket.socket() as listener, socket.socket() as client:
        listener.bind(("127.0.0.1", 0))
        count("connect", "-", client, lambda: client.connect(listener.getsockname()) or 0)


def main():
    folder = tempfile.mkdtemp()
    path = f"{folder}/a b"
    connection(socket.AF_INET, ("127.0.0.1", 0), "inet", "tcp")
    if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"):
        connection(socket.AF_INET6, ("::1", 0), "inet6", "tcp")
        datagrams(socket.AF_INET6, ("::1", 0), "inet6")
    connection(socket.AF_UNIX, path, "unix", "-", path)
    connection(socket.AF_UNIX, "\0dlt net %d" % os.getpid(), "unix", "-", "@dlt net %d" % os.getpid())
    os.unlink(path)
    os.rmdir(folder)
    datagrams(socket.AF_INET, ("127.0.0.1", 0), "inet")
    pair()
    refused()
    r, w = os.pipe()  # near misses
    os.write(w, b"x")
    os.read(r, 1)
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        for key in sorted({key for key, _ in calls}):
            print("calls", *key, *(calls[key, what] for what in ("count", "bytes", "again", "failed")), sep="\t", file=f)
        for ino, facts in named.items():
            print("socket", ino, *facts, moved[ino, "R"], moved[ino, "W"], sep="\t", file=f)
        print("near", inode(r), sep="\t", file=f)


main()
