#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# cache.out shows what happened to each page: for epochs over small files, for a large file that is read in turns, at
# random, and dropped, and for one of which some pages are there, by all calls that read, all sums are those of the kernel
# and of the job's own count (page_cache.py). The file is written only on request. Pages without a place in dltraced's
# memory count as refused. On ext4, XFS and btrfs, each on a disk of the test's own, on overlayfs, and on FUSE; in a guest
# on its disk.
. "${0%/*}/../lib.sh"
need python3 dd

# traced OPTION... -- FOLDER [BELOW]: page_cache.py there, again where somebody else has changed the cache meanwhile
traced() {
	options=''
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	where=$2
	shift 2
	for _ in 1 2 3 4; do
		sync -f "$folder"
		echo 1 >/proc/sys/vm/drop_caches
		# shellcheck disable=SC2086 # words
		trace $options -- /usr/bin/python3 "$here/../workloads/page_cache.py" "$where" "$PWD/tally" "$@" 2>err && return
		[ $? = 75 ] || break
	done
	fail "$fs: $*: $(cat err)"
}

# sums: on the file system at $mnt
sums() {
	folder=$mnt/cache
	mkdir "$folder"
	for i in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do
		dd if=/dev/urandom of="$folder/small$i" bs=$((3000 + i * 5000)) count=1 2>/dev/null
	done
	dd if=/dev/urandom of="$folder/big" bs=1M count=8 2>/dev/null
	dd if=/dev/urandom of="$folder/some" bs=1M count=1 2>/dev/null
	: >"$folder/copied"
	dd if=/dev/urandom of="$folder/mapped" bs=1M count=1 2>/dev/null
	traced --probes cache,bio,time_align --disk "$disk" -- "$folder"
	check page_cache tally
	[ ! -e "$t/vfs_rw.out" ] || fail "vfs_rw.out is there without being wanted"
	[ "$fs" != ext4 ] || { without_bio; crowded; }
	[ "$fs" != ext4 ] || on_overlay
	rm -rf "$folder"
}

# on_overlay: the same, of files on overlayfs: pages and calls are those of the files below
on_overlay() {
	mkdir -p merged "$mnt/upper" "$mnt/work"
	mount -t overlay -o "lowerdir=$folder,upperdir=$mnt/upper,workdir=$mnt/work" dltraced merged 2>err || {
		no_overlay=$(cat err)
		return
	}
	trap 'umount merged; cleanup' EXIT
	traced --probes cache,time_align -- merged "$folder"
	check page_cache tally overlay
	umount merged
	trap cleanup EXIT
	rm -rf "$mnt/upper" "$mnt/work"
}

# without_bio: the bytes written to disks are unknown; and cache.out exists only if it is asked for
without_bio() {
	trace --probes cache -- cat "$folder/big" /proc/self/status >/dev/null || fail "without bio: status $?"
	[ "$(rows cache 'FILE == "big"')" ] || fail "no row of the file"
	equal "rows of a file without page cache" "$(rows cache 'FILE == "status"')" ""
	equal "WRITTEN without bio" "$(col cache WRITTEN | sort -u)" -
	[ -n "${VM_DISK-}" ] || { trace --probes vfs_rw -- true || fail "without it: status $?"; }
	[ -n "${VM_DISK-}" ] || [ ! -e "$t/cache.out" ] || fail "cache.out is there without being wanted"
}

# Eight pages of a sparse file, read ahead at multiples of 16 GiB: there they share the four places that dltraced has for
# pages to remember (include/dlt/cache.h).
cat >crowd.py <<'PY'
import ctypes
import mmap
import os
import sys

PAGE, APART, PAGES = mmap.PAGESIZE, 16 << 30, 8
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(fd, APART * PAGES)


def cached(off):
    there = ctypes.create_string_buffer(1)
    with mmap.mmap(fd, PAGE, offset=off) as memory:
        at = ctypes.c_char.from_buffer(memory)
        if libc.mincore(ctypes.c_void_p(ctypes.addressof(at)), ctypes.c_size_t(PAGE), there):
            sys.exit(os.strerror(ctypes.get_errno()))
        del at
    return there.raw[0] & 1


for i in range(PAGES):
    os.posix_fadvise(fd, i * APART, PAGE, os.POSIX_FADV_WILLNEED)
print(sum(cached(i * APART) for i in range(PAGES)))
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
print(sum(cached(i * APART) for i in range(PAGES)))
PY

# crowded: pages that dltraced cannot remember are counted as refused, and are not wasted, though nothing touches them
crowded() {
	trace --probes cache -- /usr/bin/python3 crowd.py "$folder/crowd" >there 2>err || fail "crowded: status $?: $(cat err)"
	equal "pages that came, and those that stayed" "$(tr '\n' ' ' <there)" "8 0 "
	refused=$(manifest 'next(p for p in m["probes"] if p["name"] == "cache").get("refused", 0)')
	[ "$refused" -ge 4 ] && [ "$refused" -le 8 ] || fail "crowded: $refused refused"
	"$DLT" report --json "$t" | grep -q "\"cache: $refused pages were read ahead for which there was no room" || fail "crowded: no note"
	for column in AHEAD:8 EVICTED:8 WASTED:$((8 - refused)); do
		equal "crowded: ${column%:*}" "$(col cache "${column%:*}" 'FILE == "crowd"' | awk '{ n += $1 } END { print n + 0 }')" "${column#*:}"
	done
}

