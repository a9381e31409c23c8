#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A trace on a file server (hungfs.py): the process that was called is a proxy in front of the one that traces. One of
# the two is killed, while the server answers or hangs, in a trace of root and in one of a user: the other ends, too,
# with the status of the signal, and the workload goes on. In the background there is no proxy: status and stop work,
# and the process ends with its workload, whether the server answers or not.
#
# slow: waits for half a minute
. "${0%/*}/../lib.sh"
probed=vfs_rw,time_align
. "${0%/*}/../hungfs.inc"
chmod 755 .
job=''
trap '[ -z "$job" ] || kill $job; end_server; cleanup' EXIT

# workload PID: the child of the tracing process; the relay of its log may be another child.
workload() {
	for job in $(cat "/proc/$1/task/$1/children"); do
		[ "$(cat "/proc/$job/comm")" != sleep ] || break
	done
}
stalled() { "$DLT" status | grep -q "^t  *$1  *stalled "; }
goes_on() {
	gone "$job" && fail "$1: the workload has ended too"
	kill "$job"
	await gone "$job"
	job=''
}

# which process is killed, whose trace it is, what the server does; a process of another user gets no signal when its
# parent dies
server
while read -r killed user state; do
	what="$killed killed, $user, server $state"
	spawn --user "$user" -- sleep 1000
	await grep -qs '	sleep	' "$t/vfs_rw.out"
	behind=$(tracer)
	workload "$behind"
	if [ "$state" = hangs ]; then
		hang
		await stalled "$behind"
	fi
	if [ "$killed" = front ]; then kill -9 "$dlt"; else kill -9 "$behind"; fi
	join 2>err.join
	equal "$what: status" $rc 137
	goes_on "$what"
	[ "$state" = answers ] || answer
	await gone "$behind" # FUSE blocks it until then
	"$DLT" report --full "$t" >report || fail "$what: report: $?"
	grep -q '^files *NOT complete' report || fail "$what: report: $(cat report)"
done <<'END'
front root answers
front daemon hangs
behind root hangs
END

# --- in the background ------------------------------------------------------------------------------

for end in stopped killed; do
	rm -rf "$t"
	"$DLT" start --background --collectors none --probes $probed --min-free 0 -o "$t" -- sleep 1000 >said 2>&1 ||
		fail "background: status $?: $(cat said)"
	behind=$(sed -n 's/.*background: process \([0-9]*\),.*/\1/p' said)
	workload "$behind"
	hang
	await stalled "$behind"
	if [ $end = stopped ]; then
		"$DLT" stop "$behind" 2>said || fail "stop: status $?: $(cat said)"
		grep -q 'does not answer: the trace ends without' said || fail "stop says: $(cat said)"
	else
		kill -9 "$behind"
	fi
	goes_on "background, $end"
	answer
	await gone "$behind"
done
