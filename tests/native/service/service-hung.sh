#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The service, and a user's folder on a server that hangs (hungfs.py): only that trace waits for it. A message says so,
# others are served, the user or the stop of the service can end the trace, and the workload goes on.
#
# slow: waits for half a minute
. "${0%/*}/../service.inc"
. "${0%/*}/../hungfs.inc"
job=''
trap 'status=$?; [ -z "$daemon" ] || kill -9 $daemon; [ -z "$job" ] || kill -9 $job; end_server; cleanup; exit $status' EXIT
install -d -o nobody -m 700 home

daemon
server
install -d -o nobody -m 700 far/home
far=$TMPDIR/far/home/t

# listening_behind: the client's child asks the service: $served is the newest process that traces for a client.
listening_behind() {
	served=$(sed -n "s/.*process \([0-9]*\) for user $uid, who asks as process [0-9]*\$/\1/p" daemon.err | tail -n 1)
	[ "$served" ] && [ -S "/run/dltraced/$served.sock" ]
}

# hung: a trace for nobody, whose folder hangs; $job is the workload.
hung() {
	rm -f home/pid
	t=$far
	# shellcheck disable=SC2016 # the job's own
	as_spawn -- sh -c 'trap "" TERM; echo $$ >"$0"; while :; do cat /etc/hostname; sleep 0.2; done >/dev/null' "$TMPDIR/home/pid"
	await test -s home/pid
	await listening_behind
	job=$(cat home/pid)
	hang
	await sh -c '"$1" status "$2" | grep -q "^t  *$2  *stalled "' - "$DLT" "$served"
	await grep -q 'warning: writing to .* has stalled' err
}
goes_on() {
	gone "$job" && fail "$1: the workload has ended too"
	kill -9 "$job"
	job=''
	answer
}

# --- the user ends it, and starts other traces meanwhile -----------------------------------------------------

hung
t=$TMPDIR/home/t
client=$dlt
as_start -- cat /etc/hostname >out || fail "another trace meanwhile: status $?"
check whole
t=$far dlt=$client
ended_by_term() { gone "$dlt" || { kill -TERM "$dlt"; false; }; }
await ended_by_term
join
equal "two TERMs: status ($(cat err))" $rc 143
grep -q 'error: .*/t does not answer: the trace ends without' err || fail "two TERMs: $(cat err)"
goes_on "two TERMs"
await gone "$served" # FUSE blocks it until then

# --- the service is stopped -------------------------------------------------------------------------------

hung
kill "$daemon"
wait "$daemon"
equal "status of the service ($(cat daemon.err))" $? 0
daemon=''
grep -q 'trace ends without' err || fail "stopped: $(cat err)"
goes_on "stopped"
await gone "$served"
join

# --- it hangs before ----------------------------------------------------------------------------------------

daemon
hang
: >err
env --default-signal=INT,QUIT setpriv --reuid nobody --regid "$gid" --groups 1 "$DLT" start -q --collectors none \
	-o "$far-2" -- sh -c ': >"$0"' "$TMPDIR/home/ran" 2>err &
dlt=$!
await grep -q 'does not answer; waiting for it' err
kill -INT $dlt
join
equal "before: status" $rc 130
[ ! -e home/ran ] || fail "before: the workload has run"
answer
as_start -- true || fail "afterwards: status $?"
check whole
