#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""hungfs FOLDER [squash]: a file system in memory on FOLDER that can hang, by the kernel's FUSE protocol (linux/fuse.h).

With squash, root is nobody there, as with NFS's root_squash, until SIGHUP.

SIGUSR1: from now on requests are taken but not answered, as if the server were gone. SIGALRM: all requests are refused
with ESTALE, as by a server that has withdrawn the export; files that are open then are refused for ever, as by NFS's
client. SIGUSR2: all waiting requests are answered, in their order. It prints "mounted" once it is. When it ends, by
SIGTERM, waiting requests get an error.
"""
import ctypes
import errno
import os
import select
import signal
import stat
import struct
import sys
import time

IN = struct.Struct("<IIQQIIIHH")
OUT = struct.Struct("<IiQ")
ATTR = struct.Struct("<6Q10I")
ROOT = 1
NO_ANSWER = None


class Node:
    def __init__(self, number, mode, uid, gid):
        self.number, self.mode, self.uid, self.gid = number, mode, uid, gid
        self.data, self.names, self.nlink, self.mtime = bytearray(), {}, 1, time.time()


class Fs:
    squash = stale = False
    opened = 0  # number of withdrawals when the file was opened

    def __init__(self):
        self.nodes = {ROOT: Node(ROOT, stat.S_IFDIR | 0o777, 0, 0)}

    def may(self, n, head, want):
        """With the rights of the requesting process; WANT: 4 read, 2 write, 1 search."""
        uid, gid = head[4] or 65534, head[5] or 65534
        bits = n.mode >> 6 if uid == n.uid else n.mode >> 3 if gid == n.gid else n.mode
        if self.squash and bits & want != want:
            raise OSError(errno.EACCES, "")

    # --- answers ---

    def attr(self, n):
        at = int(n.mtime)
        return ATTR.pack(n.number, len(n.data), (len(n.data) + 511) // 512, at, at, at, 0, 0, 0, n.mode,
                         n.nlink, n.uid, n.gid, 0, 4096, 0)

    def entry(self, n):
        return struct.pack("<4Q2I", n.number, 0, 0, 0, 0, 0) + self.attr(n)

    def attr_out(self, n):
        return struct.pack("<Q2I", 0, 0, 0) + self.attr(n)

    def new(self, parent, name, mode, head):
        if name in parent.names:
            raise OSError(errno.EEXIST, "")
        self.may(parent, head, 3)
        n = Node(max(self.nodes) + 1, mode, *((i or 65534 if self.squash else i) for i in head[4:6]))
        self.nodes[n.number] = parent.names[name] = n
        return n

    @staticmethod
    def name(body):
        return body.split(b"\0", 1)[0]

    def named(self, n, name):
        if name not in n.names:
            raise OSError(errno.ENOENT, "")
        return n.names[name]

    # --- requests: node, body, head -> the answer's body ---

    def init(self, n, body, head):
        _, minor, ahead, _ = struct.unpack_from("<4I", body)
        return struct.pack("<4I2H2I2HI7I", 7, min(minor, 31), ahead, 0, 12, 9, 65536, 1, 16, 0, 0, *[0] * 7)

    def lookup(self, n, body, head):
        self.may(n, head, 1)
        return self.entry(self.named(n, self.name(body)))

    def getattr(self, n, body, head):
        return self.attr_out(n)

    def setattr(self, n, body, head):
        valid = struct.unpack_from("<I", body)[0]
        if self.squash and valid & 7 and (head[4] or 65534) != n.uid:
            raise OSError(errno.EPERM, "")
        size, mode, uid, gid = struct.unpack_from("<Q", body, 16) + struct.unpack_from("<I4xII", body, 68)
        if valid & 1:
            n.mode = stat.S_IFMT(n.mode) | stat.S_IMODE(mode)
        n.uid, n.gid = uid if valid & 2 else n.uid, gid if valid & 4 else n.gid
        if valid & 8:
            n.data = n.data[:size] + bytes(max(0, size - len(n.data)))
        return self.attr_out(n)

    def mkdir(self, n, body, head):
        mode, umask = struct.unpack_from("<2I", body)
        return self.entry(self.new(n, self.name(body[8:]), stat.S_IFDIR | mode & ~umask, head))

    def create(self, n, body, head):
        _, mode, umask, _ = struct.unpack_from("<4I", body)
        return self.entry(self.new(n, self.name(body[16:]), stat.S_IFREG | mode & ~umask & 0o7777, head)) + self.handle()

    def remove(self, n, body, head):
        self.may(n, head, 3)
        gone = self.named(n, self.name(body))
        if gone.names:
            raise OSError(errno.ENOTEMPTY, "")
        gone.nlink = 0
        del n.names[self.name(body)]
        return b""

    def rename(self, n, body, head):
        flags = 0
        to = self.nodes[struct.unpack_from("<Q", body)[0]]
        if head[1] == 45:
            flags, body = struct.unpack_from("<I", body, 8)[0], body[8:]
        old, new = body[8:].split(b"\0")[:2]
        self.may(n, head, 3)
        moved = self.named(n, old)
        if flags & 1 and new in to.names:
            raise OSError(errno.EEXIST, "")
        if new in to.names:
            to.names[new].nlink = 0
        del n.names[old]
        to.names[new] = moved
        return b""

    def open(self, n, body, head):
        how = struct.unpack_from("<I", body)[0] & os.O_ACCMODE
        self.may(n, head, {os.O_RDONLY: 4, os.O_WRONLY: 2}.get(how, 6))
        return self.handle()

    def handle(self):
        return struct.pack("<2Q", self.opened, 0)

    def withdraw(self):
        self.stale, self.opened = True, self.opened + 1

    def read(self, n, body, head):
        _, at, size = struct.unpack_from("<QQI", body)
        return bytes(n.data[at:at + size])

    def write(self, n, body, head):
        handle, at, size = struct.unpack_from("<QQI", body)
        if handle != self.opened:
            raise OSError(errno.ESTALE, "")
        n.data[len(n.data):] = bytes(max(0, at - len(n.data)))
        n.data[at:at + size] = body[40:40 + size]
        n.mtime = time.time()
        return struct.pack("<2I", size, 0)

    def statfs(self, n, body, head):
        return struct.pack("<5Q4I6I", 1 << 22, 1 << 22, 1 << 22, 1 << 20, 1 << 20, 4096, 255, 4096, *[0] * 7)

    def readdir(self, n, body, head):
        _, at, size = struct.unpack_from("<QQI", body)
        out = b""
        for i, (name, node) in enumerate(list(n.names.items())[at:], at + 1):
            one = struct.pack("<QQII", node.number, i, len(name), node.mode >> 12) + name
            one += bytes(-len(one) % 8)
            if len(out) + len(one) > size:
                break
            out += one
        return out

    def nothing(self, n, body, head):
        return b""

    def unanswered(self, n, body, head):
        return NO_ANSWER

    CALLS = {1: lookup, 2: unanswered, 3: getattr, 4: setattr, 9: mkdir, 10: remove, 11: remove, 12: rename, 14: open,
             15: read, 16: write, 17: statfs, 18: nothing, 20: nothing, 25: nothing, 26: init, 27: open, 28: readdir,
             29: nothing, 30: nothing, 35: create, 36: unanswered, 38: nothing, 42: unanswered, 45: rename}


def answer(fs, fd, request):
    head = IN.unpack_from(request)
    call, error, body = fs.CALLS.get(head[1]), 0, b""
    try:
        if not call:
            raise OSError(errno.ENOSYS, "")
        if fs.stale and call not in (Fs.unanswered, Fs.nothing):
            raise OSError(errno.ESTALE, "")
        body = call(fs, fs.nodes.get(head[3]), request[IN.size:], head)
    except OSError as e:
        error = -e.errno
    if body is NO_ANSWER:
        return
    try:
        os.write(fd, OUT.pack(OUT.size + len(body), error, head[2]) + body)
    except OSError as e:
        if e.errno != errno.ENOENT:  # ENOENT: the requesting process has been killed
            raise


def mount(folder, name, options=""):
    """Mounts a file system called NAME on FOLDER. Returns the descriptor for its requests."""
    fd = os.open(os.environ.get("FUSE_DEVICE", "/dev/fuse"), os.O_RDWR | os.O_NONBLOCK)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other{options}"
    if libc.mount(name.encode(), folder.encode(), b"fuse", 0, options.encode()) < 0:
        sys.exit(f"cannot mount: {os.strerror(ctypes.get_errno())}")
    return fd


def signals():
    """Returns a descriptor that is readable once a signal has come."""
    wake, waker = os.pipe2(os.O_NONBLOCK)
    signal.set_wakeup_fd(waker)
    return wake


def request(fd):
    """Returns the next one; b"" where there is none yet, None once it is unmounted."""
    try:
        return os.read(fd, 1 << 17)
    except OSError as e:
        if e.errno == errno.ENODEV:
            return None
        if e.errno not in (errno.EAGAIN, errno.EINTR, errno.ENOENT):
            raise
        return b""


def serve(fs, folder, name):
    """Mounts FS and answers at once, until it is unmounted."""
    fd = mount(folder, name)
    print("mounted", flush=True)
    while True:
        select.select([fd], [], [])
        message = request(fd)
        if message is None:
            return
        if message:
            answer(fs, fd, message)


def main():
    folder, held, hangs = sys.argv[1], [], [False]
    fs = Fs()
    fs.squash = sys.argv[2:] == ["squash"]
    # with squash the server checks permissions itself, as the kernel would allow root everything
    fd = mount(folder, "hungfs", "" if fs.squash else ",default_permissions")
    wake = signals()
    signal.signal(signal.SIGUSR1, lambda *_: hangs.__setitem__(0, True))
    signal.signal(signal.SIGALRM, lambda *_: fs.withdraw())
    signal.signal(signal.SIGUSR2, lambda *_: (hangs.__setitem__(0, False), setattr(fs, "stale", False)))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGHUP, lambda *_: setattr(fs, "squash", False))
    print("mounted", flush=True)
    while True:
        ready = select.select([fd, wake], [], [])[0]
        if wake in ready:
            os.read(wake, 100)
        if fd in ready:
            message = request(fd)
            if message is None:
                return
            if message:
                held.append(message)
        while held and not hangs[0]:
            answer(fs, fd, held.pop(0))


if __name__ == "__main__":
    main()
