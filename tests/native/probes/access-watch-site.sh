#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --access watch=FILE.py:LINE: once a block that the line has allocated is watched, each load and store of its first bytes has a row,
# with the block's address and stack, until it is freed: what has its address then has none, and neither has a block of another
# line.
. "${0%/*}/../lib.sh"
preloadable
# A CPU has four registers for breakpoints: the scripts that take some run one after the other.
exec 9<"$W/touches"
flock 9

python
cat >watched.py <<'END'
import os, time
def watched():
    return bytearray(1 << 20)
def other():
    return bytearray(1 << 20)
def rounds(name, block, until):
    while not until():
        begin = time.monotonic_ns()
        for i in range(500):
            block[i % 8]
            block[i % 8] = 1
            block[8 + i] = block[16 + i]
        print(name, begin, time.monotonic_ns(), flush=True)
        time.sleep(0.02)
# from here on the allocator uses memory of this size again
rounds("other", other(), lambda n=iter(range(5)): next(n, None) is None)
block = watched()
rounds("watched", block, lambda: os.path.exists("seen"))
del block
end = time.monotonic() + 2
rounds("other", other(), lambda: time.monotonic() > end)
END
spawn --probes access,alloc,time_align --access watch=watched.py:3,interval=0 --alloc min=64K -- python3 watched.py >tally
has_rows() { [ -e "$t/access.out" ] && [ "$(rows access | wc -l)" -gt 2000 ]; }
await eval 'has_rows || gone $dlt'
touch seen
join
[ $rc = 0 ] || { grep -q registers err && skip "hardware breakpoints"; fail "status $rc: $(cat err)"; }
check access_watch_site tally
equal "unwatched blocks" "$(manifest 'm["access"]["unwatched_blocks"]')" 0
