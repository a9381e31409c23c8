#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Calls of a program of 32 bits are counted, and have no rows: their numbers are those of other calls in programs of 64
# bits. Seen by the tracepoints of all calls: functions are hooked by the names that calls of 64 bits have.
. "${0%/*}/../lib.sh"
DLT_BACKEND=tracepoint

[ -x "$W/compat" ] || skip "a program of 32 bits"
"$W/compat"
[ $? = 7 ] || skip "a kernel that runs programs of 32 bits"
trace -- "$W/compat"
equal "status" $? 7
equal "32-bit calls" "$(manifest 'm["compat_calls"]')" 200
for f in vfs_rw sync; do
	equal "rows of $f.out" "$(rows $f 'COMM == "compat"' | wc -l)" 0
done
trace -- sh -c 'echo >data; sync data; exec true' || fail "64 bits: status $?"
equal "calls of 64 bits" "$(manifest 'm["compat_calls"]')" 0
check whole
