#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# access.out by accessed bits: in each interval the pages that a process touched in it, and no others, be they touched again and
# again or few, small or huge, of a file or not, and also where the main thread has ended; and nothing of what it does not touch.
. "${0%/*}/../lib.sh"

python
[ "$(uname -m)" = x86_64 ] || skip "x86-64"
[ -w /proc/self/clear_refs ] || skip "/proc/PID/clear_refs (CONFIG_PROC_PAGE_MONITOR)"
ms=1000 interval=100ms areas=areas
[ -z "$slow" ] || { ms=4000 interval=600ms; } # so that all pages are touched within an interval
case $(uname -r) in 5.*) areas=- ;; esac # from 6.1 on
for mode in "phases 2" "threads 1"; do
	trace --probes access,time_align --access pages,interval=$interval,block=4K,budget=100 -- "$W/touches" $mode $ms 4000 >tally ||
		fail "$mode: status $?"
	check access_pages tally $areas
done
# another user's processes, with that user's rights
chmod 777 .
trace --user nobody --probes access,time_align --access pages,budget=100 -- "$W/touches" phases 1 300 4000 >tally || fail "nobody: status $?"
equal "refused processes" "$(manifest 'm["access"]["refused_processes"]')" 0
[ "$(rows access | wc -l)" -gt 0 ] || fail "nobody: no rows"
# what it may cost is kept, but for the first look and the last one
begin=$(date +%s%N)
trace --probes access,time_align --access pages,interval=10ms,budget=5 -- "$W/touches" phases 1 1000 40000 >tally ||
	fail "status $?"
equal "too many looks" "$(manifest "m['access']['cpu_us'] > ($(date +%s%N) - $begin) / 1e3 * .05 + 2 * m['access']['longest_look_us']")" False
