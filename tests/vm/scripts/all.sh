#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --all in the background: what runs already and what begins later, whoever started it, has all its rows;
# dltraced itself has none, nor has who asks it. The workload's own tally says how many.
native=${0%/*}/../../native
. "$native/lib.sh"
gate

# before: waits for the trace, which begins after it.
sh -c 'read -r _ <gate; : >made-before' &
before=$!
said=$("$DLT" start --background $(start_options) -o "$t" --all 2>&1 </dev/null 9>&-) || fail "status $?: $said"
dlt=$(expr "$said" : '.*background: process \([0-9]*\),') || fail "not in the background: $said"
# Every running process that the trace finds has a row, and is then in the target.
await grep -qs "	snapshot	.*	$before	" "$t/pids.out"
echo >&9
wait $before || fail "the one that was there: status $?"
"$W/calls" -n 10 -t 4 -f 2 -T tally dir >pids || fail "calls: status $?"
setsid -w sh -c ': >made-after' || fail "the one in another session: status $?"
"$DLT" status | grep -q " $dlt tracing " || fail "not in status: $("$DLT" status)"
"$DLT" stop "$dlt" 2>stopped || fail "stop: $(cat stopped)"
grep -q "rows, .* lost, in $t" stopped || fail "no summary: $(cat stopped)"
await gone "$dlt"
daemon=$dlt dlt=
equal "complete" "$(manifest 'm["complete"]')" True
check tally tally pids
equal "files made" "$(rows create_del 'FUNC == "create" && PATH ~ /\/made-(before|after)$/' | wc -l)" 2
equal "rows of dltraced" "$(rows vfs_rw "PID == $daemon" | wc -l)" 0
