#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# bio.out names the file, and the place in it, of every byte that is read or written back, through the page cache or
# past it: each 4 KiB is compared with FIEMAP; the extents of a request of several are in bio_map.out. The files are
# read without having been opened under the trace, so their names come from the kernel itself. Write-back names the
# processes that dirtied the pages. On ext4, XFS and btrfs, each on a disk of the test's own; in a guest on its disk.
. "${0%/*}/../lib.sh"
need python3 fallocate

# phase WHAT [ARG...]
phase() {
	sync -f "$mnt" # pages that were dirty before a trace have no writer
	trace --probes bio,bio_map,time_align --disk "$disk" --linger 1 -- python3 "$here/../workloads/bio_files.py" "$1" "$mnt/files" \
		>pids 2>err || fail "$fs $1: status $?: $(cat err)"
	case $1 in
	shared) for way in halves turns over mapped single; do check bio_writers "$mnt/files/$way" $way pids; done ;;
	direct | write) check bio_files "$mnt" "$1" pids ;;
	*) check bio_files "$mnt" "$1" ;;
	esac
}

again() {
	sync -f "$mnt"
	if [ -n "${VM_DISK-}" ]; then # it is mounted outside of our namespace, too
		echo 3 >/proc/sys/vm/drop_caches
		return
	fi
	umount "$mnt" || fail "umount $mnt"
	mount "/dev/$disk" "$mnt" || fail "cannot mount $mnt again"
}

# files: all phases, on the file system at $mnt
files() {
	rm -rf "$mnt/files"
	sync -f "$mnt"
	phase write
	again
	# a mount of a part of the file system, where files outside of this part have no path
	mkdir -p "$mnt/part" bound
	mount -o bind "$mnt/part" bound || fail "mount --bind"
	phase read
	umount bound
	again
	phase direct
	phase shared
	again
	phase hostile
	rm -rf "$mnt/files"
}

each_fs files
