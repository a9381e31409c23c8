#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Sums of all of the machine (--all), while a CPU goes and comes back: every process is in them, whoever
# started it, each CPU has the length of the trace, and the CPU that was away has been idle meanwhile.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3
cpu=/sys/devices/system/cpu/cpu1/online
[ -w $cpu ] || skip "a CPU that can be taken away"
trap '[ -e $cpu ] && echo 1 >$cpu; cleanup' EXIT
gate

# burn NAME: a process of that name computes for a while.
cp "$(command -v python3)" burner
burn() { ./burner -S -c 'import time
end = time.process_time() + 0.3
while time.process_time() < end: pass'; }

spawn --probes sched,time_align --all
await [ -s "$t/manifest.json" ]
await eval '[ "$(grep -sc . "$t/sched.out")" -gt 3 ]'
burn
echo 0 >$cpu || fail "cannot take CPU 1 away"
date +%s%N >away.begin
burn
sleep 1.2 # longer than an interval: rows come meanwhile
date +%s%N >away.end
echo 1 >$cpu
burn
echo 0 >$cpu || fail "cannot take CPU 1 away again"
date +%s%N >last.begin
sleep 1.2
date +%s%N >last.end # and it stays away
"$DLT" stop "$dlt" 2>stopped || fail "stop: $(cat stopped)"
join
equal "status ($(cat err))" $rc 0
check sched-machine burner "$(($(cat away.end) - $(cat away.begin) + $(cat last.end) - $(cat last.begin)))"
"$DLT" report --cpu "$t" >text || fail "report --cpu: status $?"
grep -q '^difference  *0.000000[0-9]* s' text || fail "it does not add up: $(cat text)"
