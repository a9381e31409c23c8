#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# fault.out has the page faults of files on FUSE, whose server answers late: the file, the place, and the time.
. "${0%/*}/../lib.sh"
need python3
[ -e /dev/fuse ] || skip "fuse (CONFIG_FUSE_FS)"
. "$here/faults.inc"
mkdir fuse
python3 -B "$here/slowfs.py" "$TMPDIR/fuse" read=20 >server 2>&1 &
server=$!
unmount() {
	umount fuse
	kill "$server"
	cleanup
}
trap unmount EXIT
await grep -q mounted server
head -c 1000000 /dev/urandom >fuse/far
kill -USR1 "$server"
await grep -q slow server
faults_of FUSE "$TMPDIR/fuse/far" fuse
[ "$(col fault LAT_NS 'FILE == "far"' | sort -n | tail -n 1)" -gt 100000 ] || fail "no fault took as long as the server"
