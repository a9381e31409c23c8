#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# shellcheck disable=SC2034 # t: what tracing functions write to
#
# The service, and a member's process whose memory map is locked (locked_map.c on hungfs.py): the trace of it is listed, and
# ends when its user wants, others are served meanwhile, and the service ends.
#
# alone: as locked-map
. "${0%/*}/../service.inc"
. "${0%/*}/../hungfs.inc"
job=''
trap 'status=$?; [ -z "$daemon" ] || kill -9 $daemon; [ -z "$job" ] || kill -9 $job; end_server; cleanup; exit $status' EXIT
install -d -o nobody -m 700 home
install "$W/locked_map" program
mkfifo locking && exec 7<>locking

daemon
server
head -c 4096 /dev/zero >far/page && chown nobody far/page
setpriv --reuid nobody --regid "$gid" --groups 1 ./program far/page <locking >said 7>&- &
job=$!
await grep -q ready said
hang
echo >&7
await grep -q locked said

t=$TMPDIR/home/locked
as_spawn --pid $job
await listening
as "$DLT" status >out || fail "status: $?"
grep -q "^locked " out || fail "status: $(cat out)"
client=$dlt t=$TMPDIR/home/other
as_start -- cat /etc/hostname >out || fail "another trace meanwhile: status $?"
check whole
dlt=$client t=$TMPDIR/home/locked
kill -INT "$dlt"
join
equal "status ($(cat err))" $rc 0
grep -qF "process $job (program): its mappings" err || fail "$(cat err)"
equal "unanswered" "$(manifest "{p['name']: p['unanswered'] for p in m['probes'] if 'unanswered' in p}")" "{'mmap': 1, 'pids': 1}"

# the end of the service ends such a trace, too
as_spawn --pid $job
await listening
kill -TERM "$daemon"
wait "$daemon" || fail "the service: status $?"
daemon=''
join
await gone "$served"
