#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Which thread had which CPU, which waited for one, and which waited in which call: sched.out and sched_switch.out agree
# with the kernel's own accounts, with the threads' clocks (tests/workloads/sched.c), and with each other.
. "${0%/*}/../lib.sh"

mkdir dir

# run OPTION...: traces the workload, and compares.
run() {
	rm -f tally
	cat /proc/stat >before
	trace "$@" -- "$W/sched" ${slow:+-q} tally dir || fail "$*: status $?"
	cat /proc/stat >after
	check sched tally before after
}

# A guest is too slow for other probes.
if [ -n "$slow" ]; then
	run --probes sched,sched_switch,time_align
else
	run --probes -bio,+sched,+sched_switch
	run --probes -bio,+sched --interval 2
fi

# Threads that run or sleep since before the trace and beyond its end have rows, too.
rm -f tally
"$W/sched" -k tally dir &
job=$!
await grep -qs running tally
hog=$(sed 's/.* hog \([0-9]*\) .*/\1/' tally) sleeper=$(sed 's/.* sleeper \([0-9]*\) .*/\1/' tally)
trap 'kill -9 $job $hog $sleeper; cleanup' EXIT
asleep() { grep -q '^State:[[:blank:]]S' "/proc/$sleeper/status"; }
await asleep
trace --probes sched,sched_switch,time_align --duration 2 --pid "$hog,$sleeper" || fail "--pid: status $?"
check sched-attached "$hog" "$sleeper"
