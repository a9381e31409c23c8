#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The trace's disk fails in ways that a full tmpfs (full-disk.sh) does not show: ext4 without space; thin storage that
# refuses what the page cache had taken; I/O errors at every write; a disk that stands still when the trace ends. The
# workload and its status are unharmed. Calls are rows or count as lost, and rows that the disk may not have count as
# unsure. All of that is reported, and what can be read is right.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
need python3 fsfreeze
gate
head -c 1048576 /dev/zero >data
reads=100000 made=110256 # storm warms up, and reads the whole file once

# count KEY: of vfs_rw, in the manifest.
count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }

# reported STATUS TEXT...: by dltraced report.
reported() {
	status=$1
	shift
	"$DLT" report --full "$t" >report 2>&1
	rc=$?
	[ $rc = "$status" ] || fail "report: status $rc, not $status: $(cat report)"
	for text; do
		grep -q "$text" report || fail "not reported: $text: $(cat report)"
	done
}

# --- ext4 without space ---------------------------------------------------------------------------

disk_ext4 8M
t=$mnt/t
trace -- "$W/storm" -n $reads data >out 2>err || fail "no space: status $?: $(cat err)"
grep -q 'warning: cannot write to .*/t: No space left' err || fail "no space: said: $(cat err)"
equal "no space: complete" "$(manifest 'm["complete"]')" True
equal "no space: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
[ "$(count calls)" -ge $made ] && [ "$(count lost)" -gt 0 ] || fail "no space: $(count calls) calls, $(count lost) lost"
equal "no space: unsure" "$(count unsure)" 0
equal "no space: rows in the file" "$(rows vfs_rw | wc -l)" "$(count rows)"
check lines
reported 0 "^- vfs_rw: $(count lost) lost"

# --- errors at every write ------------------------------------------------------------------------

# An ext4 whose disk has failed for good, on request (EXT4_IOC_SHUTDOWN, without a flush).
rm -rf "$t"
cat >job <<'END'
: >state
read _ <gate
"$1" -n "$2" data
echo over >state
exit 7
END
spawn -v -- sh job "$W/storm" $reads >out
await grep -qs '	sh	' "$t/vfs_rw.out"
python3 -c 'import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587d, struct.pack("I", 2))' "$mnt" || skip "EXT4_IOC_SHUTDOWN"
echo >&9
join
equal "failed disk: status" $rc 7
equal "failed disk: the workload" "$(cat state)" over
grep -q 'warning: cannot write to .*/t: Input/output error' err || fail "failed disk: said: $(cat err)"
grep -q 'error: .*manifest.json: Input/output error' err || fail "failed disk: said nothing of the manifest: $(cat err)"
lost=$(awk '/: vfs_rw: .* rows were written and .* lost$/ { print $4 + $9 }' err)
[ "${lost:-0}" -ge $made ] || fail "failed disk: ${lost:-nothing} of $made: $(cat err)"
umount "$mnt" && losetup -d "$loop" && rm disk.img && rmdir disk || fail "cannot give the disk back"
mnt='' loop=''

# --- thin storage ---------------------------------------------------------------------------------

