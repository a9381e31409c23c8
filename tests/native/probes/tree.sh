#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every process and thread that the workload ever starts is traced, however it is started (see tests/workloads/forks.c):
# each makes a file with its own numbers in the name, and each has its begin and end in pids.out. The same job that runs
# beside it, untraced, leaves no row.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"

mkdir dir twin
while [ ! -e over ]; do
	"$W/forks" -s many -n 64 twin || exit 1
	sleep "${slow:+5}.1"
done >beside &
twin=$!
await [ -s beside ]

# Not before the daemon's last child has ended: its root process does not wait for it.
shapes='daemon exec fork many nest setsid sibling thread threadexec threadexit vfork'
[ -z "$slow" ] || shapes='many threadexec'
for shape in $shapes; do
	trace --wait-all -- "$W/forks" -s "$shape" ${slow:+-n 100} dir >counts || fail "$shape: status $?"
	check tree counts
done

: >over
wait "$twin" || fail "the untraced one: status $?"
