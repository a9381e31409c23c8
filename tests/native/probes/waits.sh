#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# waits.out names what ended each wait, and sched.out adds up the same: for waits of many kinds that another thread, another
# process, a signal, a timer or a disk ends, and of which the workload knows the end (tests/workloads/wakes.c).
. "${0%/*}/../lib.sh"
need python3

# Before Linux 6.3 the kernel does not show for which of its sockets a thread waited in epoll.
grep -q btf_trace_sk_data_ready /sys/kernel/btf/vmlinux || set -- --epoll-peer maybe

dir=${VM_MNT:-$TMPDIR}/waits # with a disk, if possible
mkdir "$dir"
trace -- "$W/wakes" ${slow:+-n 4} protocol "$dir" || fail "status $?"
check waits protocol "$@"