# A file on FUSE, which has no disk: read twice and dropped, each of its pages is counted once in what came, and once in
# what went.
cat >twice.py <<'PY'
import os
import sys

fd = os.open(sys.argv[1], os.O_RDONLY)
for _ in range(2):
    for at in range(0, 1 << 20, 65536):
        os.pread(fd, 65536, at)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
PY
unmount() {
	umount fuse
	kill "$server"
}
on_fuse() {
	mkdir fuse
	python3 -B "$here/slowfs.py" "$TMPDIR/fuse" >server 2>&1 &
	server=$!
	trap 'unmount; cleanup' EXIT
	await grep -q mounted server
	dd if=/dev/urandom of=fuse/far bs=1M count=1 2>/dev/null
	dd of=fuse/far oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null
	trace --probes cache -- /usr/bin/python3 twice.py fuse/far || fail "fuse: status $?"
	unmount
	trap cleanup EXIT
	page=$(manifest 'm["machine"]["page_bytes"]')
	equal "fuse: READ, pages of calls, pages that came, and that went" \
		"$(rows cache 'FILE == "far"' | awk -F '\t' '{ r += $5; c += $6 + $7; i += $7 + $8; e += $10 } END { print r, c, i, e }')" "2097152 $((2097152 / page)) $((1048576 / page)) $((1048576 / page))"
}

# dltraced stands still while a job reads many new files, so that the rings are full when the sums are due: those that find
# no room come an interval later, and none is missing.
cat >burst.py <<'PY'
import os
import sys
import time

for i in range(4000):
    with open(f"files/{i}", "wb") as f:
        f.write(bytes(3987))  # other files have other sizes
open("ready", "w").close()
while not os.path.exists("go"):
    time.sleep(0.01)
for i in range(4000):
    fd = os.open(f"files/{i}", os.O_RDONLY)
    os.pread(fd, 4096, 0)
    os.close(fd)
open("done", "w").close()
time.sleep(2.5)
PY
delayed() {
	rm -rf files ready go done
	mkdir files
	spawn --probes cache,vfs_rw,open,close --buffer 1M -- /usr/bin/python3 burst.py
	await test -e ready
	kill -STOP "$dlt"
	: >go
	await test -e done
	kill -CONT "$dlt"
	join
	equal "delayed: status" "$rc" 0
	[ "$(manifest 'next(p["lost"] for p in m["probes"] if p["name"] == "vfs_rw")')" -gt 0 ] || fail "delayed: the rings were not full"
	rows cache 'READ == 3987' >files-read
	equal "delayed: files, their pages, and rows lost" "$(awk -F '\t' '{ n += $6 + $7 } END { print NR, n }' files-read) $(
		manifest 'next(p["lost"] for p in m["probes"] if p["name"] == "cache")')" "4000 4000 0"
	cut -f3 files-read | sort -n | awk 'NR == 1 { least = $1 } $1 > 1.5 * least { n++ } END { print "note: " n + 0 " of " NR " rows came an interval later" }'
}

# More files than there are cells in the kernel: those go that nothing touches, so that new ones find room. Each file has
# one page, of a hole.
cat >many.py <<'PY'
import os
import sys

for i in range(75000):
    fd = os.open(f"{sys.argv[1]}/{i}", os.O_RDWR | os.O_CREAT)
    os.ftruncate(fd, 4096)
    os.pread(fd, 4096, 0)
    os.close(fd)
PY
many_files() {
	disk_ext4 1280M # 81,920 inodes
	mkdir "$mnt/many"
	trace --probes cache -- /usr/bin/python3 many.py "$mnt/many" || fail "many files: status $?"
	# other files, such as modules of Python, may be read again after other tests have dropped the machine's cache
	equal "files with a miss" "$(rows cache 'FILE ~ /^[0-9]+$/ && MISS == 1' | wc -l)" 75000
	[ "$(manifest 'next(p for p in m["probes"] if p["name"] == "cache").get("overwritten", 0)')" -gt 10000 ] || fail "no file was forgotten"
}

no_overlay=''
each_fs sums
if [ -n "${VM_DISK-}" ]; then :; elif [ -e /dev/fuse ]; then on_fuse; else echo "note: without FUSE (CONFIG_FUSE_FS)"; fi
[ -n "${VM_DISK-}" ] || delayed
[ -z "${LONG-}" ] || [ -n "${VM_DISK-}" ] || many_files
if [ -z "$no_overlay" ]; then :; elif [ -n "${VM_DISK-}" ]; then echo "note: without overlayfs: $no_overlay"; else skip "overlayfs: $no_overlay"; fi
