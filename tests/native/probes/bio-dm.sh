#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# device-mapper: dm-linear over a loop device of our own, with ext4 on it. The rows of dm-N are what
# it counted itself, marked BIO, those of the loop device below are what that counted, as requests; a
# report counts a byte once, at the lowest disk.
. "${0%/*}/../lib.sh"
need python3 dmsetup mkfs.ext4
dmsetup version >/dev/null 2>&1 || skip "device-mapper (CONFIG_BLK_DEV_DM)"

map=dltraced-$$ made=
finish() {
	[ -z "$mnt" ] || umount "$mnt"
	mnt=
	[ -z "$made" ] || dmsetup remove --noudevsync "$map"
	cleanup
}
trap finish EXIT
truncate -s 64M disk.img
loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
dmsetup create --noudevsync "$map" --table "0 131072 linear $loop 0" || skip "dm-linear"
made=yes
minor=$(dmsetup info -c --noheadings -o minor "$map")
dm=dm-$minor
mknod dm b "$(dmsetup info -c --noheadings -o major "$map")" "$minor" || fail "mknod"
mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 dm || fail "mkfs.ext4 on $dm"
mkdir disk
mount dm disk || skip "to mount ext4"
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
disk=${loop#/dev/}
for d in "$dm" "$disk"; do cp "/sys/block/$d/stat" "before.$d"; done
trace --probes bio,vfs_rw,time_align --disk "$dm" --disk "$disk" -- sh -e job >out 2>err || fail "status $?: $(cat err)"
for d in "$dm" "$disk"; do cp "/sys/block/$d/stat" "after.$d"; done

check whole
check bios "$dm" "before.$dm" "after.$dm"
pid=$(col vfs_rw PID 'FLAGS ~ /DIRECT/ && RETURNED == 4096' | sort -u)
for d in "$dm" "$disk"; do
	equal "direct reads of $d" "$(rows bio "DISK == \"$d\" && PID == $pid && T == \"R\" && BYTES == 4096" | wc -l)" 64
done
equal "disks" "$(col bio DISK | sort -u | tr '\n' ' ')" "$(printf '%s\n' "$dm" "$disk" | sort | tr '\n' ' ')"
# what the loop device counted: requests and bytes of reads and writes
read -r a _ b _ _ _ d _ <"before.$disk"
read -r e _ f _ _ _ h _ <"after.$disk"
equal "requests of $disk" "$(col bio T "DISK == \"$disk\"" | sort | uniq -c | awk '$2 == "R" { print $1 }')" $((e - a))
equal "bytes read of $disk" "$(each bio "if (DISK == \"$disk\" && T == \"R\") n += BYTES; print n" | tail -n 1)" $(((f - b) * 512))
equal "bytes written of $disk" "$(each bio "if (DISK == \"$disk\" && T == \"W\") n += BYTES; print n" | tail -n 1)" $(((h - d) * 512))
