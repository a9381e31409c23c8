#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Quotas of ext4 and XFS: of the user that owns the trace's folder, of the group, and of a project. --min-free leaves its
# room in the quota too, though the disk has space: it refuses a start, it stops rows when the job has taken the room,
# and goes on when that is given back. Without --min-free the trace stops at the limit, though root writes it: the
# user's quota is never overrun, and every row is written or lost. TYPES: only on these file systems.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3 setpriv
modprobe quota_v2 2>/dev/null
gate
head -c 1048576 /dev/zero >data
chmod 755 . && chmod 644 data

# quota TYPE ID [BYTES]: sets the limit on $loop, or prints the bytes that are used.
cat >quota.py <<'END'
import ctypes, os, struct, sys
kind, ident, limit = {"usr": 0, "grp": 1, "prj": 2}[sys.argv[2]], int(sys.argv[3]), sys.argv[4:]
libc, dq = ctypes.CDLL(None, use_errno=True), ctypes.create_string_buffer(72)
if limit:  # struct if_dqblk; QIF_BLIMITS
    struct.pack_into("<QQQQQQQQI", dq, 0, int(limit[0]) // 1024, 0, 0, 0, 0, 0, 0, 0, 1)
command = (0x800008 if limit else 0x800007) << 8 | kind
if libc.quotactl(ctypes.c_int(command if command < 1 << 31 else command - (1 << 32)), sys.argv[1].encode(), ident, dq) < 0:
    sys.exit(os.strerror(ctypes.get_errno()))
if not limit:
    print(struct.unpack_from("<QQQ", dq)[2])
END
quota() { python3 quota.py "$loop" "$@" 2>quota.err || fail "quota $*: $(cat quota.err)"; }
count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }
MB=1048576 user=65534

# on TYPE OPTION...: a new one at disk with quotas, and the user's folder in it.
on() {
	type=$1
	command -v "mkfs.$type" >mkfs || { echo "note: not on $type: needs mkfs.$type"; return 1; }
	truncate -s 400M disk.img
	loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
	case $type in ext4) set -- -q -O quota,project -E quotatype=usrquota:grpquota:prjquota ;; *) set -- -q ;; esac
	"mkfs.$type" "$@" "$loop" >mkfs 2>&1 || fail "mkfs.$type: $(cat mkfs)"
	mkdir -p disk
	if ! mount -t "$type" -o usrquota,grpquota,prjquota "$loop" disk 2>mount.err; then
		echo "note: not on $type: $(cat mount.err)"
		losetup -d "$loop"
		loop=''
		return 1
	fi
	mnt=$TMPDIR/disk t=$TMPDIR/disk/home/t
	install -d -o $user -g $user disk/home
}
off() {
	umount "$mnt" && losetup -d "$loop" && rm disk.img || fail "cannot give the disk back"
	mnt='' loop=''
}

# owned ARG...: as spawn, the user's trace.
owned() { spawn -v --user $user "$@"; }

# filled BYTES: the job takes them, as the user, at the gate; and gives them back.
cat >job <<'END'
read _ <gate
head -c "$1" /dev/urandom >disk/home/fill && sync disk/home/fill
: >disk/home/full
read _ <gate
rm disk/home/fill
sync -f disk/home
read _ <gate
cat data >/dev/null
END
chmod 644 job && chmod 666 gate

# kind TYPE BY: a quota of TYPE, which messages call BY.
kind() {
	of=$type/$1 by=$2
	quota "$1" $user $((32 * MB))
	rc=0
	rm -rf "$t"
	trace --user $user --min-free 64M -- touch disk/home/ran 2>err || rc=$?
	equal "$of: status below --min-free" "$rc" 125
	[ ! -e disk/home/ran ] || fail "$of: below --min-free something has run"
	grep -Eq "only [0-9.]+ MiB free in .*/home/t$by, and --min-free is 64.0 MiB: " err || fail "$of: $(cat err)"

	owned --min-free 16M -- sh job $((20 * MB)) >out
	await grep -qs '	sh	' "$t/vfs_rw.out"
	echo >&9
	await test -e disk/home/full
	await grep -Eq "warning: only [0-9.]+ MiB free in .*/home/t$by \(--min-free is 16.0 MiB\): rows are counted as lost" err
	echo >&9
	await grep -q 'space in .*/home/t again: writing goes on' err
	echo >&9
	join
	equal "$of: status" "$rc" 0
	equal "$of: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
	equal "$of: reads afterwards" "$(col vfs_rw RETURNED 'COMM == "cat" && FILE == "data" && RETURNED > 0' |
		awk '{ n += $1 } END { print n }')" $MB
	check lines
	rm disk/home/full

	# the trace itself takes all: root's hand stops at the user's limit
	quota "$1" $user $((4 * MB))
	trace --user $user -- "$W/storm" -n 45000 "$TMPDIR/data" >out 2>err || fail "$of: status $?: $(cat err)"
	grep -Eq 'warning: cannot write to .*: (Disk quota exceeded|No space left on device)' err || fail "$of: said: $(cat err)"
	used=$(quota "$1" $user)
	[ "$used" -le $((4 * MB)) ] || fail "$of: $used bytes are used of 4 MiB"
	equal "$of: complete" "$(manifest 'm["complete"]')" True
	equal "$of: rows and lost of all" $(($(count rows) + $(count lost))) "$(count calls)"
	[ "$(count rows)" -gt 0 ] && [ "$(count lost)" -gt 0 ] || fail "$of: $(count rows) rows, $(count lost) lost"
	equal "$of: rows in the file" "$(rows vfs_rw | wc -l)" "$(count rows)"
	check lines
	check fids
	equal "$of: names and processes lost" "$(manifest 'sum(p["lost"] for p in m["probes"] if p["name"] in ("files", "pids"))')" 0
	rm -rf "$t"

	# at the start, too, where the quota is nearly used up: the space that the trace keeps for its end is less then
	setpriv --reuid $user --regid $user --clear-groups head -c $((3700 << 10)) /dev/urandom >disk/home/most
	chown $user:$user disk/home/most && sync -f disk/home
	trace --user $user -- true >out 2>err || fail "$of: status $? with little left: $(cat err)"
	used=$(quota "$1" $user)
	[ "$used" -le $((4 * MB)) ] || fail "$of: $used bytes are used of 4 MiB, after a start with little left"
	rm -rf "$t" disk/home/most

	# and by default it leaves the user a part: 5 %, and what a second has taken
	quota "$1" $user $((200 * MB))
	"$DLT" start -q --collectors none --probes -bio --metrics-file prom --user $user -o "$t" -- true >out 2>err || fail "$of: $(cat err)"
	equal "$of: default" "$(awk '$1 ~ /^dltraced_disk_min_free_bytes/ { printf "%d", $2 / 1048576 + 0.5 }' prom)" 10
	rm -rf "$t"
	quota "$1" $user 0
}

project() {
	python3 - disk/home $user <<-'END'
		import fcntl, os, struct, sys
		fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x401c5820, struct.pack("<5I8x", 0x200, 0, 0, int(sys.argv[2]), 0))
	END
}

tried=''
for type in ${TYPES:-ext4 xfs}; do
	on $type || continue
	tried=yes
	kind usr ' by the quota of its user'
	kind grp ' by the quota of its group'
	project || fail "$type: a project"
	kind prj ''
	off
done
[ "$tried" ] || skip "quotas of ext4 or XFS in the kernel"
