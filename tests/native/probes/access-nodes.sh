#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The column NODE of access.out, by accessed bits: the NUMA node that the kernel lists for the memory, also where two nodes lie
# side by side; and none on a machine with memory on a single one.
. "${0%/*}/../lib.sh"

python
[ "$(uname -m)" = x86_64 ] || skip "x86-64"
[ -w /proc/self/clear_refs ] || skip "/proc/PID/clear_refs (CONFIG_PROC_PAGE_MONITOR)"
[ -e /proc/self/numa_maps ] || skip "/proc/PID/numa_maps (CONFIG_NUMA)"
ms=1000
[ -z "$slow" ] || ms=4000
trace --probes access,time_align --access pages,budget=100 -- "$W/touches" nodes 2 $ms 4096 >tally || fail "status $?"
check access_nodes tally
