#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The trace's file system is full, because of the trace itself or of the job, or has less space than --min-free. The
# workload goes on, every row is written or counted as lost, a message comes at once, files end with a whole row, and
# the manifest is complete. Space that comes back is used. The same holds for the bytes of the workload's log.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
probed=vfs_rw,time_align
need python3
gate

mkdir small
mount -t tmpfs -o size=2m none small || skip "to mount tmpfs"
mnt=$TMPDIR/small
head -c 1048576 /dev/zero >data

# count KEY: of vfs_rw, in the manifest.
count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }

# said TEXT: a warning of TEXT, and the number of lost rows.
said() {
	grep -q "warning: $1" err || fail "nothing said of '$1': $(cat err)"
	grep -Eq 'warning: [0-9]* rows? lost' err || fail "no number of lost rows said: $(cat err)"
}

# accounted CALLS: each is a row or lost, the file has the rows, and all files are complete.
accounted() {
	equal "complete" "$(manifest 'm["complete"]')" True
	equal "calls" "$(count calls)" "$1"
	equal "rows and lost" $(($(count rows) + $(count lost))) "$1"
	equal "rows in the file" "$(rows vfs_rw | wc -l)" "$(count rows)"
	check lines
	for file in "$t"/*.out; do
		equal "last byte of $file" "$(tail -c 1 "$file" | od -An -tu1 | tr -d ' ')" 10
	done
}

# --- how many calls it makes ----------------------------------------------------------------------

trace -- "$W/storm" -n 100000 "$TMPDIR/data" >out
equal "reads of the data" "$(rows vfs_rw 'FUNC == "pread64" && FILE == "data"' | wc -l)" 110256
calls=$(count calls)
equal "lost with space" "$(count lost)" 0

# --- by the caller's limit of a file's size -------------------------------------------------------

(
	ulimit -f 2000
	trace -- "$W/storm" -n 100000 "$TMPDIR/data" >out 2>err
) || fail "status $? below a limit of file size: $(cat err)"
accounted "$calls"
[ "$(count lost)" -gt 0 ] || fail "1 MB held all"

# --- by the trace itself --------------------------------------------------------------------------

t=$mnt/t
trace -- "$W/storm" -n 100000 "$TMPDIR/data" >out 2>err || fail "status $?"
accounted "$calls"
[ "$(count rows)" -gt 0 ] && [ "$(count lost)" -gt 0 ] || fail "2 MiB held all or nothing"
said 'cannot write to .*/small/t: No space left'
"$DLT" report --full "$t" >report || fail "report: status $?"
grep -q "^- vfs_rw: $(count lost) lost" report || fail "no loss in the report: $(cat report)"

# --- by the job -----------------------------------------------------------------------------------

# Takes $1 bytes of the space, reads, frees the space, reads; it waits at the gate in between.
cat >job <<'END'
head -c $1 /dev/zero >small/fill 2>/dev/null
echo full >state
read _ <gate
storm -n 100000 data
echo read >state
read _ <gate
rm small/fill
echo empty >state
read _ <gate
cat data >/dev/null
END
state() { grep -qs "$1" state; }

# taken: storm's reads are rows or lost: none is still in a ring, where it would take the freed space.
taken() {
	"$DLT" status -j | python3 -c '
import json, sys
ours = [t for t in json.load(sys.stdin) if t["dir"] == sys.argv[1]]
sys.exit(110256 > sum(p["rows"] + p["lost"] for t in ours for p in t["probes"] if p["name"] == "vfs_rw"))' "$t"
}

# job BYTES WARNING NEWS ARG...: WARNING is the message about the full disk, NEWS (if any) the one about space.
job() {
	bytes=$1 warning=$2 news=$3
	shift 3
	rm -f state
	PATH=$W:$PATH spawn "$@" -- sh job "$bytes" >out
	await state full
	[ -z "$news" ] || await grep -q "$warning" err
	echo >&9
	await state read
	await grep -Eq 'rows? lost' err
	await taken
	echo >&9
	await state empty
	[ -z "$news" ] || await grep -q "$news" err
	echo >&9
	join
	equal "status" $rc 0
	said "$warning"
	accounted "$(count calls)"
	[ "$(count lost)" -gt 0 ] || fail "no row was lost"
	equal "rows afterwards" "$(col vfs_rw RETURNED 'COMM == "cat" && FILE == "data" && RETURNED > 0' |
		awk '{ n += $1 } END { print n }')" 1048576
	check fids
}

