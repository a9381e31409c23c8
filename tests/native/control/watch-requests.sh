#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# status --watch shows requests in flight as it shows calls: of libaio, and the part of them that the disk has got, on a
# disk that stands still; of io_uring, a read and an open. Each is there once, and is gone when it is done.
#
# smoke
. "${0%/*}/../lib.sh"
need python3 mkfs.ext4 fsfreeze
gate

# A disk whose writes wait while the file system that holds it is frozen.
disk_ext4
truncate -s 8M "$mnt/inner.img"
inner=$(losetup -f --show "$mnt/inner.img") || skip "a second loop device"
frozen='' watcher=''
finish() {
	[ -z "$watcher" ] || kill "$watcher"
	[ -z "$frozen" ] || fsfreeze -u "$mnt"
	[ -z "$dlt" ] || { echo >&9; wait "$dlt"; }
	dlt=''
	losetup -d "$inner"
	cleanup
}
trap finish EXIT
settle

cat >job <<'END'
"$W/aio" -T stuck stuck "$1" &
stuck=$!
mkdir dir
"$W/aio" -T tally hang "$PWD/dir" &
hang=$!
read -r _ <gate
kill $stuck $hang
wait
END
export W
fsfreeze -f "$mnt" || skip "to freeze a file system"
frozen=yes
spawn -P bio,open,vfs_rw --disk "${inner#/dev/}" -- sh job "$inner"
await grep -qs stuck stuck
await test -e "/run/dltraced/$dlt.sock"
"$DLT" status --watch --json -i 100ms "$t" >looks 2>err-looks 9>&- &
watcher=$!

# hangs PROBE CALL FILE: once, in the last look but one (the last may be incomplete).
hangs() {
	[ "$(wc -l <looks)" -ge 2 ] && tail -n 2 looks | head -n 1 | python3 -c '
import json, sys
found = [c for c in json.loads(sys.stdin.readline())["running"]
	if [c["probe"], c["call"]] == sys.argv[1:3] and (c["file"] or "").endswith(sys.argv[3])]
sys.exit(not (len(found) == 1 and found[0]["comm"] == "aio" and found[0]["running_ms"] >= 10))' "$@"
}
await hangs vfs_rw io_submit:pwrite "$inner"
await hangs bio bio:W "${inner#/dev/}"
"$DLT" status --watch -i 1h "$t" >text 9>&- &
text=$!
await grep -q ' io_submit:pwrite ' text
awk -v disk="${inner#/dev/}" '$4 == "bio:W" && $5 == disk' text | grep -q aio || fail "no request of the disk: $(cat text)"
fsfreeze -u "$mnt"
frozen=''
gone_from() { ! hangs "$@"; }
await gone_from bio bio:W "${inner#/dev/}"
if grep -qs hangs tally; then
	await hangs vfs_rw io_uring:read "]"
	await hangs open io_uring:openat fifo
else
	echo "no io_uring"
fi
echo >&9
join
equal "status ($(cat err))" $rc 0
wait $watcher || fail "status of the watcher: $?: $(cat err-looks)"
watcher=''
wait $text || fail "status of the other watcher: $?"
