#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# OFFSET of direct I/O that io_uring and libaio carry out later: where it began, also at the file's own position and where
# it appends. Where nobody can say that it is `-`: on FUSE, and of an iocb that appends.
. "${0%/*}/../lib.sh"
need python3
mkdir try
"$W/aio" -n 0 -T tally overflow try || skip "io_uring (kernel.io_uring_disabled)"

server='' overlay=''
unmount() {
	[ -z "$overlay" ] || umount "$overlay"
	[ -z "$server" ] || { umount fuse; wait "$server"; }
	cleanup
}
trap unmount EXIT

# places DIR
places() {
	trace -- "$W/aio" -T tally places "$1" || fail "$1: status $?"
	check requests tally io_uring
	check requests tally io_submit
	equal "$1: requests" "$(wc -l <tally)" 4
}

disk_ext4
places "$mnt"
mkdir disk/low disk/up disk/work merged
if has_types overlay ovl_inode &&
	mount -t overlay -o lowerdir=disk/low,upperdir=disk/up,workdir=disk/work overlay merged 2>/dev/null; then
	overlay=$PWD/merged
	places "$overlay"
else
	echo "note: without overlayfs"
fi

# A server to whose kernel direct I/O may end later (FUSE_ASYNC_DIO).
cat >later.py <<'END'
import struct, sys
sys.path.insert(0, sys.argv[2])
import hungfs

def init(fs, n, body, head):
    out = bytearray(hungfs.Fs.init(fs, n, body, head))
    struct.pack_into("<I", out, 12, 1 << 15)
    return bytes(out)

class Fs(hungfs.Fs):
    CALLS = {**hungfs.Fs.CALLS, 26: init}

hungfs.serve(Fs(), sys.argv[1], "later")
END
[ -e /dev/fuse ] || modprobe -q fuse 2>/dev/null || skip "fuse (CONFIG_FUSE_FS)"
mkdir fuse
python3 -B later.py "$TMPDIR/fuse" "$here" >said 2>&1 &
server=$!
await test -s said
grep -q mounted said || { server=''; fail "$(cat said)"; }
places "$PWD/fuse"
