#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# bio.out of a disk of the test's own, with ext4, for direct and buffered reads and writes, fsync, discards, zeroes and
# the unmount: requests and bytes of every kind are what the disk counted itself (/sys/block/DISK/stat). Direct reads
# are rows of the process that made them, byte by byte.
#
# smoke
. "${0%/*}/../lib.sh"
need python3 mkfs.ext4 fstrim blkdiscard
disk_ext4 64M
head -c 8388608 /dev/urandom >"$mnt/data"
sync -f "$mnt"

# can KEY: the loop device's abilities beyond reading and writing depend on its file's file system.
can() { [ "$(cat "/sys/block/$disk/queue/$1")" != 0 ]; }

# The disk's counters are read while the trace runs: another process's sync may flush this disk, too, at any time.
cat >job <<'END'
cp /sys/block/$disk/stat before
# 256 direct reads of 4 KiB, 4 of 1 MiB; then all of it through the page cache, which is to be empty
dd if=$mnt/data of=/dev/null bs=4k count=256 iflag=direct
dd if=$mnt/data of=/dev/null bs=1M count=4 iflag=direct
dd if=$mnt/data iflag=nocache count=0
cat $mnt/data >/dev/null
dd if=$mnt/data of=$mnt/copy bs=64k conv=fsync
dd if=/dev/zero of=$mnt/direct bs=16k count=64 oflag=direct,dsync
for i in 1 2 3 4 5 6 7 8; do echo $i >$mnt/small$i; done
sync -f $mnt/small1
rm $mnt/copy $mnt/small*
sync -f $mnt
fstrim $mnt || :
umount $mnt
blkdiscard -z -o 1M -l 2M /dev/$disk || :
cp /sys/block/$disk/stat after
END

export mnt disk
trace --probes bio,vfs_rw,time_align --disk "$disk" --linger 1 -- sh -e job >out 2>err || fail "status $?: $(cat err)"
mountpoint -q "$mnt" && fail "still mounted"
mnt=''

check whole
check bio "$disk" before after
equal "direct reads of 4 KiB" "$(rows vfs_rw 'FLAGS ~ /DIRECT/ && RW == "R" && RETURNED == 4096' | wc -l)" 256
equal "what each had the disk read" "$(col vfs_rw DISK_BYTES 'FLAGS ~ /DIRECT/ && RETURNED == 4096' | sort -u)" 4096
pid=$(col vfs_rw PID 'FLAGS ~ /DIRECT/ && RETURNED == 4096' | sort -u)
# A request whose end the kernel did not report is lost (docs/traces); check whole allows only a few of these, and no
# other losses.
lost=$(manifest 'sum(p["lost"] for p in m["probes"] if p["name"] == "bio")')
# all WHAT N OF: N rows for OF requests; the difference is no more than the lost ones.
all() { [ "$2" -le "$3" ] && [ "$2" -ge $(($3 - lost)) ] || fail "$1: $2, not $3, of which $lost may be lost"; }
all "their requests" "$(rows bio "PID == $pid && T == \"R\" && BYTES == 4096" | wc -l)" 256
# by PID: the dd that copied also wrote back its dirty pages, in requests of any size, 16 KiB among them
pid=$(col vfs_rw PID 'FLAGS ~ /DIRECT/ && RW == "W"' | sort -u)
all "requests of direct writes" "$(rows bio "PID == $pid && T == \"W\" && BYTES == 16384" | wc -l)" 64
if can discard_max_bytes; then
	[ -n "$(rows bio 'T == "D" && COMM == "fstrim"')" ] || fail "no discards"
fi
if can write_zeroes_max_bytes; then
	zeroes=$(col bio BYTES 'T == "Z"' | awk '{ n += $1 } END { print n + 0 }')
	# the size of lost requests is unknown
	[ "$lost" = 0 ] || [ "$zeroes" -gt 2097152 ] || zeroes=2097152
	equal "zeroes" "$zeroes" 2097152
fi
