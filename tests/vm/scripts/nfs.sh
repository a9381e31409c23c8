#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A trace on NFS: the kernel's own server on loopback, NFSv4.2, with root_squash, hard-mounted. Root is
# nobody's equal there, and a user's trace by way of the service is whole; reads of files there are those of a
# network in the report. The server is stopped in the middle and comes back, or does not while the trace is to
# end; it is stopped before a start, in one, and before a report. As squashed, hung-mount and hung-start of tests/native
# do it with FUSE.
. "${0%/*}/nfs.inc"

# --- a user's trace, through the service ----------------------------------------------------------------

daemon
echo 3 >/proc/sys/vm/drop_caches
start -- sh -c 'cat far/home/data >home/copied; exit 7' 2>err
rc=$?
equal "by the service: status ($(cat err))" $rc 7
equal "by the service: owners" "$(stat -c %U "$t" "$t"/* | sort -u)" nobody
equal "by the service: read from" "$(col files FSTYPE 'REALPATH ~ /home.data$/')" nfs4
check whole
as "$DLT" report --full "$far/home/t" >report || fail "report: $?"
grep -q 'network fs ' report || fail "no reads from a network: $(cat report)"
as "$DLT" report -j "$far/home/t" | python3 -c '
import json, sys
reads = {s["source"]: s for s in json.load(sys.stdin)["read_sources"]}["network"]
assert reads["calls"] and reads["bytes"] >= 1048576, reads' || fail "reads from a network: $(cat report)"
start --log --rotate 64K --compress gzip -- sh -c 'echo hello; for i in 1 2 3; do cat far/home/data; done >/dev/null' 2>err ||
	fail "segments: status $?: $(cat err)"
equal "segments: complete" "$(manifest 'm["complete"]')" True
equal "segments: owners" "$(stat -c %U "$t" "$t"/* | sort -u)" nobody
echo "ok by the service"

# --- the server is stopped -------------------------------------------------------------------------------

count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }
made=30256 # storm warms up, and reads the whole file once
cp "$srv/home/data" home/data
cat >home/job <<'END'
trap ': >home/term' TERM
read _ <gate
"$1" -n "$2" home/data
: >home/state
until [ -e home/go ]; do sleep 0.2; done
exit 7
END
tracer() { tr -d " " <"/proc/$dlt/task/$dlt/children"; }
runs() {
	rm -f home/state home/term home/go
	begin "$@" -- sh home/job "$W/storm" 20000 >out
	await grep -qs '	sh	' "$t/vfs_rw.out"
	behind=$(tracer)
}
stops() {
	runs "$@"
	stop_server
	echo >&9
	await test -e home/state # the workload does not wait for it
	await grep -q "warning: writing to .* has stalled" err
}

stops
await sh -c '"$1" status -j >status && grep -q "\"phase\": *\"stalled\"" status' - "$DLT"
start_server
await sh -c '"$1" status -j >status && grep -q "\"phase\": *\"tracing\"" status' - "$DLT"
: >home/go
join
equal "back: status ($(cat err))" $rc 7
check whole
equal "back: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
[ "$(count calls)" -ge $made ] || fail "back: $(count calls) calls"
echo "ok stopped, and back"

stops -v
kill -TERM "$dlt"
await test -e home/term
gone "$dlt" && fail "the first TERM ended it"
kill -TERM "$dlt"
join
equal "TERM twice: status" $rc 143
grep -q 'error: .*/t does not answer: the trace ends without' err || fail "TERM twice: $(cat err)"
said=$(awk '$3 == "vfs_rw:" { print $4 + $(NF - 1) }' err)
[ "${said:-0}" -ge $made ] || fail "TERM twice: told of ${said:-nothing} of $made calls: $(cat err)"
: >home/go
gone "$behind" && echo "it has ended without an answer" || echo "what waits in the kernel is left"
start_server
await gone "$behind"
echo "ok stopped, and ended"

# --- before and during a start, and before a report -------------------------------------------------------

# interrupted WHAT: a message says that WHAT waits, and one ^C ends it.
interrupted() {
	await grep -q 'does not answer; waiting for it; ^C or TERM ends the wait' err
	kill -INT "$dlt"
	join
	equal "$1: status ($(cat err))" $rc 130
	[ ! -e home/ran ] || fail "$1: the workload has run"
}

rm -f home/ran
stop_server
begin -- sh -c ': >home/ran'
interrupted "before a start"
start_server
begin -- sh -c ': >home/ran'
await test -e "$t/open.out" # its probes are attached from then on, which takes seconds here
stop_server
interrupted "in a start"
rm -rf "$t"
start_server
start -- true || fail "afterwards: status $?"
stop_server
: >err
setpriv --reuid nobody --regid "$gid" --clear-groups env --default-signal=INT "$DLT" report --full "$far/home/t" >report 2>err 9>&- &
dlt=$!
interrupted "report"
start_server
echo "ok stopped before"
