#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# status --watch says of a job that hangs who waits for whom, while it hangs; of one that waits for a peer that computes
# it does not. The jobs are hangs.py's.
. "${0%/*}/../lib.sh"
need python3
[ -x /usr/bin/python3 ] || skip "/usr/bin/python3"

# watched JOB: traced, into views, until WANTED is seen or the job has waited for 10 s.
watched() {
	rm -rf "$t" views
	spawn -e "$1" -- /usr/bin/python3 "$here/../workloads/hangs.py" "$1"
	await test -e "/run/dltraced/$dlt.sock"
	"$DLT" status --watch -i 500ms "$t" >views 2>err-views 9>&- &
	views=$!
	for _ in $(seq 100); do
		! grep -q '^it hangs' views || break
		gone "$dlt" && break
		sleep 0.1
	done
	kill -INT "$dlt" 2>/dev/null
	join
	wait "$views" || fail "status of the watcher: $?: $(cat err-views)"
}

watched pipes
grep -A 1 '^it hangs' views | head -n 2 | tr '\n' ' ' |
	grep -Eq '^it hangs, for [0-9]+ s: process ([0-9]+) \(python3\) waits in read of a pipe for process ([0-9]+) \(python3\),   which waits in read of a pipe for process \1 \(python3\) $' ||
	fail "pipes: $(tail -n 20 views)"

watched slow
! grep -q '^it hangs' views || fail "slow: $(grep -A 2 '^it hangs' views)"
