#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What a workload has written and left in the page cache reaches the disk after its end, by the
# kernel's threads: --linger has it all, under their names, and no byte of it twice.
native=${0%/*}/../../native
. "$native/lib.sh"

# Write-back of pages that are dirty for a second, checked twice a second.
cd /proc/sys/vm || exit 1
set -- dirty_expire_centisecs dirty_writeback_centisecs
for name; do eval "$name=$(cat "$name")"; done
restore() {
	for name in dirty_expire_centisecs dirty_writeback_centisecs; do
		eval "echo \$$name" >/proc/sys/vm/$name
	done
	cleanup
}
trap restore EXIT
echo 100 >dirty_expire_centisecs
echo 50 >dirty_writeback_centisecs
cd "$TMPDIR" || exit 1

mib=16
written() { [ $((($(awk '{ print $7 }' "/sys/block/$VM_DISK/stat") - $(awk '{ print $7 }' before)) * 512)) -ge \
	$((mib << 20)) ]; }

rm -f "$VM_MNT/dirty"
sync -f "$VM_MNT"
cp "/sys/block/$VM_DISK/stat" before
spawn -v --probes bio,vfs_rw,time_align --disk "$VM_DISK" --linger 1h -- \
	dd if=/dev/zero of="$VM_MNT/dirty" bs=64k count=$((mib * 16))
await grep -q 'the targets have ended' err
await written
sync -f "$VM_MNT" # the rest
kill -TERM $dlt
join
equal "status ($(cat err))" $rc 0
cp "/sys/block/$VM_DISK/stat" after
check whole

sum() { awk '{ n += $1 } END { print n + 0 }'; }
equal "bytes by calls" "$(col vfs_rw RETURNED 'RW == "W" && FILE == "dirty"' | sum)" $((mib << 20))
written=$(col bio BYTES 'T == "W"' | sum)
equal "bytes, by the disk" "$written" \
	"$((($(awk '{ print $7 }' after) - $(awk '{ print $7 }' before)) * 512))"
# The other writes are ext4's own: journal, bitmaps, inode tables.
kworker=$(col bio BYTES 'T == "W" && COMM ~ /^kworker\//' | sum)
[ "$kworker" -ge $((mib << 20)) ] || fail "only $kworker bytes written by kernel threads"
equal "bytes by dd itself" "$(col bio BYTES 'T == "W" && COMM == "dd"' | sum)" 0
rm -f "$VM_MNT/dirty"
