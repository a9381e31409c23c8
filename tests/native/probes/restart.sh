#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A read that a signal interrupts, and that the kernel starts again, is two rows: the first has -512, which no program
# ever sees.
. "${0%/*}/../lib.sh"

cat >job <<'END'
import os, re, signal
# The handler, in C, writes the byte that the read then gets; Python's own has no part in it.
reader, writer = os.pipe()
os.set_blocking(writer, False)
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.siginterrupt(signal.SIGUSR1, False)
signal.set_wakeup_fd(writer)
job = os.getpid()
ready, go = os.pipe()
if not os.fork():
    os.read(ready, 1)
    while not re.search(r"\) S ", open(f"/proc/{job}/stat").read()):
        pass
    os.kill(job, signal.SIGUSR1)
    os._exit(0)
os.write(go, b"x")
os.read(reader, 1)
os.wait()
END

trace -- python3 job || fail "status $?"
check whole
pid=$(manifest 'm["workload"]["pid"]')
# the last reads of the pipe: python3 may be a script that reads pipes, too
equal reads "$(col vfs_rw RETURNED "PID == $pid && RW == \"R\" && FILE ~ /^pipe:/" | tail -n 2 | xargs)" "-512 1"
