# SPDX-License-Identifier: BSD-2-Clause
"""tab.py COMPLETION PROGRAM LINE: prints what LINE becomes after the TAB key at its end.

That is in an interactive bash with COMPLETION loaded and PROGRAM's folder in PATH. The line is not run.
"""
import os
import pty
import select
import sys

completion, program, line = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(PATH=os.path.dirname(program) + ":" + os.environ["PATH"], TERM="dumb", PS1="$ ",
                      INPUTRC="/dev/null", HISTFILE="")
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])

seen = b""


def until(what):
    """Reads until WHAT is there, for at most a minute, as the machine may be busy."""
    global seen
    while what not in seen:
        if not select.select([fd], [], [], 60)[0]:
            sys.exit(f"bash does not say {what!r} but {seen!r}")
        seen += os.read(fd, 4096)


os.write(fd, b"bind 'set enable-bracketed-paste off'; . '%s'; echo re'ady'\n" % completion.encode())
until(b"\nready")
# back to the front, to insert a command that prints the words; printf makes '<' and '>', so that the echo of the line
# has none
os.write(fd, line.encode() + b"\t\x01printf '\\074%s\\076\\n' \x05; echo do'ne'\n")
until(b"\ndone")
os.close(fd)
os.waitpid(pid, 0)
print(" ".join(w.split(b">")[0].decode() for w in seen.split(b"\n<")[1:]))
