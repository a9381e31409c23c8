#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Block devices themselves, without a file system: direct I/O by calls and libaio, and I/O through the page cache, on a
# partition and on a whole loop device. bio.out has KIND, the writer, and the place in the device, or in the partition
# if it is one. The place is not known for a device that somebody holds, and for memory that belongs to a file; both are
# counted.
. "${0%/*}/../lib.sh"
need python3

# Until 5.11 a bio names only its disk, which may be an upper one.
places=$(grep -q 'bi_bdev' /sys/kernel/btf/vmlinux && echo yes || echo no)

# device NODE START
device() {
	trace --probes bio,time_align --disk "$disk" -- python3 "$here/../workloads/block_device.py" "$1" >tally 2>err ||
		fail "$1: status $?: $(cat err)"
	check bio_device "$disk" "$2" tally "$places" 2>found
	echo "note: $1: $(cat found)"
}

truncate -s 80M disk.img
# a partition table (MBR) with one partition of all but the first MiB
python3 -c 'import struct, sys
with open(sys.argv[1], "r+b") as f:
    f.seek(446)
    f.write(struct.pack("<BxxxBxxxII", 0, 0x83, 2048, 79 * 2048))
    f.seek(510)
    f.write(b"\x55\xaa")' disk.img
loop=$(losetup -P -f --show disk.img) || { loop=''; skip "a loop device"; }
disk=${loop#/dev/}
settle
if [ -b "${loop}p1" ]; then
	device "${loop}p1" 2048
else
	echo "note: no partitions of loop devices"
fi
device "$loop" 0
