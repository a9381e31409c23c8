#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Where the kernel throttles a sampled event, the manifest says so, whichever event of a group it reports it by, and not else.
# Only for a guest: it lowers the kernel's limit of samples. The PMU is made up of the CPUs' clock.
native=${0%/*}/../../native
. "$native/lib.sh"
. "$native/pmu.inc"

limit=/proc/sys/kernel/perf_event_max_sample_rate
most=$(cat $limit)
[ -n "${VM-}" ] || skip "a guest"
made_pmu 0x0 # PERF_COUNT_SW_CPU_CLOCK
for rate in "$most" 250; do
	trace --probes access --access pmu:2000 -- sh -c "echo $rate >$limit; '$W/touches' speed 1 2000 10" >out || fail "$rate: status $?"
	echo "$most" >$limit
	n=$(manifest 'm["access"]["throttled"]') samples=$(manifest 'm["access"]["addressless_samples"]')
	echo "note: at $rate: throttled $n times, $samples samples"
	[ "$samples" -gt 0 ] || fail "$rate: no samples"
	[ "$rate" = "$most" ] || [ "$n" -gt 10 ] || fail "$rate: throttled $n times"
	[ "$rate" != "$most" ] || equal "$rate: throttled" "$n" 0
	equal "$rate: lost" "$(manifest 'm["access"]["lost_samples"], m["access"]["lost_records"]')" "(0, 0)"
done
end_pmu
