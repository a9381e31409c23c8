#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# brk and madvise in mmap.out: the same calls, in the same order, as strace has of an identical run.
. "${0%/*}/../lib.sh"

python
need strace setarch
[ -x /usr/bin/python3 ] || skip /usr/bin/python3
cat >job.py <<'END'
import mmap
kept = [bytes(100000) for _ in range(100)]
del kept[::2]
m = mmap.mmap(-1, 1 << 20)
for advice in (mmap.MADV_DONTNEED, mmap.MADV_FREE, mmap.MADV_HUGEPAGE, mmap.MADV_SEQUENTIAL):
    try:
        m.madvise(advice, 65536, 131072)
    except OSError:
        pass
END
# as large in memory each time
run="env -i setarch -R /usr/bin/python3 -I -S job.py"
strace -f -qq -e signal=none -e trace=brk,madvise -o strace.out $run || fail "strace: status $?"
trace --probes mmap,time_align -- $run || fail "status $?"
check brk strace.out
