#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# start --min-latency: short reads and writes that need no disk are in vfs_rw_sums.out instead of vfs_rw.out, none in
# both, none in neither: as the workload "calls" counts them in threads and processes, and as a Python job does file by
# file, of near misses, too. The report's totals are those of a trace without the option.
. "${0%/*}/../lib.sh"

[ -n "$slow" ] && many=300 rounds=2 || many=20000 rounds=20
trace --min-latency 1s -- "$W/calls" -t 2 -f 1 -n $rounds -T tally dir >pids || fail "status $?"
check vfs_rw_sums 1000000000 tally tally pids dir some
rm -r dir

python
cat >job.py <<'PY'
import mmap
import os
import socket
import sys

many, workers = int(sys.argv[1]), int(sys.argv[2])
want = {}


def moved(name, rw, n, how):
    """Counts a call that has moved N bytes."""
    sums = want.setdefault((name, rw), [0, 0, 0, how])
    sums[0] += 1
    sums[1] += n
    sums[2] += not n
    return n


def make(name, flags=os.O_RDWR):
    return os.open(name, flags | os.O_CREAT | os.O_TRUNC, 0o644)


fd = make("cached")  # in the page cache: sums; the last read is at the end of the file
for _ in range(many):
    moved("cached", "W", os.pwrite(fd, b"x" * 100, 0), "sums")
    moved("cached", "R", len(os.pread(fd, 4096, 0)), "sums")
while moved("cached", "R", len(os.read(fd, 64)), "sums"):
    pass
moved("cached", "R", os.preadv(fd, [bytearray(10), bytearray(20)], 0), "sums")
with mmap.mmap(fd, 100) as mapped:  # faults are no calls
    assert mapped[:10] == b"x" * 10
os.close(fd)
try:
    os.read(fd, 1)  # EBADF: a row
except OSError:
    pass

fd = make("appended", os.O_WRONLY | os.O_APPEND)
for _ in range(50):
    moved("appended", "W", os.write(fd, b"line\n"), "sums")
os.close(fd)

fd = make("synced", os.O_WRONLY | os.O_DSYNC)  # each write is on the disk when it returns
for _ in range(5):
    moved("synced", "W", os.write(fd, b"line\n"), "rows")
os.close(fd)

try:  # past the page cache; some file systems refuse it
    fd = make("direct", os.O_RDWR | os.O_DIRECT)
    with mmap.mmap(-1, 4096) as page:
        moved("direct", "W", os.pwritev(fd, [page], 0), "rows")
        moved("direct", "R", os.preadv(fd, [page], 0), "rows")
    os.close(fd)
except OSError:
    want.pop(("direct", "W"), None)

def disk_bytes():
    """Returns what this process has had read from disks, as the kernel counts it."""
    with open("/proc/self/io", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("read_bytes:"))


fd = make("cold")  # a read that needs the disk, where there is one, has a row however short it is
os.write(fd, b"x" * 65536)
os.fsync(fd)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
before = disk_bytes()
n = len(os.pread(fd, 4096, 8192))
moved("cold", "R", n, "rows" if disk_bytes() > before else "sums")

source, copy = os.open("cached", os.O_RDONLY), make("copy")  # calls between two files have rows
for _ in range(10):
    n = os.sendfile(copy, source, 0, 100)
    moved("copy", "W", n, "rows")
    moved("cached", "R", n, "sums")

for _ in range(20):  # a file deleted and made again is another one
    fd = make("again")
    moved("again", "W", os.write(fd, b"abc"), "sums")
    moved("again", "R", len(os.pread(fd, 3, 0)), "sums")
    os.unlink("again")
    os.close(fd)

ends = socket.socketpair()  # messages have rows
for _ in range(100):
    os.write(ends[0].fileno(), b"message")
    os.read(ends[1].fileno(), 7)

begin = os.pipe()
for _ in range(workers):  # of processes each has sums of its own
    if not os.fork():
        os.close(begin[1])
        os.read(begin[0], 1)
        for _ in range(5):
            os.pread(source, 100, 0)
        os._exit(0)
os.close(begin[1])
for _ in range(workers):
    assert os.wait()[1] == 0
    for _ in range(5):
        moved("cached", "R", 100, "sums")

fds = [make(f"file{n}") for n in range(900 if len(sys.argv) > 3 else 0)]
for _ in range(8):  # more files at a time than a CPU has room for
    for n, fd in enumerate(fds):
        moved(f"file{n}", "W", os.pwrite(fd, b"x", 0), "either")
        moved(f"file{n}", "R", len(os.pread(fd, 1, 0)), "either")

# what Python itself reads and writes afterwards is in no count: of other files
with open("want", "w", encoding="ascii") as out:
    for (name, rw), sums in want.items():
        print(name, rw, *sums, file=out)
PY
interpreter=$(readlink bin/python3)
trace --regions off --min-latency 1s -- "$interpreter" job.py "$many" 20 || fail "job.py: status $?"
check vfs_rw_sums 1000000000 job want
equal "lives of a name" "$({
	col vfs_rw FID 'FILE == "again"'
	col vfs_rw_sums FID 'FILE == "again"'
} | sort -u | wc -l)" 20

[ -z "$slow" ] || exit 0 # the rest does not depend on the kernel
trace --min-latency 20us -- "$W/calls" -t 2 -f 1 -n 20 -T tally dir >pids || fail "20us: status $?"
check vfs_rw_sums 20000 tally tally pids dir some

# requests to a ring have rows, whatever they took
mkdir dir try
if "$W/aio" -n 0 -T tally overflow try >&2; then
	trace --min-latency 1s -- "$W/aio" -T tally uring "$PWD/dir" || fail "io_uring: status $?"
	check requests tally io_uring
fi

totals() {
	"$DLT" report --json "$t" | python3 -c 'import json, sys
r = json.load(sys.stdin)
v = next(p for p in r["probes"] if p["name"] == "vfs_rw")
print(v["reads"]["rows"], v["reads"]["bytes"], v["writes"]["rows"], v["writes"]["bytes"])
print([(t["type"], t["reads"], t["writes"], t["read_bytes"], t["write_bytes"]) for t in r["types"]])
print([(s["source"], s["calls"], s["bytes"]) for s in r["read_sources"]])
print([(f["path"], f["calls"], f["read_bytes"], f["write_bytes"]) for f in r["files_by_bytes"] if "/data" in f["path"]])'
}
cat >plain.py <<'PY'
import os

fd = os.open("data", os.O_RDWR | os.O_CREAT, 0o644)
for n in range(3000):
    os.pwrite(fd, b"x" * 50, n)
    os.pread(fd, 20 + n % 7, n)
PY
trace --regions off -- "$interpreter" -I plain.py || fail "plain.py: status $?"
totals >all
rm data # so that it is created again
trace --regions off --min-latency 1s -- "$interpreter" -I plain.py || fail "plain.py: status $?"
totals >sums
cmp all sums || fail "$(cat all sums)"
"$DLT" report "$t" | grep -q 'are only in sums' || fail "the report does not say what is in sums"

trace --regions off --min-latency 1us -- "$interpreter" job.py 200 20 || fail "1us: status $?"
sed -i 's/sums$/either/' want # some of these calls take less, and some do not
check vfs_rw_sums 1000 job want some

trace --regions off --min-latency 1s -- "$interpreter" job.py 100 500 full || fail "full: status $?"
check vfs_rw_sums 1000000000 job want full
