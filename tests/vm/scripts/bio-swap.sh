#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Memory that a cgroup's limit moves to swap space and that its process then touches again: on a loop device, whose requests
# wait in a queue, and on a zram, whose the thread waits for. bio.out has KIND swap, as many bytes as the kernel counted;
# fault.out has a row for each major fault that the process counted, of KIND swap for its own memory. The report finds it.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3 mkswap swapon
[ -e /sys/fs/cgroup/cgroup.controllers ] || skip "cgroup v2"
echo +memory >/sys/fs/cgroup/cgroup.subtree_control || skip "the memory controller"
group=/sys/fs/cgroup/swapped
mkdir $group
echo 16M >$group/memory.max
space=''
finish() {
	[ -z "$space" ] || swapoff "/dev/$space"
	rmdir $group
	cleanup
}
trap finish EXIT

cat >job.py <<'END'
import mmap, os, resource, sys
with open(sys.argv[1] + "/cgroup.procs", "w") as f:
    f.write(str(os.getpid()))
majors = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
memory = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, len(memory), 4096):
    memory[at:at + 8] = (at * 2654435761 + 1).to_bytes(8, "little")
for at in range(0, len(memory), 4096):
    assert int.from_bytes(memory[at:at + 8], "little") == at * 2654435761 + 1
memory.close()
majors = resource.getrusage(resource.RUSAGE_SELF).ru_majflt - majors
print(os.getpid(), majors)
END

# pages DIRECTION: the kernel's count of pages swapped in or out.
pages() { awk '$1 == "pswp'$1'" { print $2 }' /proc/vmstat; }

# swap DISK
swap() {
	space=$1
	mkswap "/dev/$1" >out 2>&1 && swapon "/dev/$1" || fail "swapon $1: $(cat out)"
	in=$(pages in) out=$(pages out)
	trace --probes bio,fault,time_align --disk "$1" -- python3 job.py $group >counts 2>err || fail "$1: status $?: $(cat err)"
	in=$(($(pages in) - in)) out=$(($(pages out) - out))
	swapoff "/dev/$1"
	space=''
	read -r pid majors <counts
	[ "$in" -gt 100 ] && [ "$out" -gt 100 ] || fail "$1: nothing was swapped: $in in, $out out"
	echo "note: $1: $(each bio 'print T, KIND' | sort | uniq -c | tr '\n' ';')"
	[ -z "$(rows bio)" ] || equal "$1: files, places and writers" "$(each bio 'print FID FOFF WPID WN' | sort -u)" ----
	equal "$1: major faults" "$(rows fault "PID == $pid" | wc -l)" \
		"$(col pids ARGS "PID == $pid && EVENT == \"exit\" && STATUS != \"-\"" | sed 's/.*majflt=\([0-9]*\).*/\1/')"
	[ "$(rows fault "PID == $pid && KIND == \"swap\" && FID == \"-\" && OFFSET == \"-\"" | wc -l)" -ge "$majors" ] ||
		fail "$1: of $majors faults, of KIND swap: $(each fault 'print KIND, FID, OFFSET' | sort | uniq -c)"
}
bytes() { col bio BYTES "$1" | awk '{ n += $1 } END { print n + 0 }'; }

truncate -s 64M disk.img
loop=$(losetup -f --show disk.img) || { loop=''; skip "a loop device"; }
swap "${loop#/dev/}"
equal "kinds" "$(col bio KIND 'T == "R" || T == "W"' | sort -u)" swap
equal "bytes swapped in" "$(bytes 'T == "R" && KIND == "swap"')" $((in * 4096))
equal "bytes swapped out" "$(bytes 'T == "W" && KIND == "swap"')" $((out * 4096))
[ "$(col fault DISK_BYTES "PID == $pid && KIND == \"swap\"" | awk '{ n += $1 } END { print n }')" -gt 0 ] || fail "nothing from disk"

# the report has these bytes, and the rule about swap has the time of the faults
"$DLT" report --json "$t" >json 2>err || fail "report: $(cat err)"
waited=$(col fault LAT_NS 'KIND == "swap" && FUNC == "user" && LAT_NS != "-"' | awk '{ n += $1 } END { printf "%.0f", n }')
python3 -c '
import json, sys
r, (into, out, waited) = json.load(open("json")), map(int, sys.argv[1:])
disk = next(row for row in r["disk_files"] if row["what"] == "(swap)")
assert (disk["read_bytes"], disk["write_bytes"]) == (into * 4096, out * 4096), (disk, into, out)
finding = next(f for f in r["rules"] + r["facts"] if f["code"] == "swap")
assert abs(finding["measure"] - waited / r["duration_ns"]) < 0.001, (finding, waited, r["duration_ns"])
assert any("the disks read" in line for line in finding["evidence"]), finding' "$in" "$out" "$waited" 2>err || fail "report: $(tail -n 1 err)"

modprobe -q zram || skip "zram (CONFIG_ZRAM)"
echo 64M >/sys/block/zram0/disksize || skip "memory for a zram"
swap zram0
[ -z "$(rows bio 'T == "W"')" ] || equal "zram: kinds of writes" "$(col bio KIND 'T == "W"' | sort -u)" swap
# Until 6.2 a page is written without a bio (rw_page), except for huge ones.
if grep -q ' bdev_write_page$' /proc/kallsyms; then
	echo "note: zram: pages go without bios"
else
	equal "zram: bytes swapped out" "$(bytes 'T == "W"')" $((out * 4096))
	# a page that is being read has no owner yet, and the bio shows only that its thread waits
	equal "zram: kinds of reads" "$(col bio KIND 'T == "R"' | sort -u)" other
	equal "zram: counted" "$(manifest 'next(p for p in m["probes"] if p["name"] == "bio").get("fileless", 0)')" "$(rows bio 'T == "R"' | wc -l)"
fi
