#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# regions.out: each region of a static program has one row, with its name, its step, its arguments, and its time within
# the program's own clock, in whichever thread or process it is. A region whose process is killed has a row that says
# so. Hostile messages do no harm. All of it works in a root folder without other files, and nothing is written where
# regions are switched off.
. "${0%/*}/../lib.sh"

python
mkdir root
cp "$W/regions" root || fail "no workload"
trace --probes regions,time_align -- chroot root /regions /tally || fail "status $?"
check regions root/tally
trace -P -regions -- "$W/regions" tally || fail "without it: status $?"
[ ! -e "$t/regions.out" ] || fail "regions.out is there without being asked for"
DLTRACED_REGIONS=0 trace -- "$W/regions" leaf leaf 10 || fail "switched off: status $?"
equal "rows where it is switched off" "$(grep -c '^[0-9]' "$t/regions.out")" 0
