#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Requests of io_uring that the kernel's own thread takes (SQPOLL) belong to the process, like all others.
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

requests -q uring
requests -t 3 -q uring
requests -q overflow
