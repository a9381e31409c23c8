#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# fault.out has the page faults of files on NFS: the file, the place, the time that it took.
. "${0%/*}/nfs.inc"
t=$TMPDIR/t
. "$native/faults.inc"
install -d -m 777 "$srv/all"
head -c 1000000 /dev/urandom >far/all/mapped || fail "cannot write there"
sync far/all/mapped
faults_of NFS "$TMPDIR/far/all/mapped" nfs4
