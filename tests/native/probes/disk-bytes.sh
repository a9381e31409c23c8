#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# DISK_BYTES is what a call made the kernel fetch: of a file that is read for the first time all of it, whatever the
# read-ahead; nothing the second time; and all of it again past the page cache.
. "${0%/*}/../lib.sh"

disk_ext4
dd if=/dev/urandom of="$mnt/file" bs=1M count=1 2>err || fail "$(cat err)"
umount "$mnt" && mount "/dev/$disk" "$mnt" || fail "cannot mount it again"

# fetched OPTION...: DISK_BYTES of a dd of the whole file.
fetched() {
	trace -- dd if="$mnt/file" of=/dev/null bs=64k "$@" 2>err || fail "status $?: $(cat err)"
	check whole
	equal reads "$(rows vfs_rw 'FILE == "file" && RETURNED == 65536' | wc -l)" 16
	col vfs_rw 'DISK_BYTES, FLAGS' 'FILE == "file"' | awk '{ n += $1 } END { print n, $2 }'
}

equal "first time" "$(fetched)" "1048576 -"
# With little memory, the kernel may have dropped a page in between: then the file is read once more.
for _ in 1 2 3 4 5; do
	again=$(fetched) || exit
	[ "$again" != "0 -" ] || break
done
equal "second time" "$again" "0 -"
equal "direct" "$(fetched iflag=direct)" "1048576 DIRECT"
