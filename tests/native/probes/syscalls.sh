#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# syscalls.out: each call of threads and forked processes, some of which fail, is in a sum, under its name and process,
# as the job and strace -c count them, with rows each interval and at the end. The call of a thread that has been asleep
# since before the trace is not counted. It costs nothing if it is not requested: nothing is attached.
. "${0%/*}/../lib.sh"

need strace
python=/usr/bin/python3 # the interpreter itself: a wrapper script would make calls of its own
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
strace -qq -f -c -e trace=getppid,?rmdir,unlinkat,exit_group,wait4 -o counts "$python" job.py || fail "strace: $?"
check syscalls counts
trace --probes vfs_rw -- true || fail "without it: status $?"
[ ! -e "$t/syscalls.out" ] || fail "syscalls.out is there without being asked for"
