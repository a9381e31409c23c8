#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Threads fill the memory of the machine with pages of a file faster than the kernel's own thread frees some: under --all
# reclaim.out has a row of KIND machine for each direct reclaim that the kernel counts (allocstall of /proc/vmstat), with as
# many pages (pgsteal_direct).
native=${0%/*}/../../native
. "$native/lib.sh"
need python3

# counted PATTERN: the sum of the kernel's counts.
counted() { awk -v pattern="^$1" '$1 ~ pattern { n += $2 } END { print n + 0 }' /proc/vmstat; }
count() { echo "$(counted allocstall_) $(counted 'pgsteal_direct$')"; }

cat >fill.py <<'END'
import os, sys, threading

BLOCK, THREADS = 1 << 20, 4
fd = os.open(sys.argv[1], os.O_RDONLY)
part = os.fstat(fd).st_size // THREADS


def read(begin):
    buffer = bytearray(BLOCK)
    for at in range(begin, begin + part, BLOCK):
        os.preadv(fd, [buffer], at)


threads = [threading.Thread(target=read, args=(i * part,)) for i in range(THREADS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
END

# the kernel's thread begins late
for knob in min_free_kbytes watermark_scale_factor; do
	cat /proc/sys/vm/$knob >$knob
done
trap 'for knob in min_free_kbytes watermark_scale_factor; do cat $knob >/proc/sys/vm/$knob; done; rm -f "$VM_MNT/holes"; cleanup' EXIT
echo 1024 >/proc/sys/vm/min_free_kbytes
echo 1 >/proc/sys/vm/watermark_scale_factor
truncate -s $((2 * $(awk '/^MemTotal:/ { print $2 }' /proc/meminfo)))K "$VM_MNT/holes" || fail "truncate"

spawn --probes reclaim,time_align --all
await [ -s "$t/manifest.json" ]
before=$(count)
python3 fill.py "$VM_MNT/holes" || fail "fill.py: $?"
after=$(count)
"$DLT" stop "$dlt" 2>stopped || fail "stop: $(cat stopped)"
join
equal "status ($(cat err))" "$rc" 0
check whole
echo "$before $after" | {
	read -r stalls0 pages0 stalls pages
	stalls=$((stalls - stalls0)) pages=$((pages - pages0))
	n=$(rows reclaim 'KIND == "machine"' | wc -l)
	freed=$(col reclaim PAGES 'KIND == "machine" && PAGES != "?"' | awk '{ n += $1 } END { print n + 0 }')
	echo "note: $n rows, $stalls counted; $freed pages, $pages counted"
	[ "$n" -ge 10 ] || fail "only $n rows, $stalls counted"
	# dltraced's own have no rows; what was reclaimed before the counts were read, or after, does
	{ [ "$n" -le $((stalls + 2)) ] && [ $((n * 10)) -ge $((stalls * 9)) ]; } || fail "$n rows, but $stalls were counted"
	{ [ $((freed * 10)) -ge $((pages * 9)) ] && [ $((freed * 10)) -le $((pages * 11)) ]; } ||
		fail "$freed pages, but $pages were counted"
}
