#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A PID is used again and again, on one CPU or another, by processes that are renamed or execute a program: each life
# has its own begin, end, CPU time, CPU and names, in sched.out and in the report on it (tests/workloads/lives.c).
#
# smoke
. "${0%/*}/../lib.sh"
need python3

cat /proc/stat >before
trace --probes sched,time_align --interval 1 -- "$W/lives" ${slow:+-n 12} tally || fail "status $?"
cat /proc/stat >after
"$DLT" report --cpu --csv csv "$t" >text || fail "report --cpu: status $?"
grep -q '^difference  *0.000000[0-9]* s' text || fail "it does not add up: $(cat text)"
check sched_lives csv tally before after
