#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Requests of io_uring that have not completed when the trace ends have a row each, with what they requested and without
# a result.
. "${0%/*}/../lib.sh"
need python3
mkdir try
"$W/aio" -n 0 -T tally overflow try || skip "io_uring (kernel.io_uring_disabled)"
gate
mkdir dir
sh -c 'read _ <gate; exec "$@"' sh "$W/aio" -T tally hang "$PWD/dir" &
job=$!
trap 'kill -9 $job; cleanup' EXIT
spawn --pid $job
await grep -qs "	snapshot	.*	$job	" "$t/pids.out"
echo >&9
await grep -qs hangs tally
kill -INT "$dlt"
join
check whole
equal "reads" "$(col vfs_rw 'PID " " REQUESTED " " RETURNED' 'FUNC ~ /^io_uring/')" "$job 100 ?"
case $(readlink "/proc/$job/fd/$(col vfs_rw FD 'FUNC ~ /^io_uring/')") in
pipe:*) ;;
*) fail "not a pipe: $(rows vfs_rw 'FUNC ~ /^io_uring/')" ;;
esac
equal "opens" "$(col open 'RET " " FLAGS " " PATH " " COMM' 'FUNC ~ /^io_uring/')" "? RDONLY fifo aio"