job 4m 'cannot write to .*/small/t: No space left' ''
job 1200k 'only .* free in .*/small/t (--min-free is 1.00 MiB)' 'space in .* again' -v --min-free 1M

# Full to the end: the manifest is written nevertheless.
sed -i '/^rm/,$d' job
rm state
PATH=$W:$PATH spawn -- sh job 4m >out
await state full
echo >&9
await state read
echo >&9
join
equal "status" $rc 0
accounted "$(count calls)"
[ "$(count lost)" -ge 110256 ] || fail "$(count lost) rows were lost"
rm small/fill

# --- less than --min-free from the start ----------------------------------------------------------

rc=0
trace --min-free 1G -- touch ran 2>err || rc=$?
equal "status below --min-free" $rc 125
[ ! -e ran ] && [ ! -e "$t" ] || fail "below --min-free something has run, or is left"
grep -q 'only [0-9.]* MiB free in .*/small/t, and --min-free is 1.00 GiB: .*-o DIR.*--min-free' err ||
	fail "below --min-free: $(cat err)"
trace --best-effort --min-free 1G -- "$W/storm" -n 100000 "$TMPDIR/data" >out 2>err || fail "status $?"
accounted "$calls"
equal "rows below --min-free" "$(count rows)" 0
said 'only 1\..* MiB free in .*/small/t (--min-free is 1.00 GiB)'

# --- a small disk, by default ---------------------------------------------------------------------

# small_disk SIZE: half of the free space, or 5 %, stays free, and nothing is lost before that.
small_disk() {
	mkdir other
	mount -t tmpfs -o "size=$1" none other || skip "to mount tmpfs"
	"$DLT" start -q --collectors none --probes -bio -o other/t -- "$W/storm" -n 1000 -w 0 "$TMPDIR/data" >out 2>err ||
		fail "on $1: status $?: $(cat err)"
	cp -r other/t on-small
	umount other && rmdir other
	t=$TMPDIR/on-small
	[ ! -s err ] || fail "on $1: $(cat err)"
	equal "lost on $1" "$(manifest 'sum(p["lost"] for p in m["probes"])')" 0
	equal "reads on $1" "$(rows vfs_rw 'FUNC == "pread64" && FILE == "data"' | wc -l)" 1256
	t=$mnt/t
	rm -r on-small
}

small_disk 954m
small_disk 16m

# --- disks with a reserve ---------------------------------------------------------------------------

# statvfs EXPRESSION: python's, of the file system at disk.
statvfs() { python3 -c "import os; s = os.statvfs('disk'); print($1)"; }
available='s.f_bavail * s.f_frsize' # for users without the reserve

# as_user COMMAND: by sh, as a user for whom nothing is reserved.
as_user() { setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "$1"; }

# there ARG...: a trace of one call, on that disk.
there() {
	"$DLT" start -q --collectors none --probes -bio -o disk/t "$@" -- touch ran 2>err
}

# refused ARG...: nothing runs, no file is left, and no block is used.
refused() {
	rc=0 before=$(statvfs s.f_bfree)
	there "$@" || rc=$?
	equal "status on $type with $available_bytes for users" "$rc: $(cat err)" "125: $(grep -E "only .* free in .*/disk/t, and|disk/t: No space" err)"
	[ ! -e ran ] && [ ! -e disk/t ] || fail "on $type something has run, or is left"
	[ "$type" = xfs ] || equal "blocks free on $type" "$(statvfs s.f_bfree)" "$before" # xfs frees some blocks later
}

