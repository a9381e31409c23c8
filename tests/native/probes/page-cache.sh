#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# cache.out shows what happened to each page: for epochs over small files, and for a large file that is read in turns,
# at random, and dropped, all sums are those of the kernel and of the job's own count (page_cache.py). The file is
# written only on request. On ext4, XFS and btrfs, each on a disk of the test's own; in a guest on its disk.
. "${0%/*}/../lib.sh"
need python3 dd

# sums: on the file system at $mnt
sums() {
	folder=$mnt/cache
	mkdir "$folder"
	for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
		dd if=/dev/urandom of="$folder/small$i" bs=$((3000 + i * 5000)) count=1 2>/dev/null
	done
	dd if=/dev/urandom of="$folder/big" bs=1M count=8 2>/dev/null
	sync -f "$folder"
	echo 1 >/proc/sys/vm/drop_caches
	trace --probes cache,bio,time_align --disk "$disk" -- \
		/usr/bin/python3 "$here/../workloads/page_cache.py" "$folder" "$PWD/tally" 2>err || fail "$fs: status $?: $(cat err)"
	check page_cache tally
	[ ! -e "$t/vfs_rw.out" ] || fail "vfs_rw.out is there without being wanted"
	[ "$fs" != ext4 ] || without_bio
	rm -rf "$folder"
}

# without_bio: the bytes written to disks are unknown; and cache.out exists only if it is asked for
without_bio() {
	trace --probes cache -- cat "$folder/big" >/dev/null || fail "without bio: status $?"
	[ "$(rows cache 'FILE == "big"')" ] || fail "no row of the file"
	equal "WRITTEN without bio" "$(col cache WRITTEN | sort -u)" -
	[ -n "${VM_DISK-}" ] || { trace --probes vfs_rw -- true || fail "without it: status $?"; }
	[ -n "${VM_DISK-}" ] || [ ! -e "$t/cache.out" ] || fail "cache.out is there without being wanted"
}

each_fs sums
