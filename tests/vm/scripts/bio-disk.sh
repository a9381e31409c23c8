#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# bio.out of a disk with a driver, interrupts and a queue per CPU: requests and bytes of every kind
# are those that the disk counted itself (/sys/block/DISK/stat), with several processes at it at
# once, direct and through the page cache, merged, flushed and discarded.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3 fstrim

cat >job <<'END'
for i in 1 2 3 4; do
	(
		dd if=/dev/zero of=$mnt/direct$i bs=16k count=64 oflag=direct
		dd if=$mnt/direct$i of=/dev/null bs=4k count=128 iflag=direct
		dd if=/dev/zero of=$mnt/buffered$i bs=4k count=512 conv=fsync
		echo $i >$mnt/small$i
		sync $mnt/small$i
	) &
done
wait
sync -f $mnt
dd if=$mnt/buffered1 iflag=nocache count=0
cat $mnt/buffered1 >/dev/null
rm $mnt/direct* $mnt/buffered* $mnt/small*
sync -f $mnt
fstrim $mnt
umount $mnt
END

export mnt="$VM_MNT" disk="$VM_DISK"
sync -f "$mnt"
cp "/sys/block/$disk/stat" before
trace --probes bio,time_align --disk "$disk" --linger 1 -- sh -e job >out 2>err
rc=$?
cp "/sys/block/$disk/stat" after
mount -o noatime "/dev/$disk" "$VM_MNT" || fail "cannot mount $disk again: status was $rc: $(cat err)"
mnt='' disk=''
equal "status" $rc 0
# Kernels that preempt BPF programs skip runs of them; these count as lost.
may_lose=''
! grep -qE '\((full|lazy)\)' /sys/kernel/debug/sched/preempt 2>/dev/null || may_lose=may-lose
check bio "$VM_DISK" before after $may_lose
reads=$(rows bio 'T == "R" && COMM == "dd" && BYTES == 4096 && FLAGS !~ /META/' | wc -l)
[ -n "$may_lose" ] || equal "direct reads" "$reads" 512
