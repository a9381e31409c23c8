#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# regions.out: each region of a static program has one row, with its name, its step, its arguments and its time within
# the program's own clock, whichever thread or process it is of; a live one whose process is killed has a row that
# says so; hostile messages do no harm; all of it in a root that has nothing else, and nothing where it is switched off.
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
