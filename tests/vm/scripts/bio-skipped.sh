#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The ends of other disks' requests interrupt the hook at the end of those that are traced, and the kernel skips it
# for what interrupts (recursion_misses). Nothing of it is lost, nor counted so: the disk's own count is the rows'.
# By hand, where several disks have interrupts; takes a minute and a half.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3 bpftool lsblk

disk_ext4
others=$(lsblk -dnpo NAME,TYPE | awk '$2 == "disk" && $1 !~ /loop|ram/ { print $1 }')
[ -n "$others" ] || skip "a disk besides the traced one"
export mnt disk others pids=''

cat >job <<'END'
cat /sys/block/$disk/stat >before
for other in $others; do
	while :; do dd if=$other of=/dev/null iflag=direct bs=4k count=400 2>/dev/null; done &
	pids="$pids $!" # of shells, whose last dd ends by itself
done
dd if=/dev/zero of=$mnt/f bs=1M count=8 conv=fsync
for i in 1 2 3 4 5 6 7 8 9 10; do dd if=$mnt/f of=/dev/null iflag=direct bs=4k; done
kill $pids
cat /sys/block/$disk/stat >after
bpftool prog show -j >programs
END

trace --probes bio --disk "$disk" -- sh -e job >out 2>err || fail "status $?: $(cat err)"
skipped=$(python3 -c '
import json
print(sum(p.get("recursion_misses", 0) for p in json.load(open("programs")) if p.get("name") == "bio_complete"))')
[ "$skipped" != 0 ] || skip "a kernel that skips runs: it has skipped none"
equal "lost of $skipped skipped runs" "$(manifest 'sum(p["lost"] for p in m["probes"])')" 0
read -r reads_before _ <before
read -r reads_after _ <after
equal "reads" "$(rows bio 'T == "R"' | wc -l)" $((reads_after - reads_before))
