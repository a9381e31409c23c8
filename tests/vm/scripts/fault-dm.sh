#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The trace's disk by device-mapper: it fails for good in the middle (dm-error), and it fails for some time and
# comes back (dm-flakey). The workload and its status are unharmed, calls are rows or lost, rows that the disk may
# not have are counted as unsure, and what is there can be read.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3 dmsetup
export DM_DISABLE_UDEV=1 # no udev makes nodes here
modprobe dm-mod 2>/dev/null
modprobe dm-flakey 2>/dev/null
dmsetup targets | grep -q '^flakey' || skip "dm-flakey"
gate
head -c 1048576 /dev/zero >data
reads=5000
name=dltraced-$$ made=''
finish() {
	[ -z "$dlt" ] || kill -9 "$dlt"
	dlt=''
	if [ "$made" ]; then
		dmsetup load "$name" --table "0 $sectors linear $loop 0" && dmsetup resume "$name"
		[ -z "$mnt" ] || umount "$mnt"
		mnt=''
		dmsetup remove "$name"
	fi
	cleanup
}
trap finish EXIT

# table TARGET ARG...: replaces the disk's table; requests wait in between.
table() {
	target=$1
	shift
	dmsetup suspend --noflush --nolockfs "$name" && dmsetup load "$name" --table "0 $sectors $target${1+ $loop $*}" &&
		dmsetup resume "$name" || fail "table $target"
}
# disk OPTION...: an ext4 on the disk.
disk() {
	truncate -s 64M disk.img
	loop=$(losetup -f --show disk.img) || skip "a loop device"
	sectors=$(blockdev --getsz "$loop")
	dmsetup create "$name" --table "0 $sectors linear $loop 0" || skip "device-mapper"
	made=yes
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0 "$@" "/dev/mapper/$name" || fail mkfs.ext4
	mkdir -p disk
	mount "/dev/mapper/$name" disk || fail mount
	mnt=$TMPDIR/disk t=$TMPDIR/disk/t
}
no_disk() {
	umount "$mnt" || fail "umount"
	mnt=''
	dmsetup remove "$name" && losetup -d "$loop" && rm disk.img || fail "cannot give the disk back"
	made='' loop=''
}
summary() { awk '$3 == "vfs_rw:" { print $4 + $(NF - 1) }' err; }

cat >job <<'END'
read -r _ <gate
"$W/storm" -n $1 data
echo over >state
read -r _ <gate
cat data >/dev/null
exit 7
END
export W

# --- errors for good --------------------------------------------------------------------------------

disk
spawn -v -- sh job $reads >out
await grep -qs '	sh	' "$t/open.out"
table error
echo >&9
await grep -qs over state
# ext4 gives up when it writes its journal, which it does every 5 s
await grep -Eq 'warning: (cannot write to|the disk of) .*/t' err
echo >&9
join
equal "dm-error: status ($(cat err))" $rc 7
lost=$(summary)
[ "${lost:-0}" -ge $reads ] || fail "dm-error: ${lost:-nothing} told of $reads: $(cat err)"
cat err
table linear 0
no_disk

# --- errors for some time ---------------------------------------------------------------------------

# Without a journal, as ext4 would give it up for good.
disk -O ^has_journal
rm -f state
spawn -v -- sh job $reads >out
await grep -qs '	sh	' "$t/open.out"
table flakey 0 0 3600 1 error_writes
echo >&9
await grep -qs over state
# the rows of its reads are written, and the disk refuses them: not only those of an earlier file
await eval '[ "$(grep -c "	storm	" "$t/vfs_rw.out")" -ge $reads ]'
sync -f "$mnt" 2>/dev/null || :
await grep -Eq 'warning: (cannot write to|the disk of) .*/t' err
table linear 0
echo >&9
join
cat err
equal "dm-flakey: status ($(cat err))" $rc 7
count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }
equal "dm-flakey: complete" "$(manifest 'm["complete"]')" True
equal "dm-flakey: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
[ "$(count calls)" -ge $reads ] && [ "$(count unsure)" -gt 0 ] || fail "dm-flakey: $(count calls) calls, $(count unsure) unsure"
"$DLT" report --full "$t" >report || fail "report: status $?"
grep -q '^- vfs_rw: [0-9]* rows were written but may be missing' report || fail "not reported: $(cat report)"
[ "$(rows vfs_rw 'COMM == "cat" && FILE == "data" && RETURNED > 0' | wc -l)" -gt 0 ] || fail "dm-flakey: no row when it was back"
no_disk
