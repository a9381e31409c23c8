#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A FID is one life of a file, and a life has one FID, whatever happens to its names, its inode number and the layer
# that it is on: at random (see tests/workloads/file_lives.c), and in the cases that are easily got wrong.
# LONG=1: 100 000 calls on each file system. In a guest it is ext4, with LONG=1 also tmpfs and btrfs.
. "${0%/*}/../lib.sh"
need mkfs.ext4
calls=3000 missing='' types='ext4 xfs tmpfs'
[ -z "$slow" ] || calls=300 types=ext4
[ -z "${LONG-}" ] || calls=100000
[ -z "${LONG-}" ] || [ -z "$slow" ] || types='ext4 tmpfs'

mounted='' process=''
unmount() {
	[ -z "$process" ] || kill "$process"
	for dir in $mounted; do umount "$dir"; done
	cleanup
}
trap unmount EXIT

lacks() { missing="${missing:+$missing, }$1" && false; }

# fs TYPE: a new file system in the folder of that name; fails where this is impossible.
fs() {
	mkdir -p "$1"
	if [ "$1" = tmpfs ]; then
		mount -t tmpfs tmpfs tmpfs || return
	else
		command -v "mkfs.$1" >/dev/null || lacks "mkfs.$1" || return
		truncate -s 400M "$1.img"
		"mkfs.$1" -q "$1.img" >/dev/null || fail "mkfs.$1"
		mount -o loop "$1.img" "$1" 2>/dev/null || lacks "to mount $1" || return
	fi
	mounted="$PWD/$1 $mounted"
}

# overlay DIR: mounts one at DIR/merged, of DIR/lower and DIR/upper. Without xino, stat(2) shows a device for each
# layer.
overlay() {
	mkdir -p "$1/lower" "$1/upper" "$1/work" "$1/merged"
	mount -t overlay -o "xino=on,lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" overlay "$1/merged" 2>/dev/null ||
		lacks "to mount overlayfs on $1" || return
	mounted="$PWD/$1/merged $mounted"
}

# lives SEED DIR [OPTION...]: the random calls; SEED 2 goes on with the files that SEED 1 has left.
lives() {
	seed=$1 dir=$2
	shift 2
	trace -- "$W/file_lives" -n "$calls" -s "$seed" "$@" "$dir" >expected 2>deeds || fail "$dir: status $?: $(cat deeds)"
	check file_lives expected "$dir"
}

# fids FILE: the number of files with that name.
fids() { col files FID "REALPATH ~ \"/$1\$\"" | sort -u | wc -l; }

# shellcheck disable=SC2016 # for the inner shell
#
# Each file is removed before the next one comes, with the same number.
again() {
	trace -- sh -c 'for i in 1 2 3 4 5 6 7 8; do echo $i >again && cat again && rm again; done' >"$TMPDIR/out" || fail "status $?"
	equal "lives of one name on overlayfs on $1" "$(fids again)" 8
}

# copy_up WHERE FILE: FILE of the lower layer is one file before and after it is copied up, also for a descriptor opened
# before, and the trace knows where its data is.
copy_up() {
	echo low >../lower/up
	exec 3<up
	trace -- sh -c 'cat <&3; echo more >>up; cat up; mv up up2; cat up2' >"$TMPDIR/out" || fail "status $?"
	exec 3<&-
	equal "lives of a file that is copied up on $1" "$(fids 'up2?')" 1
	equal "files below it" "$(col files 'REALDEV ":" REALINO' 'REALPATH ~ "/up$"')" "$(stat -c '%Hd:%Ld:%i' "$2" ../upper/up2)"
}

# Attaches to a process with a mapped file: the kernel maps the file below, but it is the same file.
mapped() {
	head -c 5000 "$0" >../lower/mapped
	mkfifo "$TMPDIR/go.$1" && exec 8<>"$TMPDIR/go.$1"
	python3 -c 'import mmap, sys
f = open("mapped", "rb")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
sys.stdin.readline()
f.read(1)' <&8 8>&- &
	process=$!
	await grep -qs /mapped "/proc/$process/maps"
	spawn --pid "$process"
	await grep -qs "	snapshot	" "$t/pids.out"
	echo >&8
	join
	wait "$process"
	process=''
	exec 8<&-
	equal "a mapping of $1" "$(col mmap FILE 'FUNC == "snapshot" && FILE == "mapped"')" mapped
	equal "files mapped on overlayfs on $1" "$(fids mapped)" 1
}

# Two names (links) of one file in the lower layer: once one is copied up they are two files (index=off).
break_link() {
	trace -- sh -c 'cat one two; echo x >>one; cat one two' >"$TMPDIR/out" || fail "status $?"
	equal "one link, copied up on $1" "$(fids one)" 2
	equal "the other link" "$(fids two)" 1
}

for type in $types; do
	fs $type || continue
	mkdir $type/plain $type/lower
	[ "$slow" ] && has_types overlay ovl_inode || lives 1 $type/plain
	"$W/file_lives" -p $type/lower || fail "files of the lower layer"
	echo linked >$type/lower/one && ln $type/lower/one $type/lower/two
	overlay $type && has_types overlay ovl_inode || continue
	lives 1 $type/merged -u $type/upper -l $type/lower
	[ $type != ext4 ] || [ "$slow" ] || lives 2 $type/merged -u $type/upper -l $type/lower
	cd $type/merged || exit 1
	again $type
	[ "$slow" ] || break_link $type
	copy_up $type ../lower/up
	[ $type != ext4 ] || mapped $type
	cd "$TMPDIR" || exit 1
done

# An overlay on another one. There the kernel does not know the origin of links and of names that are looked up again.
if [ -d ext4/merged ] && [ -z "$slow" ] && has_types overlay ovl_inode; then
	mkdir ext4/stack
	ln -s ../merged ext4/stack/lower
	if overlay ext4/stack; then
		cd ext4/stack/merged || exit 1
		again "an overlay on ext4"
		copy_up "an overlay on ext4" ../../upper/up
		cd "$TMPDIR" || exit 1
	fi
fi

if fs btrfs && has_types btrfs btrfs_inode; then
	lives 1 btrfs
	cp "$0" btrfs/c0/weights.bin
	sync btrfs
	btrfs -q subvolume snapshot btrfs/c0 btrfs/copy
	trace -- cat btrfs/c0/weights.bin btrfs/copy/weights.bin >out || fail "status $?"
	equal "a file and that of the snapshot" "$(fids weights.bin)" 2
	equal "their devices" "$(col files '"0x" DEV' 'REALPATH ~ "/weights.bin$"' | sort)" \
		"$(stat -c '0x%Hd:%Ld' btrfs/c0/weights.bin btrfs/copy/weights.bin | sort)"
fi
[ -z "$missing" ] || skip "$missing"
