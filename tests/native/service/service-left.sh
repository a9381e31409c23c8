#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A user's trace through the service shows nobody else: a process that executes a set-user-ID or set-group-ID program, or
# one that the user may not read, leaves it with one row, before the program does anything; requests to disks that others queue are counted, but not
# shown, except for write-back of what the user's processes wrote.
. "${0%/*}/../service.inc"
install -d -o nobody -m 700 home
t=$TMPDIR/home/t
cat=$(readlink -f "$(command -v cat)") env=$(readlink -f "$(command -v env)")
install -m 4755 "$cat" roots && install -m 4755 "$env" env && install -g "$group" -m 2755 "$cat" groups || fail install
install -m 711 "$cat" hidden || fail install
install -m 600 /dev/null secret
chmod 755 .
as ./roots secret || skip "a folder in which set-user-ID programs work"
daemon

disk_ext4
chmod 777 disk
# shellcheck disable=SC2016 # the job's own
as_spawn -P +bio --disk "$disk" -- sh -c './roots secret; ./groups /etc/hostname; ./env cat /etc/hosts; ./hidden /etc/hosts; cat /etc/passwd; cat /etc/group
	cd "$0" && head -c 262144 /dev/zero >written && : >ready && while [ ! -e go ]; do sleep 0.1; done
	exec dd if=/dev/zero of=mine bs=64K count=4 oflag=direct' "$mnt" >out
await test -e disk/ready
sync disk/written # by root: the job has left its pages in the page cache
head -c 262144 /dev/zero >disk/others && sync disk/others || fail "others"
dd if=/dev/zero of=disk/roots bs=64K count=8 oflag=direct 2>/dev/null || fail "dd"
: >disk/go
join
equal "status ($(cat err))" $rc 0
for comm in roots groups env hidden; do
	equal "left as $comm" "$(rows pids 'EVENT == "left" && COMM == "'$comm'" && ARGS == "-"' | wc -l)" 1
	pid=$(col pids PID 'EVENT == "left" && COMM == "'$comm'"')
	equal "events of $comm" "$(col pids EVENT 'PID == '"$pid" | tr '\n' ' ')" "fork left "
	for file in open vfs_rw close mmap; do
		equal "$file by $comm" "$(rows $file 'COMM == "'$comm'"')" ""
	done
done
equal "what they opened" "$(grep -hE 'secret|/etc/hosts' "$t/open.out" "$t/files.out")" ""
for path in /etc/passwd /etc/group; do
	equal "$path" "$(rows open 'COMM == "cat" && PATH == "'$path'" && RET >= 0' | wc -l)" 1
done

# --- requests to disks ------------------------------------------------------------------------------------

equal "whose" "$(col pids UID 'EVENT == "exec"' | sort -u)" "$uid"
equal "writes" "$(rows bio 'T == "W" && BYTES == 65536 && COMM == "dd"' | wc -l)" 4
col pids PID | sort -u >own
equal "who queued" "$(col bio PID 'WPID == "-" || PID != 0' | sort -u | grep -vxFf own)" ""
# write-back by root of what the job has written: its rows do not show who queued it
written='FILE == "written" && KIND == "data" && T == "W"'
equal "write-back of the job's" "$(col bio BYTES "$written" | awk '{ n += $1 } END { print n }')" 262144
equal "its writer" "$(each bio "if ($written) print PID, COMM, WPID, WN" | sort -u)" \
	"0 - $(col pids PID 'EVENT == "exec" && COMM == "head"' | sort -u) 1"
equal "write-back of others" "$(rows bio 'FILE == "others"')$(rows files 'REALPATH ~ /others$/')" ""
equal "who was running at the end" "$(col bio DONEPID 'DONEPID != "-"' | sort -u | grep -vxFf own)" ""
[ "$(manifest '[p["foreign"] for p in m["probes"] if p["name"] == "bio"][0]')" -ge 8 ] || fail "foreign requests"
check whole

# --- the root process becomes another user's --------------------------------------------------------------

# Its trace gets no further rows, and ends with it.
[ -z "$slow" ] || exit 0 # no difference between kernels
as_start -- ./env sh -c 'cat /etc/hosts; exit 9' >out
equal "status of a workload that left" $? 9
equal "events" "$(col pids EVENT 'TID == PID' | tr '\n' ' ')" "left "
check whole
