# SPDX-License-Identifier: BSD-2-Clause
"""terminal KEYS COLUMNS CMD...: run CMD on a terminal of so many columns, and print what it writes there.

Each line of the file KEYS is WAIT<tab>BYTES: once WAIT stands in what was written behind the line before, BYTES are typed, in
Python's escapes ('\\x03' is ^C). The status is CMD's, 128+N when signal N ended it. /dev/null: nothing is typed."""
import ast
import fcntl
import os
import pty
import struct
import sys
import termios

keys = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 0, int(sys.argv[2]), 0, 0))  # height 0: no status line
    os.execvp(sys.argv[3], sys.argv[3:])
seen = b""
while True:
    try:
        got = os.read(fd, 4096)
    except OSError:  # no process holds the other end any more
        break
    if not got:
        break
    os.write(1, got.replace(b"\r\n", b"\n"))
    seen += got
    while keys and keys[0][0].encode() in seen:
        seen = b""
        os.write(fd, ast.literal_eval(f"b'{keys.pop(0)[1]}'"))
status = os.waitpid(pid, 0)[1]
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
