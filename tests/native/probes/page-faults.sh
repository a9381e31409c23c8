#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# fault.out: each major page fault of threads, children and processes on the same pages is a row with its address, file,
# offset, bytes from disk, and a time within the job's own, whether the program or the kernel touched the page; faults
# of direct I/O out of a mapping are counted. The same holds for a file that was mapped before the trace.
. "${0%/*}/../lib.sh"

job=$here/../workloads/page_faults.py
need python3

# faults FS: on a new disk with this file system.
faults() {
	command -v "mkfs.$1" >/dev/null || { echo "note: no mkfs.$1"; return; }
	truncate -s 400M disk.img
	loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
	"mkfs.$1" -q "$loop" >out 2>&1 || fail "mkfs.$1: $(cat out)"
	mkdir -p disk
	if mount -t "$1" "$loop" disk 2>out; then
		mnt=$TMPDIR/disk
		settle
		touch_pages "$1"
		umount "$mnt" && mnt=''
	else
		echo "note: no $1: $(tail -n 1 out)"
	fi
	losetup -d "$loop" && loop=''
	rmdir disk; rm -f disk.img
}

# touch_pages FS
touch_pages() {
	dd if=/dev/zero of="$mnt/mapped" bs=1M count=64 conv=fsync 2>err || fail "$(cat err)"
	rm -f list
	trace -- python3 "$job" "$mnt/mapped" "$mnt/other" list 2>err || fail "status $?: $(cat err)"
	check page_faults list "$mnt/mapped" "$1"
}

faults ext4
[ -n "$slow" ] || faults xfs
[ -n "$slow" ] || faults btrfs

disk_ext4 128M
dd if=/dev/zero of="$mnt/mapped" bs=1M count=64 conv=fsync 2>err || fail "$(cat err)"
gate
rm -f list
python3 "$job" "$mnt/mapped" - list gate 9>&- &
pid=$!
await grep -qs /mapped "/proc/$pid/maps"
spawn --pid "$pid" -P fault,time_align
await "$DLT" mark -t "$t" ready 2>mark
echo >&9
wait "$pid" || fail "the job: $?"
join
equal status "$rc" 0
check page_faults list "$mnt/mapped" ext4
[ -z "$slow" ] || exit 0
trace --probes -fault -- true || fail "without it: status $?"
[ ! -e "$t/fault.out" ] || fail "fault.out is there without being wanted"
