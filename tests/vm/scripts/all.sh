#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --all: what runs already and what begins later, whoever started it, has all its rows; dltraced
# itself has none. The workload's own tally says how many.
native=${0%/*}/../../native
. "$native/lib.sh"
gate

# before: waits for the trace; its shell is there first.
sh -c 'read -r _ <gate; : >made-before' &
before=$!
spawn --all
# Everything that is found running is told, then it is in the target.
await grep -qs "	snapshot	.*	$before	" "$t/pids.out"
echo >&9
wait $before || fail "the one that was there: status $?"
"$W/calls" -n 10 -t 4 -f 2 -T tally dir >pids || fail "calls: status $?"
setsid -w sh -c ': >made-after' || fail "the one in another session: status $?"
kill -TERM $dlt
join
equal "status" $rc 0
check tally tally pids
equal "files made" "$(rows create_del 'FUNC == "create" && PATH ~ /\/made-(before|after)$/' | wc -l)" 2
equal "rows of dltraced" "$(rows vfs_rw 'COMM ~ /^dltraced/' | wc -l)" 0
