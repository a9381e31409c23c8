#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Two traces at the same time: each has its own workload and nothing of the other. A trace of a trace: the inner one is
# as it would be alone, the outer one has all that both do.
#
# smoke
. "${0%/*}/../lib.sh"
probed=vfs_rw,time_align
need python3
gate
head -c 1048576 /dev/zero >data
cp data other

# reads TRACE FILE: number of rows.
reads() {
	t=$TMPDIR/$1
	check whole
	rows vfs_rw "FUNC == \"pread64\" && FILE == \"$2\"" | wc -l
}

# --- side by side ---------------------------------------------------------------------------------

# The second one begins and ends within the first.
spawn -o one -- sh -c '"$0" -n 10000 data; read _ <gate; "$0" -n 10000 data' "$W/storm" >out
await grep -qs pread64 one/vfs_rw.out
trace -o two -- "$W/storm" -n 50000 other >out || fail "status $?"
echo >&9
join
equal "status of the first" $rc 0
equal "reads of the first" "$(reads one data) $(reads one other)" "40512 0"
equal "reads of the second" "$(reads two data) $(reads two other)" "0 60256"

# --- of the same process --------------------------------------------------------------------------

# Neither the order of their begins nor that of their ends matters: both have all rows of the process.
mkfifo begin
sh -c 'read _ <begin; "$0" -n 5000 data >out; read _ <gate; "$0" -n 3000 data >out; read _ <gate' "$W/storm" 9>&- &
target=$!
for name in three four; do
	"$DLT" start --background --collectors none --probes $probed --min-free 0 -o $name --pid $target \
		2>err 9>&- || fail "start $name: $(cat err)"
done
echo >begin
await test -s out
await grep -qs pread64 three/vfs_rw.out
read_all() { [ "$(reads_now three)" -ge 15256 ] && [ "$(reads_now four)" -ge 15256 ]; }
reads_now() { grep -cP '\tpread64\t' "$1/vfs_rw.out"; }
await read_all
"$DLT" stop three 2>err || fail "stop three: $(cat err)"
echo >&9
echo >&9
wait $target
finished() { [ "$(t=four manifest 'm["complete"]')" = True ]; } # status may list it no longer before that
await finished
equal "reads of the first half" "$(reads three data)" 15256
equal "reads of all of it" "$(reads four data)" $((15256 + 13256))

# --- one in the other -----------------------------------------------------------------------------

trace -o outer -- "$DLT" start -q --collectors none --probes $probed --min-free 0 -o inner -- \
	"$W/storm" -n 5000 data >out || fail "status $?"
equal "reads, inside" "$(reads inner data)" 15256
equal "reads, outside" "$(reads outer data)" 15256
t=$TMPDIR/outer
equal "what the inner one wrote" "$(col vfs_rw RETURNED 'COMM ~ /^dltraced/ && RW == "W" && FILE == "vfs_rw.out"' |
	awk '{ n += $1 } END { print n }')" "$(wc -c <inner/vfs_rw.out)"
