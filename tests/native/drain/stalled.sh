#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The disk with the trace stands still, and then dltraced itself does: the workload goes on. A message says so. What the
# rings hold is written later, and what they cannot hold is counted: rows and lost ones add up to the calls made.
. "${0%/*}/../lib.sh"
need python3 fsfreeze
disk_ext4 256M
gate

# count KEY: of vfs_rw, in the manifest.
count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }

head -c 1048576 /dev/zero >data
# Reads the whole file once, 10 000 times to warm up, and as often as its argument says.
cat >job <<'END'
read _ <gate
"$1" -n 100000 data
echo done >state
read _ <gate
END

# --- the disk -------------------------------------------------------------------------------------

t=$mnt/t
spawn -- sh job "$W/storm" >out
await grep -qs '	sh	' "$t/vfs_rw.out"
fsfreeze -f "$mnt" || skip "to freeze a file system"
trap 'fsfreeze -u "$mnt" 2>err.thaw; cleanup' EXIT
echo >&9
await test -s state # the workload does not wait for it
await grep -q "warning: writing to .* has stalled" err
fsfreeze -u "$mnt"
echo >&9
join
equal "status" $rc 0
check whole
equal "reads" "$(rows vfs_rw 'FUNC == "pread64" && FILE == "data"' | wc -l)" 110256
calls=$(count calls)

# --- dltraced -------------------------------------------------------------------------------------

t=$TMPDIR/t
rm state
spawn --buffer 1M -- sh job "$W/storm" >out
await grep -qs '	sh	' "$t/vfs_rw.out"
kill -STOP "$dlt"
echo >&9
await test -s state
kill -CONT "$dlt"
await grep -Eq 'warning: [0-9]* rows? lost' err
echo >&9
join
equal "status" $rc 0
[ "$(count rows)" -gt 0 ] && [ "$(count lost)" -gt 0 ] || fail "1 MiB held all or nothing"
equal "calls" "$(count calls)" "$calls"
equal "rows and lost" $(($(count rows) + $(count lost))) "$calls"
equal "rows in the file" "$(rows vfs_rw | wc -l)" "$(count rows)"
check lines
check fids
