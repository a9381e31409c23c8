#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# access.out by hardware breakpoints: each load and store of the watched bytes, in all threads of all processes of the target,
# and none of the bytes beside them or of other processes. Each has a row with its thread, or all of an interval are summed up.
. "${0%/*}/../lib.sh"

# A CPU has four registers for breakpoints: the scripts that take some run one after the other.
exec 9<"$W/touches"
flock 9
at=0x510000000040
"$W/touches" watched 1 1000000000 $at >/dev/null &
other=$!
trap 'kill $other; cleanup' EXIT
for interval in 0 100ms; do
	trace --probes access,time_align --access watch=$at:8,interval=$interval -- "$W/touches" watched 2 2000 $at >tally 2>err ||
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
# a CPU has four registers: while another trace has one of them, four are refused before anything runs
"$DLT" start -q --collectors none --min-free 0 --probes access --access watch=$at:8 -o taken -- sh -c 'touch began; until [ -e end ]; do sleep 0.05; done' &
dlt=$!
await [ -e began ]
trace --probes access --access watch=0x51000000,0x51000008,0x51000010,0x51000018 -- touch ran 2>err
equal "too many registers: status" $? 125
grep -q 'registers for 4 breakpoints cannot be had: .*: use --access' err || fail "too many registers: $(cat err)"
[ ! -e ran ] || fail "the command ran"
touch end
join
equal "the other trace: status" $rc 0
