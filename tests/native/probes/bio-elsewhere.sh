#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Requests of files where a path or a number is no help: below an overlayfs, in a mount namespace that only the job has,
# and files that come and go with one inode. bio.out has the file on the disk, its name and its writer; files.out has
# which file of the overlayfs that is. On ext4 and XFS, each on a disk of the test's own; in a guest on its disk.
. "${0%/*}/../lib.sh"
need python3

cat >job <<'END'
# line NAME PID INODE RANGE: of the tally
line() { echo "$1 $2 - $3 $4" >>tally; }
mount -t overlay overlay -o lowerdir=$top/lower,upperdir=$top/upper,workdir=$top/work over
cat over/low >/dev/null
line low - "$(stat -c %i $top/lower/low)" 0-300000
head -c 100000 /dev/urandom >over/up &
wait $!
sync over/up
line up $! "$(stat -c %i $top/upper/up)" 0-100000
dd if=over/up of=/dev/null iflag=nocache count=0 2>/dev/null
cat over/up >/dev/null
line up - "$(stat -c %i $top/upper/up)" 0-100000
umount over
mount -o bind $top/lower away
head -c 70000 /dev/urandom >away/elsewhere &
wait $!
sync away/elsewhere
line elsewhere $! "$(stat -c %i away/elsewhere)" 0-70000
umount away
for i in 1 2 3 4 5 6; do
	head -c 30000 /dev/urandom >$top/reused$i &
	wait $!
	sync $top/reused$i
	line reused$i $! "$(stat -c %i $top/reused$i)" 0-30000
	rm $top/reused$i
	sync -f $top
done
END

elsewhere() {
	top=$mnt/elsewhere
	rm -rf "$top"
	mkdir -p "$top/lower" "$top/upper" "$top/work" over away
	head -c 300000 /dev/urandom >"$top/lower/low"
	# The daemon looks for the types of overlayfs when a trace begins: the module must be loaded before.
	mount -t overlay -o "lowerdir=$top/lower,upperdir=$top/upper,workdir=$top/work" overlay over || skip "overlayfs (CONFIG_OVERLAY_FS)"
	umount over
	sync -f "$mnt"
	dd if="$top/lower/low" iflag=nocache count=0 2>/dev/null
	rm -f tally
	export top
	trace --probes bio,open,vfs_rw,time_align --disk "$disk" -- unshare -m --propagation private sh -e job >out 2>err ||
		fail "$fs: $(cat err out)"
	check bio_ways tally 9
	# rows of calls name the file of overlayfs; its REALDEV and REALINO are the DEV and INO of the file in bio.out
	names='low up'
	has_types overlay ovl_inode || names=''
	for name in $names; do
		real=$(each files 'if (FSTYPE == "overlay" && REALPATH ~ /\/'$name'$/) print REALDEV, REALINO' | sort -u)
		fid=$(each files 'if (DEV " " INO == "'"$real"'") print FID' | sort -u)
		equal "$fs: the FID of $name below" "$(col bio FID 'FILE == "'$name'"' | sort -u)" "$fid"
	done
	equal "$fs: lives" "$(col bio FID 'FILE ~ /^reused/ && T == "W"' | sort -u | wc -l)" 6
	inodes=$(awk '/^reused/ { print $4 }' tally | sort -u | wc -l)
	[ $fs != xfs ] || [ "$inodes" -lt 6 ] || fail "xfs: no inode was used again"
	rm -rf "$top"
}

each_fs elsewhere ext4 xfs
