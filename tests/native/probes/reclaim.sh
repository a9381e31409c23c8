#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# reclaim.out: threads that read more than their cgroup may keep have a row for each time that they had to free pages
# themselves: within their own calls, and with as many pages as came from the disk and are no longer in the page cache, by
# /sys/dev/block/*/stat and mincore(2). Where the kernel counts how often a cgroup was at its limit (cgroup v2), there are
# as many rows. Without the limit there is none, and without the probe no file.
. "${0%/*}/../limited.inc"
need python3

cat >reads.py <<'END'
import ctypes, json, mmap, os, sys, threading, time

PAGE, BLOCK, THREADS, TIMES = mmap.PAGESIZE, 1 << 17, 4, 4
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)
# khugepaged makes huge pages of small ones, and frees pages of their cgroup to get some: none of these calls is the job's
libc.prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE, linux/prctl.h
fd = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(fd).st_size
addr = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
there = ctypes.create_string_buffer(size // PAGE)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)  # what another cgroup has read counts there
reads, lock = [], threading.Lock()


def from_disk():
    dev = os.fstat(fd).st_dev
    with open(f"/sys/dev/block/{os.major(dev)}:{os.minor(dev)}/stat") as f:
        return int(f.read().split()[2]) * 512


def read(begin, end):
    buffer, tid, mine = bytearray(BLOCK), threading.get_native_id(), []
    for at in [*range(begin, end, BLOCK)] * TIMES:
        before = time.monotonic_ns()
        os.preadv(fd, [buffer], at)
        mine.append((tid, before, time.monotonic_ns()))
    with lock:
        reads.extend(mine)


part, fetched = size // THREADS, from_disk()
threads = [threading.Thread(target=read, args=(i * part, (i + 1) * part)) for i in range(THREADS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
done, fetched = time.monotonic_ns(), from_disk() - fetched
assert libc.mincore(addr, size, there) == 0
looked = time.monotonic_ns()
print(json.dumps({"pid": os.getpid(), "done": done, "looked": looked, "fetched": fetched // PAGE, "there": sum(b & 1 for b in there.raw), "reads": reads}))
END

# counted NAME: a count of the kernel's, of the machine.
counted() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; }
# at_limit: how often $group was at its limit; nothing where that is not counted exactly.
at_limit() { sed -n 's/^max //p' "$group/memory.events" 2>/dev/null; }

larger_file data
# The pages of the program belong to this cgroup from here on: the limited one frees those of the file alone.
python3 reads.py "$mnt/data" >job.json || fail "untraced"
before=$(at_limit) swapd=$(counted pgsteal_kswapd)
limited --probes reclaim,vfs_rw,time_align -- python3 reads.py "$mnt/data" >job.json 2>err || fail "status $?: $(cat err)"
swapd=$(($(counted pgsteal_kswapd) - swapd))
check reclaim job.json $swapd ${before:+$(($(at_limit) - before))}
"$DLT" report --full "$t" >text 2>err || fail "report: $(cat err)"
grep -q "^Direct reclaims of memory: $(rows reclaim 'KIND == "cgroup"' | wc -l) at a cgroup's limit, " text ||
	fail "the report: $(grep '^Direct reclaims' text)"

# the same within a limit that is far away
limit_to 1073741824 || fail "the limit cannot be raised"
limited --probes reclaim,vfs_rw,time_align -- python3 reads.py "$mnt/data" >job.json 2>err || fail "no limit: status $?: $(cat err)"
equal "rows without a limit" "$(rows reclaim 'KIND == "cgroup"' | wc -l)" 0
trace --probes -reclaim -- true || fail "without it: status $?"
[ ! -e "$t/reclaim.out" ] || fail "reclaim.out is there without being wanted"
