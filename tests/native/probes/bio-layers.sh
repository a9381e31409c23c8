#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What lies below the file that a program uses: requests of the disk with the image of a loop device, through its page
# cache and past it, name the image and the place in it, as FIEMAP shows; and btrfs with compression, where bio.out
# names no file, but counts what it does not know.
. "${0%/*}/../lib.sh"
need python3 mkfs.ext4

upper='' above=''
finish() {
	[ -z "$upper" ] || umount "$upper"
	[ -z "$above" ] || losetup -d "$above"
	cleanup
}
trap finish EXIT
cat >job <<'END'
head -c 6000000 /dev/urandom >$upper/file
sync -f $upper
dd if=$upper/file iflag=nocache count=0
cat $upper/file >/dev/null
dd if=$upper/file of=/dev/null bs=64k iflag=direct
sync -f $mnt
END

# Blocks of 4 KiB below, as the check adds these up.
truncate -s 300M disk.img
loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
disk=${loop#/dev/}
mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "$loop" || fail "mkfs.ext4 $loop"
mkdir below above
mount "$loop" below || skip "to mount ext4"
mnt=$TMPDIR/below
settle
# the image is written first, as reads of unwritten parts would need no blocks
dd if=/dev/zero of="$mnt/image" bs=1M count=64 conv=fsync 2>/dev/null
# Through the page cache the requests below are ordinary write-back: only with LONG=1, or in a guest.
through=''
[ -z "${LONG-}${VM-}" ] || through=off
for direct in $through on; do
	above=$(losetup -f --show --direct-io=$direct "$mnt/image") || { above=''; skip "a loop device with --direct-io=$direct"; }
	mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0,nodiscard "$above" || fail "mkfs.ext4 $above"
	mount "$above" above || fail "mount $above"
	upper=$TMPDIR/above
	sync -f "$mnt"
	dd if="$mnt/image" iflag=nocache count=0 2>/dev/null
	export upper mnt
	trace --probes bio,bio_map,time_align --disk "$disk" -- sh -e job >out 2>err || fail "direct-io=$direct: $(cat err)"
	check bio_files "$mnt" direct 2>found || fail "direct-io=$direct: $(cat found)"
	kind=$([ $direct = on ] && echo direct || echo data)
	equal "direct-io=$direct: KIND of the image's requests" "$(col bio KIND 'FILE == "image"' | sort -u)" $kind
	written=$(col bio BYTES 'FILE == "image" && T == "W"' | awk '{ n += $1 } END { print n + 0 }')
	[ "$written" -ge 6000000 ] || fail "direct-io=$direct: $written bytes written to the image"
	umount "$upper" && upper=''
	losetup -d "$above" && above=''
done
umount "$mnt" && mnt=''

command -v mkfs.btrfs >/dev/null || skip "mkfs.btrfs"
mkfs.btrfs -q -f -d single -m single "$loop" >out 2>&1 || fail "mkfs.btrfs: $(cat out)"
mount -t btrfs -o compress=zstd "$loop" below 2>out || skip "btrfs with zstd ($(cat out))"
mnt=$TMPDIR/below
cat >job <<'END'
seq 200000 >$mnt/compressed
head -c 100000 /dev/urandom >$mnt/random
sync -f $mnt
for f in compressed random; do dd if=$mnt/$f iflag=nocache count=0; cat $mnt/$f >/dev/null; done
END
trace --probes bio,time_align --disk "$disk" -- sh -e job >out 2>err || fail "btrfs: $(cat err)"
# a request merged of both files has the first one's name
unknown=$(rows bio 'KIND == "data" && FID == "-"' | wc -l)
[ "$unknown" -ge 2 ] || fail "btrfs: $unknown requests of no file"
counted=$(manifest 'next(p for p in m["probes"] if p["name"] == "bio").get("fileless", 0)')
[ "$counted" -ge "$unknown" ] || fail "btrfs: $unknown requests of no file, $counted counted"
equal "btrfs: files that are known" "$(col bio FILE 'FID != "-"' | sort -u)" random
