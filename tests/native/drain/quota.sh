#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The quota of the trace's folder is used up, by the trace itself or by the job, while its disk has space: by btrfs,
# whose quotas no query shows. There each write takes new blocks first, also one to allocated space and a cut of a
# file, so everything fails at once. The same holds as on a full disk (full-disk.sh): the workload goes on, every row is
# written or lost, a message with the reason comes at once, files end with a whole row, names and processes are
# there, the manifest is complete, and space that comes back is used. (vm/quota has the quotas of ext4 and XFS.)
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
need python3 mkfs.btrfs btrfs
gate
head -c 1048576 /dev/zero >data

# count KEY [PROBE]: in the manifest.
count() { manifest "next(p for p in m['probes'] if p['name'] == '${2-vfs_rw}')['$1']"; }

# quota SIZE: a new btrfs at $mnt with a subvolume, home, of SIZE.
quota() {
	truncate -s 400M disk.img
	loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
	mkfs.btrfs -q "$loop" >mkfs.log 2>&1 || fail "mkfs.btrfs: $(cat mkfs.log)"
	mkdir -p disk
	mount -t btrfs "$loop" disk 2>mount.err || skip "to mount btrfs: $(cat mount.err)"
	mnt=$TMPDIR/disk home=$TMPDIR/disk/home t=$TMPDIR/disk/home/t
	settle
	btrfs quota enable "$mnt" 2>quota.err || skip "quotas of btrfs: $(cat quota.err)"
	{ btrfs subvolume create "$home" && btrfs qgroup limit "$1" "$home"; } >quota.err 2>&1 || fail "quota: $(cat quota.err)"
	head -c 65536 /dev/urandom >"$home/some" # its first block, with which the kernel knows the quota
	sync -f "$home"
}

quota_gone() {
	umount "$mnt" && losetup -d "$loop" && rm disk.img || fail "cannot give the disk back"
	mnt='' loop=''
}

# used_up: no program can write another block there.
used_up() { ! head -c 4096 /dev/urandom 2>/dev/null >"$home/probe" || ! sync "$home/probe" 2>/dev/null; }

# accounted: each call is a row or lost, the files have the rows, nothing else is in them, and all of it is said.
accounted() {
	equal "complete" "$(manifest 'm["complete"]')" True
	equal "rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
	[ "$(count rows)" -gt 0 ] && [ "$(count lost)" -gt 0 ] || fail "$(count rows) rows, $(count lost) lost"
	equal "rows in the files" "$(cat "$t"/vfs_rw*.out | grep -ac '^[0-9]')" "$(count rows)"
	for file in "$t"/*.out; do
		equal "zeros in $file" "$(tr -dc '\0' <"$file" | wc -c)" 0
		equal "last byte of $file" "$(tail -c 1 "$file" | od -An -tu1 | tr -d ' ')" 10
	done
	check lines
	check fids
	equal "lost names and processes" "$(count lost files) $(count lost pids)" "0 0"
	equal "threads that ended" "$(col pids TID 'EVENT == "exit"' | sort)" "$(col pids TID | sort -u)"
	grep -q 'warning: cannot write to .*/home/t: Disk quota exceeded' err || fail "said: $(cat err)"
	grep -Eq 'warning: [0-9]* rows? lost' err || fail "no number of lost rows said: $(cat err)"
	! grep -q 'error: ' err || fail "said: $(cat err)"
	"$DLT" report --full "$t" >report || fail "report: status $?"
	grep -q "^- vfs_rw: $(count lost) lost" report || fail "no loss in the report: $(cat report)"
}

# --- by the trace itself --------------------------------------------------------------------------

# Its reserve counts, too, so that the last part is the smaller one. The last lines of the start are true.
quota 10M
rm -rf "$t"
"$DLT" start $(start_options) -o "$t" -- "$W/storm" -n 200000 "$TMPDIR/data" >out 2>err || fail "status $?: $(cat err)"
accounted
grep -q 'job *ended with status 0' err || fail "the last lines: $(cat err)"
! grep -q 'has no end\|goes on as' err || fail "the last lines: $(cat err)"
equal "files beside the trace's" "$(find "$t" -type f ! -name '*.out' ! -name manifest.json)" ''

# Split, with the job's output.
rm -rf "$t"
trace --rotate 1M --log -- sh -c '"$1" -n 200000 "$2"; seq 100' - "$W/storm" "$TMPDIR/data" >out 2>err || fail "split: status $?: $(cat err)"
accounted
equal "bytes of the log" "$(stat -c %s "$t/workload.log")" "$(manifest 'm["workload_log"]["written_bytes"]')"
equal "bytes written and lost" "$(manifest 'm["workload_log"]["written_bytes"] + m["workload_log"]["lost_bytes"]')" "$(stat -c %s out)"
quota_gone

# --- by the job -----------------------------------------------------------------------------------

# Reads; takes what is left of the quota, down to the last block; reads; gives it back, unless $1 is not empty; reads.
cat >job <<'END'
cat data >/dev/null
read _ <gate
fill() { head -c 1048576 /dev/urandom | dd bs="$1" oflag=append conv=notrunc of=disk/home/fill 2>/dev/null; }
for size in 64k 4k 4k; do
	while fill $size; do :; done
	sync disk/home/fill
done
echo full >state
read _ <gate
"$W/storm" -n 100000 data
echo read >state
read _ <gate
[ -n "$1" ] || { rm disk/home/fill; sync -f disk/home; }
echo empty >state
read _ <gate
cat data >/dev/null
END
export W
state() { grep -qs "$1" state; }

# job [FULL_TO_THE_END]
job() {
	rm -f state
	spawn -v -- sh job "${1-}" >out
	await grep -qs '^[0-9].*data' "$t/vfs_rw.out" # a busy drain would come after the job, and write nothing at all
	echo >&9
	await state full
	used_up || fail "the quota is not used up"
	echo >&9
	await state read
	await grep -q 'warning: cannot write to .*/home/t: Disk quota exceeded' err
	await grep -Eq 'rows? lost' err
	echo >&9
	await state empty
	echo >&9
	join
	equal "status" $rc 0
	accounted
}

quota 24M
job
equal "rows afterwards" "$(col vfs_rw RETURNED 'COMM == "cat" && FILE == "data" && RETURNED > 0' |
	awk '{ n += $1 } END { print n }')" 2097152
job full
quota_gone

# --- names of more files than the reserve takes ----------------------------------------------------

# Rows of files are lost, too; but each file ends with a whole row, and the manifest has the end.
quota 3M
rm -rf "$t"
trace -- "$W/calls" -n 700 -t 1 -f 1 -T tally dir >pids 2>err || fail "status $?: $(cat err)"
[ "$(count lost files)" -gt 0 ] || fail "the reserve takes them all: $(count rows files) names"
equal "complete" "$(manifest 'm["complete"]')" True
for file in "$t"/*.out; do
	equal "zeros in $file" "$(tr -dc '\0' <"$file" | wc -c)" 0
done
"$DLT" validate "$t" >valid 2>&1 || fail "validate: $(cat valid)"
quota_gone
