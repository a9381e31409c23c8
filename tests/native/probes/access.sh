#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# access.out: each page fault of threads and forked processes, by their instructions and within their calls, has a row, with
# the address to the byte, and whether it was a write; or all of an interval are joined, and their sums are right. It costs
# nothing if it is not requested: nothing is attached.
. "${0%/*}/../lib.sh"

python
n=2000
[ -z "$slow" ] || n=400
trace --probes access,time_align --access faults,interval=0 -- "$W/touches" faults 3 4 $n >tally || fail "status $?"
check access tally single
trace --probes access,time_align --access faults -- "$W/touches" faults 3 4 $n >tally || fail "status $?"
check access tally joined
trace --probes vfs_rw -- true || fail "without it: status $?"
[ ! -e "$t/access.out" ] || fail "access.out is there without being asked for"
