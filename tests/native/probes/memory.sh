#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# memory.out is written by default, has a row each second and one at the end, and agrees with /proc/meminfo: before and
# after the job, and while it holds shared memory. The report draws it. Without the probe there is no file, and with
# --interval 2 a row every other second.
. "${0%/*}/../lib.sh"
need python3

meminfo() { grep -E '^(MemFree|MemAvailable|Cached|Dirty|Writeback|AnonPages|Shmem|SwapFree):' /proc/meminfo; }

# The job holds its memory until two more rows are on the disk.
bytes=268435456
meminfo >before
trace -- /usr/bin/python3 -c "
import glob, mmap, time
rows = lambda: sum(open(name).read().count('\n') for name in glob.glob('*/memory.out'))
shared = mmap.mmap(-1, $bytes)
for page in range(0, len(shared), 4096):
    shared[page] = 1
enough, until = rows() + 2, time.monotonic() + 120
while rows() < enough and time.monotonic() < until:
    time.sleep(0.1)" 2>err || fail "status $?: $(cat err)"
meminfo >after
check memory before after $bytes
"$DLT" report --json "$t" >json || fail "no report"
for panel in memory memory_dirty; do
	grep -q "\"panel\": \"$panel\"" json || fail "the report does not draw $panel"
done

trace --interval 2 -P memory,time_align -- sleep 3.5 || fail "--interval 2: status $?"
n=$(grep -c '^[0-9]' "$t/memory.out")
ticks=$(grep -c 'tick$' "$t/time_align.out")
[ "$n" -ge 2 ] && [ "$n" -le $((2 + (ticks + 1) / 2)) ] || fail "--interval 2: $n rows, $ticks seconds"
[ ! -e "$t/vfs_rw.out" ] || fail "vfs_rw.out is there without being wanted"
trace -P -memory -- true || fail "without it: status $?"
[ ! -e "$t/memory.out" ] || fail "memory.out is there without being wanted"
