#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# access.out by hardware breakpoints: each load and store of the watched bytes, in all threads of all processes of the target,
# and none of the bytes beside them or of other processes. Each has a row with its thread, or all of an interval are summed up.
. "${0%/*}/../lib.sh"

at=0x510000000040
"$W/touches" watched 1 1000000000 $at >/dev/null &
other=$!
trap 'kill $other; cleanup' EXIT
for interval in 0 100ms; do
	trace --probes access,time_align --access watch=$at:8 --access-interval $interval -- "$W/touches" watched 2 2000 $at >tally 2>err ||
		{ grep -q "registers" err && skip "hardware breakpoints"; fail "status $?: $(cat err)"; }
	equal "processes" "$(wc -l <tally)" 2
	while read -r _ pid n; do
		equal "accesses of $pid" "$(col access COUNT "PID == $pid && ADDR == \"$at\" && BYTES == 8 && SOURCE == \"watch\"" | awk '{ n += $1 } END { print n + 0 }')" "$n"
	done <tally
	equal "rows of others" "$(rows access | wc -l)" "$(rows access "PID == $(awk 'NR == 1 { print $2 }' tally) || PID == $(awk 'NR == 2 { print $2 }' tally)" | wc -l)"
	[ $interval != 0 ] || equal "threads" "$(col access TID | sort -u | wc -l)" 4
	[ $interval = 0 ] || [ "$(rows access | wc -l)" -lt 1000 ] || fail "accesses are not summed up"
	equal "lost" "$(manifest 'sum(p["lost"] for p in m["probes"])')" 0
done
