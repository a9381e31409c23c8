#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""faultfs FOLDER FAULT: the file system of hungfs.py, whose writes fail on request.

FAULT is a file that says how: ERROR BYTES NAME [cut]. While it is there, files whose name begins with NAME (any: all)
take BYTES more bytes, all of them together; the write that would go beyond takes only those, and each later one fails
with ERROR, such as EDQUOT. With cut, a change of such a file's size fails, too, and with nothing else left of the
bytes, new files. Once a request has failed, there is a file FAULT.refused. It prints "mounted" once it is.
"""
import errno
import os
import struct
import sys

import hungfs


class Faults(hungfs.Fs):
    def __init__(self, path):
        super().__init__()
        self.path, self.stamp, self.left, self.rule = path, None, 0, None

    def look(self):
        """Reads FAULT anew where it is another one."""
        try:
            stamp = os.stat(self.path).st_ino, os.stat(self.path).st_mtime_ns
            if stamp != self.stamp:
                with open(self.path, encoding="ascii") as f:
                    error, left, *self.rule = f.read().split()
                self.error, self.left = getattr(errno, error), int(left)
            self.stamp = stamp
        except FileNotFoundError:
            self.stamp = self.rule = None

    def name_of(self, n):
        return next((name for d in self.nodes.values() for name, node in d.names.items() if node is n), b"").decode()

    def concerns(self, name):
        self.look()
        return self.rule and (self.rule[0] == "any" or name.startswith(self.rule[0]))

    def refuse(self):
        with open(self.path + ".refused", "w", encoding="ascii"):
            pass
        raise OSError(self.error, "")

    def write(self, n, body, head):
        handle, at, size = struct.unpack_from("<QQI", body)
        if not self.concerns(self.name_of(n)):
            return super().write(n, body, head)
        if not self.left:
            self.refuse()
        size = min(size, self.left)
        self.left -= size
        return super().write(n, struct.pack("<QQI", handle, at, size) + body[20:40 + size], head)

    def setattr(self, n, body, head):
        sized = struct.unpack_from("<I", body)[0] & 8
        if sized and self.concerns(self.name_of(n)) and "cut" in self.rule and not self.left:
            self.refuse()
        return super().setattr(n, body, head)

    def create(self, n, body, head):
        if self.concerns(self.name(body[16:]).decode()) and "cut" in self.rule and not self.left:
            self.refuse()
        return super().create(n, body, head)

    CALLS = {**hungfs.Fs.CALLS, 4: setattr, 16: write, 35: create}


hungfs.serve(Faults(sys.argv[2]), sys.argv[1], "faultfs")
