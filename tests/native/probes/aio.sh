#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# libaio: every iocb that the kernel accepted has one row, with the result of its event, even if another thread reaps it
# before io_submit has returned. One that is taken from the ring in memory, without a call, has its row, too, without a
# result.
. "${0%/*}/../lib.sh"
need python3

iocbs() {
	rm -rf dir
	mkdir dir
	trace -- "$W/aio" -T tally "$@" "$PWD/dir"
	rc=$?
	[ $rc != 77 ] || skip "io_setup"
	equal "aio $*: status" $rc 0
	check requests tally io_submit
}

iocbs -n 4 libaio
iocbs -t 3 libaio
iocbs -t 2 -n 5 two
iocbs unreaped
equal "rows of calls that only tell results" "$(rows vfs_rw 'FUNC ~ /getevents/' | wc -l)" 0
