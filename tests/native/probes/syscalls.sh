#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# syscalls.out: of calls that threads and forked processes make, some of which fail, each is in a sum, under its name and
# process, as the job and strace -c count them; in rows each interval and at the end; those of a thread that sleeps from
# before the trace on are not. It costs nothing where it is not asked for: nothing is attached.
. "${0%/*}/../lib.sh"

need strace
python=/usr/bin/python3 # the interpreter itself: a wrapper of one makes calls of its own
[ -x "$python" ] || skip "$python"
cat >job.py <<'PY'
import os
import sys
import threading
import time


def calls(n):
    for _ in range(n):
        os.getppid()
        try:
            os.rmdir("/no/such/folder")
        except OSError:
            pass


threads = [threading.Thread(target=calls, args=(2000,)) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
if len(sys.argv) > 1:
    time.sleep(float(sys.argv[1]))  # rows of more than one interval
for i in range(20):
    if not os.fork():
        calls(100 + i)
        os._exit(0)
    os.wait()
PY

trace --probes syscalls,time_align -- "$python" job.py 1.5 || fail "status $?"
strace -qq -f -c -e trace=getppid,rmdir,exit_group,wait4 -o counts "$python" job.py || fail "strace: $?"
check syscalls counts
trace --probes vfs_rw -- true || fail "without it: status $?"
[ ! -e "$t/syscalls.out" ] || fail "syscalls.out is there without being asked for"
