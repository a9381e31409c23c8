#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A job reads the pages of a file in another order in each of three epochs, in a memory cgroup that holds less than the
# file. cache.out and the report have what the job has counted: it asks mincore(2) before each read whether the page is in
# memory, and at the end which pages are left. The disk has read as many bytes, and the finding has those that came again.
. "${0%/*}/../limited.inc"
need python3

larger_file data.bin
cat >job.py <<'PY'
import ctypes
import json
import mmap
import os
import random
import sys
import time

PAGE = mmap.PAGESIZE
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p)

fd = os.open(sys.argv[1], os.O_RDONLY)
size = os.fstat(fd).st_size
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)  # no read-ahead
memory = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)  # never touched
there = ctypes.create_string_buffer(size // PAGE)


def present(first, pages):
    """How many of these pages are in memory."""
    if libc.mincore(memory + first * PAGE, pages * PAGE, there):
        sys.exit(os.strerror(ctypes.get_errno()))
    return sum(byte & 1 for byte in there.raw[:pages])


if present(0, size // PAGE):
    sys.exit("the file is in memory")
order, epochs = list(range(size // PAGE)), []
time.sleep(1.2)
for epoch in 1, 2, 3:
    print(f"Epoch {epoch}/3", flush=True)
    time.sleep(1.2)
    random.shuffle(order)
    hit = 0
    for page in order:
        hit += present(page, 1)
        os.pread(fd, PAGE, page * PAGE)
    epochs.append(hit)
    time.sleep(1.2)
with open(sys.argv[2], "w") as out:
    json.dump({"pages": len(order), "hit": epochs, "left": present(0, len(order))}, out)
PY
cat >judge.py <<'PY'
import json
import sys

job, r, page = json.load(open("tally")), json.load(open("json")), int(sys.argv[1])
read, hit = 3 * job["pages"], sum(job["hit"])
row = next(row for row in r["page_cache"] if (row["path"] or "").endswith("/data.bin"))
assert row["read_bytes"] == read * page and row["hit_bytes"] == hit * page, (row, job)
assert row["miss_bytes"] == (read - hit) * page and not row["ahead_bytes"], (row, job)
# the kernel may evict more of them before the trace ends
assert (read - hit - job["left"]) * page <= row["evicted_bytes"] <= (read - hit) * page, (row, job)
again = read - hit - job["pages"]
assert row["again_bytes"] == again * page, (row, job)
finding = next(f for f in r["rules"] if f["code"] == "cache-too-small")
# of all files: python3's own, too, where they were not in memory before
came, came_again = (sum(row[name] for row in r["page_cache"] for name in names)
                    for names in (("miss_bytes", "ahead_bytes"), ("again_bytes",)))
assert abs(finding["measure"] - came_again / came) < 0.001, (finding, came_again, came)
assert int(sys.argv[2]) >= (read - hit) * page, f"the disk has read {sys.argv[2]} bytes: {job}"
epochs = r["page_cache_epochs"]
assert [e["miss_bytes"] for e in epochs] == [(job["pages"] - n) * page for n in job["hit"]], (epochs, job)
assert all(abs(e["hit_share"] - n / job["pages"]) < 0.001 for e, n in zip(epochs, job["hit"])), (epochs, job)
assert not job["hit"][0] and all(0 < n < job["pages"] for n in job["hit"][1:]), f"nothing to compare: {job}"
PY

sectors() { awk '{ print $3 }' "/sys/block/$disk/stat"; }

# An epoch begins and ends more than an interval after what the one before did, unless the machine is slow.
epochs() {
	before=$(sectors)
	limited --probes +cache --disk "$disk" -- python3 job.py "$mnt/data.bin" tally >out 2>err || fail "status $?: $(cat err)"
	check whole
	"$DLT" report --json "$t" >json 2>err || fail "report: $(cat err)"
	python3 judge.py "$(manifest 'm["machine"]["page_bytes"]')" $((($(sectors) - before) * 512)) 2>err
}
epochs || epochs || epochs || fail "$(tail -n 1 err)"
