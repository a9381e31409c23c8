#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# However a file is written, bio.out names the process that wrote it: by calls, io_uring and its workers, libaio, stores
# into a mapping, a thread, past the page cache, truncate, fallocate, copies and clones, or into a file without a name.
# Each process has ended before its pages are written back. On ext4, XFS and btrfs, each on a disk of the test's own; in
# a guest on its disk.
. "${0%/*}/../lib.sh"
need python3

# ways: of the file system at $mnt
ways() {
	rm -rf "$mnt/writers"
	mkdir "$mnt/writers"
	"$W/writers" prepare "$mnt/writers" || fail "$fs: prepare: status $?"
	sync -f "$mnt"
	trace --probes bio,time_align --disk "$disk" -- "$W/writers" run "$mnt/writers" >tally 2>err ||
		fail "$fs: status $?: $(cat err)"
	check bio_ways tally 9
	rm -rf "$mnt/writers"
}

each_fs ways