# on_disk TYPE SIZE MIB: by default dltraced leaves a part of what users may use: root's reserve is not free space.
# Where only the reserve is free, start fails, or with --best-effort it loses all rows and warns.
on_disk() {
	type=$1
	command -v "mkfs.$type" >mkfs || { echo "note: not on $type: needs mkfs.$type"; return; }
	truncate -s "$2" "$type.image"
	"mkfs.$type" -q "$type.image" >mkfs 2>&1 || fail "mkfs.$type: $(cat mkfs)"
	mkdir disk
	mount -o loop "$type.image" disk 2>mount.err || { rmdir disk; echo "note: not on $type: needs a loop device: $(cat mount.err)"; return; }
	chmod 777 disk
	as_user "head -c $(($(statvfs "$available") - ($3 << 20))) /dev/zero >disk/fill"
	sync -f disk # blocks allocated by then are counted
	later=0
	[ "$type" != xfs ] || later=1048576 # xfs frees some blocks later, as in refused()
	available_bytes=$(statvfs "$available")
	"$DLT" start -q --collectors none --probes -bio --metrics-file prom -o disk/t -- "$W/storm" -n 1000 -w 0 "$TMPDIR/data" >out 2>err ||
		fail "on $type: status $?: $(cat err)"
	[ ! -s err ] || fail "on $type: $(cat err)"
	awk -v half=$((available_bytes / 2)) -v later=$later '
		$1 ~ /^dltraced_disk_min_free_bytes/ { ok = $2 <= half + later && $2 > half - 65536 } END { exit !ok }' prom ||
		fail "half of $available_bytes is not left on $type: $(grep min_free prom)"
	rm -r disk/t
	available_bytes=$(statvfs "$available")
	refused --min-free $((2 * available_bytes))
	for _ in 1 2 3 4 5; do # space reserved for delayed allocation is free again once the blocks are allocated
		as_user 'dd if=/dev/zero bs=1k >>disk/fill' 2>/dev/null
		sync -f disk
		available_bytes=$(statvfs "$available")
		[ "$available_bytes" -gt 32768 ] || break
	done
	refused
	if [ "$type" = ext4 ]; then
		there --best-effort || fail "--best-effort on a full $type: status $?: $(cat err)"
		[ -e ran ] || fail "--best-effort on a full $type: nothing has run"
		grep -q 'warning: only 0 B free in .*/disk/t' err || fail "on a full $type: $(cat err)"
		rm ran
	fi
	umount disk && rmdir disk
}

on_disk ext4 64m 2
on_disk xfs 300m 16 # xfs preallocates more than the file has

# --- the workload's log ---------------------------------------------------------------------------

# Few lines: each is a row of workload.out as well, which takes space.

rm -rf "$t"
cat >job <<'END'
head -c $1 /dev/zero >small/fill 2>/dev/null
echo full >state
read _ <gate
seq 2000
echo said >state
read _ <gate
rm small/fill
echo empty >state
read _ <gate
size=$(stat -c %s small/t/workload.log)
until [ $(stat -c %s small/t/workload.log) -gt $size ]; do seq 10; sleep 0.1; done
seq 2000
END

# logged BYTES WHY NEWS ARG...: BYTES are taken, and the log omits output because of WHY; NEWS as above.
logged() {
	bytes=$1 why=$2 news=$3
	shift 3
	rm -f state
	spawn --log "$@" -- sh job "$bytes" >out
	await state full
	echo >&9
	await state said
	await grep -q "warning: [0-9]* bytes of the workload's output .*/workload.log: $why" err
	echo >&9
	await state empty
	[ -z "$news" ] || await grep -q "$news" err
	echo >&9
	join
	equal "status" $rc 0
	written=$(manifest 'm["workload_log"]["written_bytes"]') lost=$(manifest 'm["workload_log"]["lost_bytes"]')
	equal "bytes of the log" "$(stat -c %s "$t/workload.log")" "$written"
	equal "bytes written and lost" $((written + lost)) "$(stat -c %s out)"
	[ "$written" -gt 8000 ] && [ "$lost" -gt 0 ] || fail "$written bytes written, $lost lost"
	equal "last line" "$(tail -n 1 "$t/workload.log")" 2000
	equal "last row" "$(col workload TEXT | tail -n 1)" 2000
	check lines
}

logged 4m 'No space left on device' ''
logged 1200k 'less space than --min-free' 'space in .* again' -v --min-free 1M
