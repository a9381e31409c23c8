#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# time_align.out: the three clocks are read together at the start, every second and at the end. TIME is REALTIME_NS
# within the uncertainty, and it goes back in no file.
. "${0%/*}/../lib.sh"
need python3

gate
ticks() { [ "$(rows time_align 'EVENT == "tick" || EVENT == "adjust"' 2>/dev/null | wc -l)" -ge "$1" ]; }

spawn -- sh -c 'read _ <gate'
await ticks 2
echo >&9
join
equal "status" $rc 0
check clocks 2
