#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# device-mapper: dm-linear and dm-crypt over a loop device of the test's own, with ext4. The rows of dm-N are what it
# counted itself, marked BIO; those of the loop device below are what that counted, as requests. A report counts a byte
# once, at the lowest disk. The files and places of dm-N are those of FIEMAP, and the requests below name the same ones.
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
key=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f
# The disks' counters are read while the trace runs, and once all writes are done.
cat >job <<'END'
for d in $dm $disk; do cp /sys/block/$d/stat before.$d; done
dd if=$mnt/data of=/dev/null bs=4k count=64 iflag=direct
dd if=$mnt/data iflag=nocache count=0
cat $mnt/data >/dev/null
dd if=$mnt/data of=$mnt/copy bs=64k conv=fsync
sync -f $mnt
umount $mnt
for d in $dm $disk; do cp /sys/block/$d/stat after.$d; done
END

# mapped TYPE TABLE: makes a disk with a target of that type; TABLE omits the disk below and the offset.
mapped() {
	truncate -s 100M disk.img
	loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
	# shellcheck disable=SC2086 # words
	dmsetup create --noudevsync "$map" --table "0 204800 $2 $loop 0" 2>out || skip "dm-$1 ($(cat out))"
	made=yes
	minor=$(dmsetup info -c --noheadings -o minor "$map")
	dm=dm-$minor
	rm -f node
	mknod node b "$(dmsetup info -c --noheadings -o major "$map")" "$minor" || fail "mknod"
	mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 node || fail "mkfs.ext4 on $dm"
	mkdir -p disk
	mount node disk || skip "to mount ext4"
	mnt=$TMPDIR/disk
	head -c 4194304 /dev/urandom >"$mnt/data"
	sync -f "$mnt"
	rows_of "$1"
	mount node disk || fail "mount again"
	mnt=$TMPDIR/disk
	VM_DISK=$dm VM_MNT=$mnt sh "$here/probes/bio-files.sh" || fail "dm-$1: files"
	umount "$mnt"
	mnt=''
	dmsetup remove --noudevsync "$map"
	made=''
	losetup -d "$loop"
	loop=''
	rm disk.img
}

# run: traces the job; up to three times more, where the kernel has skipped runs of programs, and dltraced has counted
# lost rows.
run() {
	for try in 1 2 3; do
		[ -n "$mnt" ] || { mount node disk && mnt=$TMPDIR/disk; } || fail "mount again"
		trace --probes bio,vfs_rw,time_align --linger 1 --disk "$dm" --disk "$disk" -- sh -e job >out 2>err || fail "status $?: $(cat err)"
		mountpoint -q "$mnt" && fail "still mounted"
		mnt=''
		[ "$(manifest 'm["skipped_runs"] and sum(p["lost"] for p in m["probes"])')" != 0 ] || return 0
		echo "note: try $try: the kernel skipped runs"
	done
}

# rows_of TYPE
rows_of() {
	disk=${loop#/dev/}
	export mnt disk dm
	run
	check whole
	# shellcheck disable=SC2046 # none for linear
	check bios "$dm" "before.$dm" "after.$dm" $([ "$1" != crypt ] || echo splits)
	pid=$(col vfs_rw PID 'FLAGS ~ /DIRECT/ && RETURNED == 4096' | sort -u)
	for d in "$dm" "$disk"; do
		equal "direct reads of $d" "$(rows bio "DISK == \"$d\" && PID == $pid && T == \"R\" && BYTES == 4096" | wc -l)" 64
	done
	equal "disks" "$(col bio DISK | sort -u | tr '\n' ' ')" "$(printf '%s\n' "$dm" "$disk" | sort | tr '\n' ' ')"
	# the loop device's counters: requests and sectors of reads and writes
	read -r a _ b _ _ _ d _ <"before.$disk"
	read -r e _ f _ _ _ h _ <"after.$disk"
	equal "requests of $disk" "$(col bio T "DISK == \"$disk\"" | sort | uniq -c | awk '$2 == "R" { print $1 }')" $((e - a))
	equal "bytes read of $disk" "$(each bio "if (DISK == \"$disk\" && T == \"R\") n += BYTES; print n" | tail -n 1)" $(((f - b) * 512))
	equal "bytes written of $disk" "$(each bio "if (DISK == \"$disk\" && T == \"W\") n += BYTES; print n" | tail -n 1)" $(((h - d) * 512))
	check bio_below "$dm" "$disk" "$1" 2>found
	echo "note: $(cat found)"
}

mapped linear linear
mapped crypt "crypt aes-xts-plain64 $key 0"
