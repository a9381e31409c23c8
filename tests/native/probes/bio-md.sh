#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# md over two loop devices of the test's own, with ext4, at the levels raid0 and raid1. The files and places of the rows of
# mdN are those of FIEMAP; the requests of the disks below are as many bytes as these counted, each marked as one for a
# disk above, and name the same files and places. The report counts each byte once.
. "${0%/*}/../lib.sh"
need python3 mkfs.ext4
modprobe -qa raid0 raid1 || [ -e /sys/module/md_mod ] || skip "md (CONFIG_MD)"
new=/sys/module/md_mod/parameters/new_array
[ -w $new ] || skip "md"

md=md99 loops=''
array=/sys/block/$md/md
finish() {
	[ -z "$mnt" ] || umount "$mnt"
	mnt=''
	[ ! -e $array ] || echo clear >$array/array_state
	for loop in $loops; do losetup -d "$loop"; done
	loop=''
}
trap finish EXIT

# set_up FILE VALUE: of the array.
set_up() { echo "$2" >"$array/$1" || fail "$level: $2 >$1"; }

cat >job <<'END'
for d in $lower; do cp /sys/block/$d/stat before.$d; done
dd if=$mnt/data of=/dev/null bs=4k count=64 iflag=direct
dd if=$mnt/data iflag=nocache count=0
cat $mnt/data >/dev/null
dd if=$mnt/data of=$mnt/copy bs=64k conv=fsync
sync -f $mnt
umount $mnt
for d in $lower; do cp /sys/block/$d/stat after.$d; done
END

# sectors COLUMN DISK: what the disk has counted during the job.
sectors() { echo $(($(awk "{ print \$$1 }" "after.$2") - $(awk "{ print \$$1 }" "before.$2"))); }
bytes() { col bio BYTES "$1" | awk '{ n += $1 } END { printf "%.0f", n }'; }

# array_of LEVEL COPIES: an array that writes each byte to so many disks
array_of() {
	level=$1 copies=$2 lower=''
	echo $md >$new
	set_up level "$level"
	set_up raid_disks 2
	[ "$level" != raid0 ] || set_up chunk_size 65536
	number=0
	for loop in $loops; do
		below=${loop#/dev/} lower="$lower ${loop#/dev/}"
		set_up new_dev "$(cat "/sys/block/$below/dev")"
		set_up "dev-$below/size" 102400
		set_up "dev-$below/slot" $number
		number=$((number + 1))
	done
	if [ "$level" = raid1 ]; then
		set_up component_size 102400
		set_up resync_start none
	fi
	set_up array_state active
	await test -b /dev/$md
	mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 /dev/$md || fail "mkfs.ext4 on $level"
	mkdir -p disk
	mount /dev/$md disk || skip "to mount ext4"
	mnt=$TMPDIR/disk
	head -c 4194304 /dev/urandom >"$mnt/data"
	sync -f "$mnt"
	export mnt lower
	# shellcheck disable=SC2046,SC2086 # words
	trace --probes bio,open,vfs_rw,time_align --linger 1 --disk $md $(printf ' --disk %s' $lower) -- sh -e job >out 2>err ||
		fail "$level: status $?: $(cat err)"
	mountpoint -q disk && fail "still mounted"
	mnt=''
	number=0
	for below in $lower; do
		check bio_below $md "$below" "$level$([ "$level" != raid0 ] || echo ":$number")" 2>found
		echo "note: $below: $(cat found)"
		number=$((number + 1))
		[ "$(manifest 'm["skipped_runs"] + sum(p["lost"] for p in m["probes"])')" = 0 ] || continue
		equal "$level: bytes read of $below" "$(bytes "DISK == \"$below\" && T == \"R\"")" $(($(sectors 3 "$below") * 512))
		equal "$level: bytes written of $below" "$(bytes "DISK == \"$below\" && T == \"W\"")" $(($(sectors 7 "$below") * 512))
	done
	if [ "$(manifest 'm["skipped_runs"] + sum(p["lost"] for p in m["probes"])')" = 0 ]; then
		equal "$level: bytes read below" "$(bytes "DISK != \"$md\" && T == \"R\"")" "$(bytes "DISK == \"$md\" && T == \"R\"")"
		equal "$level: bytes written below" "$(bytes "DISK != \"$md\" && T == \"W\"")" \
			$((copies * $(bytes "DISK == \"$md\" && T == \"W\"")))
	fi
	"$DLT" report --json "$t" >json 2>err || fail "report: $(cat err)"
	for key in read write; do
		equal "$level: bytes of the report, $key" \
			"$(python3 -c 'import json, sys; print(sum(row[sys.argv[1] + "_bytes"] for row in json.load(open("json"))["disk_files"]))' $key)" \
			"$(bytes "DISK == \"$md\" && T == \"$(echo $key | cut -c 1 | tr rw RW)\"")"
	done
	if [ "$level" = raid0 ]; then
		mount /dev/$md disk || fail "mount again"
		mnt=$TMPDIR/disk
		VM_DISK=$md VM_MNT=$mnt sh "$here/probes/bio-files.sh" || fail "$level: files"
		umount "$mnt" && mnt=''
	fi
	set_up array_state clear
}

for image in 0 1; do
	truncate -s 120M image$image
	loop=$(losetup -f --show image$image) || { loop=''; skip "loop devices"; }
	loops="$loops $loop"
done
array_of raid0 1
array_of raid1 2
