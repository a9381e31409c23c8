#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Who had which CPU, who waited for one, and in which call for what else: sched.out and sched_switch.out
# agree with the kernel's own accounts, with the threads' clocks (tests/workloads/sched.c), with each other.
. "${0%/*}/lib.sh"

mkdir dir

# run OPTION...: the workload under them, and compare.
run() {
	rm -f tally
	cat /proc/stat >before
	trace "$@" -- "$W/sched" ${slow:+-q} tally dir || fail "$*: status $?"
	cat /proc/stat >after
	check sched tally before after
}

run --sched timeline
[ -n "$slow" ] || run --sched sums --interval 2
