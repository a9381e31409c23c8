#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A disk that takes bios and not requests, a zram of the test's own with ext4: its rows are what it counted itself,
# marked BIO; direct reads are rows of the process that made them.
. "${0%/*}/../lib.sh"
need python3 mkfs.ext4
zram=$(cat /sys/class/zram-control/hot_add 2>/dev/null) || skip "zram (CONFIG_ZRAM)"
disk=zram$zram
finish() {
	[ -z "$mnt" ] || umount "$mnt"
	echo "$zram" >/sys/class/zram-control/hot_remove
}
trap finish EXIT

echo 64M >"/sys/block/$disk/disksize" || skip "memory for a zram"
[ -b "/dev/$disk" ] || skip "devtmpfs on /dev"
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$disk" || fail "mkfs.ext4"
mkdir disk
mount "/dev/$disk" disk || skip "to mount ext4"
mnt=$TMPDIR/disk
head -c 4194304 /dev/urandom >"$mnt/data"
sync -f "$mnt"

cat >job <<'END'
dd if=$mnt/data of=/dev/null bs=4k count=64 iflag=direct
dd if=$mnt/data iflag=nocache count=0
cat $mnt/data >/dev/null
dd if=$mnt/data of=$mnt/copy bs=64k conv=fsync
sync -f $mnt
END
export mnt
cp "/sys/block/$disk/stat" before
trace --probes bio,vfs_rw,time_align --disk "$disk" -- sh -e job >out 2>err || fail "status $?: $(cat err)"
cp "/sys/block/$disk/stat" after

check whole
check bios "$disk" before after
equal "disks" "$(col bio DISK | sort -u)" "$disk"
pid=$(col vfs_rw PID 'FLAGS ~ /DIRECT/ && RETURNED == 4096' | sort -u)
equal "its bios" "$(rows bio "PID == $pid && T == \"R\" && BYTES == 4096" | wc -l)" 64
