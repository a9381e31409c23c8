#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# An NVMe disk of the kernel's own target (nvme-loop) on a loop device. The target reports that it may have several paths, so
# the disk is a multipath head: its rows, marked BIO, have the files and places that FIEMAP shows, and the requests of its
# path are marked as those of a disk above, with the same files and places.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3 mkfs.ext4
modprobe -qa nvmet nvme-loop 2>/dev/null || skip "the target nvme-loop (CONFIG_NVME_TARGET_LOOP)"
config=/sys/kernel/config
mountpoint -q $config || mount -t configfs none $config || skip "configfs"
target=$config/nvmet nqn=dltraced

truncate -s 200M disk.img
loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
finish() {
	[ -z "$mnt" ] || umount "$mnt"
	mnt=''
	for c in /sys/class/nvme/*; do
		[ "$(cat "$c/subsysnqn")" != $nqn ] || echo 1 >"$c/delete_controller"
	done
	rm -f $target/ports/1/subsystems/$nqn
	rmdir $target/ports/1 $target/subsystems/$nqn/namespaces/1 $target/subsystems/$nqn
	cleanup
}
trap finish EXIT
mkdir $target/subsystems/$nqn || fail "no subsystem"
echo 1 >$target/subsystems/$nqn/attr_allow_any_host
mkdir $target/subsystems/$nqn/namespaces/1
echo "$loop" >$target/subsystems/$nqn/namespaces/1/device_path
echo 1 >$target/subsystems/$nqn/namespaces/1/enable
mkdir $target/ports/1
echo loop >$target/ports/1/addr_trtype
ln -s $target/subsystems/$nqn $target/ports/1/subsystems/$nqn
echo transport=loop,nqn=$nqn >/dev/nvme-fabrics || fail "no connection to the target"

subsystem=$(grep -lx $nqn /sys/class/nvme-subsystem/*/subsysnqn | head -n 1)
subsystem=${subsystem%/subsysnqn}
number=${subsystem##*nvme-subsys}
await test -b "/dev/nvme${number}n1"
disk=nvme${number}n1
path=$(basename "$(find /sys/class/block/ -name "nvme${number}c*n1" | head -n 1)")
[ "$path" ] || skip "multipath heads (CONFIG_NVME_MULTIPATH)"
mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 "/dev/$disk" || fail "mkfs.ext4 on $disk"
mkdir disk
mount "/dev/$disk" disk || fail "mount"
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
trace --probes bio,time_align --linger 1 -- sh -e job >out 2>err || fail "status $?: $(cat err)"
[ "$(rows bio "DISK == \"$disk\" && FLAGS ~ /BIO/ && KIND == \"data\"")" ] || fail "no row of $disk: $(col bio DISK | sort | uniq -c)"
check bio_below "$disk" "$path" multipath 2>found
echo "note: $(cat found)"
VM_DISK=$disk VM_MNT=$mnt sh "$native/probes/bio-files.sh" || fail "files"