# thin_disk SIZE: a disk of 256 MiB on SIZE of memory; write-back of more than that fails. noinit_itable, as the
# kernel's thread would fill the memory with empty inode tables sooner or later. A request has one page
# (max_sectors_kb): of a larger one the memory may take a part, and the loop driver of Linux 6.18 then reports that all
# was written (tmpfs of 1 MiB, dd oflag=direct bs=300K: four succeed).
thin_disk() {
	mkdir -p pool disk
	mount -t tmpfs -o size="$1" none pool || skip "to mount tmpfs"
	pool=$TMPDIR/pool
	trap 'umount "$pool"' EXIT
	truncate -s 256M pool/disk.img
	loop=$(losetup -f --show pool/disk.img) || { loop=''; skip "a loop device"; }
	largest=/sys/block/${loop##*/}/queue/max_sectors_kb
	largest_was=$(cat "$largest") # the setting outlives the disk
	trap 'cleanup; thin_pool_gone' EXIT
	echo 4 >"$largest" || fail "$largest"
	mkfs.ext4 -q -b 4096 -J size=4 "$loop" || fail "mkfs.ext4 $loop"
	mount -o noinit_itable "$loop" disk || skip "to mount ext4"
	settle
	mnt=$TMPDIR/disk t=$TMPDIR/disk/t
}

# The kernel frees a loop device once every reader of it (udev) has closed it.
unmounted() { umount "$1" 2>err.umount; }
thin_pool_gone() {
	echo "$largest_was" >"$largest"
	await unmounted "$pool"
}

# forget [OFFSET LENGTH]: writes everything to the disk and drops the page cache, or only this part of each file: later
# reads return what the disk has.
forget() {
	sync -f "$t" 2>/dev/null
	for file in "$t"/*.out "$t"/*.log; do
		[ ! -e "$file" ] || python3 -c 'import os, sys
os.posix_fadvise(os.open(sys.argv[1], os.O_RDONLY), int(sys.argv[2]), int(sys.argv[3]), os.POSIX_FADV_DONTNEED)' \
			"$file" "${1:-0}" "${2:-0}"
	done
}

# as_reported: the report on what can be read of the trace now, which may be less a moment later, names exactly the
# files with missing rows. What the disk refused is read as zeros once it is not in the page cache.
as_reported() {
	rm -rf now
	mkdir now
	status=0
	for file in "$t"/*.out "$t"/*.json; do
		cat "$file" >"now/${file##*/}" 2>err.cat && tr -d '\0' <"now/${file##*/}" | cmp -s - "now/${file##*/}" || status=1
	done
	has=$(python3 - now/vfs_rw.out <<-'END'
		import sys
		lines = open(sys.argv[1], "rb").read().split(b"\n")
		columns = lines[1].count(b"\t") if len(lines) > 1 and lines[0][:1] == b"#" else None
		print(sum(b"\0" not in l and l[:1].isdigit() and l.count(b"\t") == columns for l in lines[2:]))
	END
	)
	missing=$(($(count rows) - has))
	[ "$missing" -ge 0 ] && [ "$missing" -le "$(count unsure)" ] ||
		fail "$(count rows) rows, $has can be read, $(count unsure) unsure"
	set -- '^- vfs_rw: [0-9]* rows were written but may be missing'
	disk_trace=$t t=now
	[ "$missing" = 0 ] || set -- "$@" "vfs_rw.out: $missing of $(count rows) rows are not in the file"
	reported $status "$@"
	t=$disk_trace
}

thin_disk_gone() {
	umount "$mnt" || fail "cannot unmount the thin disk"
	losetup -d "$loop"
	thin_pool_gone
	trap cleanup EXIT
	mnt='' loop=''
}

thin_disk 8m
trace -- "$W/storm" -n $reads data >out 2>err || fail "thin: status $?: $(cat err)"
grep -q 'warning: the disk of .*/t refused writes: ' err || fail "thin: said: $(cat err)"
equal "thin: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
[ "$(count calls)" -ge $made ] && [ "$(count unsure)" -gt 0 ] || fail "thin: $(count calls) calls, $(count unsure) unsure"
as_reported
forget 4194304 8388608 # and then of a part of each file (a folio of the cache, up to 2 MiB, goes as a whole)
as_reported
forget
as_reported # all of it is dropped
thin_disk_gone

# In segments, which are closed long before the disk gets them; and with a log.
thin_disk 8m
trace --rotate 1M --log -- sh -c '"$1" -n "$2" data; head -c 4194304 /dev/zero | tr "\0" x' - "$W/storm" $reads >out 2>err ||
	fail "parts: status $?"
equal "parts: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
forget
has=$(cat "$t"/vfs_rw*.out 2>err.cat | tr -d '\0' | awk -F'\t' 'NF > 10 && $1 ~ /^[0-9]+$/ { n++ } END { print n + 0 }')
[ "$(count unsure)" -gt 0 ] && [ $(($(count rows) - has)) -le "$(count unsure)" ] ||
	fail "parts: $(count rows) rows, the disk has $has, $(count unsure) unsure: $(cat err)"
has=$(tr -d '\0' <"$t/workload.log" 2>err.cat | wc -c)
unsure=$(manifest 'm["workload_log"]["unsure_bytes"]') written=$(manifest 'm["workload_log"]["written_bytes"]')
[ $((written - has)) -le "$unsure" ] || fail "log: $written bytes, the disk has $has, $unsure unsure"
[ "$unsure" = 0 ] || grep -q 'some of workload.log may be missing' err || fail "log: said: $(cat err)"
thin_disk_gone
rmdir disk

# --- a disk that stands still at the end ----------------------------------------------------------

disk_ext4 64M
t=$mnt/t
spawn -- sh job "$W/storm" $reads >out
await grep -qs '	sh	' "$t/vfs_rw.out"
fsfreeze -f "$mnt" || skip "to freeze a file system"
trap 'fsfreeze -u "$mnt" 2>err.thaw; cleanup' EXIT
rm state
echo >&9
await grep -qs over state # the workload does not wait for the disk
fsfreeze -u "$mnt"
trap cleanup EXIT
join
equal "standstill: status" $rc 7
check whole
equal "standstill: reads" "$(rows vfs_rw 'FUNC == "pread64" && FILE == "data"' | wc -l)" $made
reported 0 'vfs_rw'
