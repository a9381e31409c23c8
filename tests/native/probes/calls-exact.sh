#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The workload "calls" makes every call of every file probe, with and without success, and keeps a tally. The rows
# between its marks equal it for every function: number, failures, bytes requested and moved, sum of the errnos, files
# created. Every read and write without a position of its own begins where the last one ended. Alone, in threads that
# share descriptors, in processes.
#
# smoke
. "${0%/*}/../lib.sh"

shape() {
	trace -- "$W/calls" "$@" -T tally dir >pids || fail "calls $*: status $?"
	check tally tally pids
}

[ -n "$slow" ] || shape -n 25 -s
[ -n "$slow" ] || shape -n 25 -t 8
shape -n 10 -t 4 -f 3
