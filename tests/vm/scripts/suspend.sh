#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The machine is suspended in the middle of a trace, for real, and its clock wakes it (ACPI S3, which QEMU has).
# BOOTTIME and TIME go on and TIMESTAMP does not, as a row `step` says; durations are without it, a sleep that it
# cut in two ends as it would have, no call is lost; the reports say when the machine slept, and for how long.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3 rtcwake
grep -qs mem /sys/power/state && [ -e /dev/rtc0 ] || skip "a machine that can be suspended, and a clock that wakes it"
gate
seconds=10

ticks() {
	want=$(($(wc -l <"$t/time_align.out") + $1))
	await eval '[ "$(wc -l <"$t/time_align.out")" -ge $want ]'
}
count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }

# A read that is in flight all the time, and calls before and after the suspension.
head -c 1048576 /dev/zero >data
cat >job <<'END'
"$1" -n 1000 data
: >before
read -r _ <gate
"$1" -n 1000 data
exit 7
END
clocks() {
	python3 -c 'from time import *; print(*map(clock_gettime_ns, (CLOCK_MONOTONIC, CLOCK_BOOTTIME, CLOCK_REALTIME)))'
}
spawn --probes -bio,+sched,+sched_switch -- sh job "$W/storm" >out
await test -e before
ticks 2
clocks >was
rtcwake -m mem -s $seconds >rtcwake.out 2>&1 || skip "suspend: $(cat rtcwake.out)"
clocks >is
ticks 3
echo >&9
join
equal "status ($(cat err))" $rc 7
messages
made=$((2 * (1000 + 10000 + 256))) # storm warms up, and reads the whole file once
equal "lost" "$(count lost)" 0
[ "$(count rows)" -ge $made ] || fail "$(count rows) rows of $made calls"
check clocks 5
"$DLT" report -j "$t" >report.json || fail "report -j: $?"
check slept was is report.json
"$DLT" report --full "$t" >report || fail "report: $?"
grep '^clock .* the machine slept for' report || fail "report: $(cat report)"
"$DLT" report --cpu "$t" >report || fail "report --cpu: $?"
grep '^suspend' report || fail "report --cpu: $(cat report)"
