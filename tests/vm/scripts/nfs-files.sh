#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Files on NFS: one life is one FID, also where the server's file system gives an inode number to the next file.
. "${0%/*}/nfs.inc"
t=$TMPDIR/t
. "$native/lives.inc"
install -d -m 777 "$srv/all"
for i in 1 2 3 4 5 6; do echo "file $i" >"far/all/file$i" || fail "cannot write there"; done
lives NFS far/all anew
