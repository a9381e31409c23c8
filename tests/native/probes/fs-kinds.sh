#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# File systems that number their files in unusual ways: FUSE with 64-bit numbers, and with one number for all files;
# hugetlbfs; images of squashfs and erofs. One life is one FID, at its path, with what statx(2) returns, and each read
# is a row.
. "${0%/*}/../lib.sh"
need python3
missing='' mounted='' server=''
unmount() {
	for dir in $mounted; do umount "$dir"; done
	[ -z "$server" ] || kill "$server"
	cleanup
}
trap unmount EXIT
lacks() { missing="${missing:+$missing, }$1" && false; }

. "$here/lives.inc"

# --- FUSE -------------------------------------------------------------------------------------------

# The numbers of two folders differ only above 32 bits (wide), or all files have one number (same): a FUSE server may
# choose them freely, as the kernel identifies files by node and generation.
cat >kindfs.py <<'END'
import sys
sys.path.insert(0, sys.argv[3])
import hungfs

class Fs(hungfs.Fs):
    def attr(self, n):
        number = {"wide": (n.number % 4) + (n.number << 40 | 1 << 63), "same": 7}[sys.argv[2]]
        return hungfs.ATTR.pack(number, *hungfs.ATTR.unpack(super().attr(n))[1:])

hungfs.serve(Fs(), sys.argv[1], "kindfs")
END
[ -e /dev/fuse ] || modprobe -q fuse 2>/dev/null || lacks "fuse (CONFIG_FUSE_FS)" || :
for numbers in wide same; do
	[ -e /dev/fuse ] || break
	[ $numbers = wide ] || [ -e /sys/kernel/btf/fuse ] || grep -q fuse_inode /sys/kernel/btf/vmlinux ||
		lacks "the types of FUSE (modules have none before Linux 5.11)" || break
	mkdir fuse && rm -f server
	python3 -B kindfs.py "$TMPDIR/fuse" $numbers "$here" >server 2>&1 &
	server=$!
	await test -s server
	grep -q mounted server || fail "$(cat server)"
	mounted=$TMPDIR/fuse
	for i in 1 2 3 4 5 6; do echo "$numbers $i" >"fuse/file$i"; done
	lives "FUSE, $numbers numbers" fuse anew
	umount fuse
	mounted=''
	wait $server
	server=''
	rmdir fuse
done

# --- read-only images -------------------------------------------------------------------------------

mkdir -p tree/sub image
for i in 1 2 3 4 5; do head -c $((i * 1000)) "$0" >"tree/f$i"; done
: >tree/sub/empty
ln tree/f1 tree/sub/link
make_squashfs() { mksquashfs tree image.squashfs -quiet -no-progress; }
make_erofs() { mkfs.erofs image.erofs tree; }
for type in squashfs:mksquashfs erofs:mkfs.erofs; do
	tool=${type#*:} type=${type%:*}
	command -v "$tool" >/dev/null || lacks "$tool" || continue
	"make_$type" >made 2>&1 || fail "$tool: $(cat made)"
	mount -t "$type" -o loop,ro "image.$type" image 2>made || lacks "$type ($(cat made))" || continue
	mounted=$TMPDIR/image
	lives $type image
	umount image
	mounted=''
done

# --- hugetlbfs ----------------------------------------------------------------------------------------

mkdir huge
if mount -t hugetlbfs none huge 2>/dev/null; then
	mounted=$TMPDIR/huge
	for i in 1 2 3 4; do truncate -s 4M "huge/h$i"; done
	lives hugetlbfs huge anew
	umount huge
	mounted=''
else
	lacks "hugetlbfs (CONFIG_HUGETLBFS)" || :
fi
[ -z "$missing" ] || skip "$missing"
