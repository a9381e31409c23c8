#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A trace on NFS: the kernel's own server on loopback, NFSv4.2, with root_squash, hard-mounted. Root is
# nobody's equal there, and a user's trace by way of the service is whole; reads of files there are those of a
# network in the report. The server is stopped in the middle and comes back, or does not while the trace is to
# end; it is stopped before a start, in one, and before a report. As squashed, hung-mount and hung-start of tests/native
# do it with FUSE.
native=${0%/*}/../../native
. "$native/service.inc"
rpc=/proc/net/rpc nfsd=/proc/fs/nfsd srv=${VM_MNT:?}/srv
far=$TMPDIR/far # $srv as its clients see it
modprobe -qa nfsd nfs nfsv4 || skip "nfsd and nfs (CONFIG_NFSD_V4, CONFIG_NFS_V4)"
gate
chmod 666 gate

# --- a server -----------------------------------------------------------------------------------------

# tell CACHE WORDS: what the kernel would ask mountd(8) for.
tell() { printf '%s\n' "$2" >"$rpc/$1/channel" || fail "$1: $2"; }
forever=2147483647
# root_squash, insecure, async, no_subtree_check, fsid=0; who is root here is 65533 there
export_it() { tell nfsd.export "all $srv $forever $((0x2416)) 65533 65533 0"; }

# The kernel forgets its exports when it stops serving.
start_server() {
	echo 10 >$nfsd/nfsv4leasetime
	echo 10 >$nfsd/nfsv4gracetime
	echo '-3 +4 +4.1 +4.2' >$nfsd/versions
	tell auth.unix.ip "nfsd 127.0.0.1 $forever all"
	tell nfsd.fh "all 1 \\x00000000 $forever $srv"
	export_it
	echo 'tcp 2049' >$nfsd/portlist || fail "port 2049"
	echo 4 >$nfsd/threads || fail "nfsd"
}
stop_server() { echo 0 >$nfsd/threads; }

end() {
	status=$?
	: >home/go
	[ -z "$daemon" ] || kill -9 "$daemon"
	[ -z "$dlt" ] || kill -9 "$dlt"
	[ "$(cat $nfsd/threads)" != 0 ] || start_server
	umount -l far
	exit $status
}

mount -t nfsd nfsd $nfsd 2>err.mount || [ -e $nfsd/threads ] || fail "nfsd: $(cat err.mount)"
mkdir -p far "$srv" /var/lib/nfs/v4recovery
install -d -o nobody -m 700 home "$srv/home"
start_server
echo Y >$nfsd/v4_end_grace # nobody has anything to claim again
mount -i -t nfs4 -o vers=4.2,addr=127.0.0.1,clientaddr=127.0.0.1,hard,timeo=20 127.0.0.1:/ far || fail "mount"
trap end EXIT
mkdir far/roots 2>/dev/null && fail "root is root there"
as sh -c 'head -c 1048576 /dev/zero >far/home/data' || fail "a user cannot write there"
ls far/home >ls 2>&1 && fail "root sees a user's folder there"

# start ARG...: as nobody, by way of the service; begin ARG...: by root, for nobody, in the background.
t=$srv/home/t
common="-q --collectors none --probes -bio --min-free 0 ${DLT_BACKEND:+--backend $DLT_BACKEND} --force -o $far/home/t"
# shellcheck disable=SC2086 # words
start() { as "$DLT" start $common "$@"; }
begin() {
	rm -rf "$t"
	: >err
	# shellcheck disable=SC2086 # words
	env --default-signal=INT,QUIT "$DLT" start $common --user nobody "$@" 2>err 9>&- &
	dlt=$!
}

# --- a user's, by way of the service ---------------------------------------------------------------------

daemon
echo 3 >/proc/sys/vm/drop_caches
start -- sh -c 'cat far/home/data >home/copied; exit 7' 2>err
rc=$?
equal "by the service: status ($(cat err))" $rc 7
equal "by the service: owners" "$(stat -c %U "$t" "$t"/* | sort -u)" nobody
equal "by the service: read from" "$(col files FSTYPE 'REALPATH ~ /home.data$/')" nfs4
check whole
as "$DLT" report "$far/home/t" >report || fail "report: $?"
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
made=30256 # storm's: it warms up, and reads all of the file once
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
said=$(awk '$2 == "vfs_rw" { print $3 + $(NF - 1) }' err)
[ "${said:-0}" -ge $made ] || fail "TERM twice: told of ${said:-nothing} of $made calls: $(cat err)"
: >home/go
gone "$behind" && echo "it has ended without an answer" || echo "what waits in the kernel is left"
start_server
await gone "$behind"
echo "ok stopped, and ended"

# --- before a start, in one, and before a report --------------------------------------------------------------

# interrupted WHAT: that is said, and one ^C ends it.
interrupted() {
	await grep -q 'does not answer; waiting for it: ^C or TERM ends that' err
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
setpriv --reuid nobody --regid "$gid" --clear-groups env --default-signal=INT "$DLT" report "$far/home/t" >report 2>err 9>&- &
dlt=$!
interrupted "report"
start_server
echo "ok stopped before"
