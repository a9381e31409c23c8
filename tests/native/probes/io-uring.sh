#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Requests of io_uring: the workload "aio" makes every file operation, with and without success, and writes down what
# the ring returned for each. There is one row for each of them, and no other, even where a worker thread does the work.
#
# smoke
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

requests uring
requests -t 4 -n 5 uring
equal "hooks" "$(manifest "'hooks' in m['io_uring']")" True
