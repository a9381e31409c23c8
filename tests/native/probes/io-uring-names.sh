#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Requests of io_uring that are hard to tell apart: the ring has no room for completions, or all requests have the same
# user_data.
. "${0%/*}/../lib.sh"
need python3
mkdir try
"$W/aio" -n 0 -T tally overflow try || skip "io_uring (kernel.io_uring_disabled)"

requests() {
	rm -rf dir
	mkdir dir
	trace -- "$W/aio" -T tally "$@" "$PWD/dir" || fail "aio $*: status $?"
	check requests tally io_uring
	[ -s tally ] || fail "aio $*: made nothing"
}

requests -t 2 -n 10 overflow

# Of requests that share a user_data, older kernels do not report which one has ended: each is a row, or is counted as
# lost.
rm -rf dir
mkdir dir
trace -- "$W/aio" -T tally -t 3 same "$PWD/dir" || fail "aio same: status $?"
lost=$(manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['lost']")
[ "$lost" != 0 ] || check requests tally io_uring
equal "requests of one name" $(($(rows vfs_rw 'FUNC ~ /^io_uring/' | wc -l) + lost)) "$(wc -l <tally)"
