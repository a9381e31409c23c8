#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The account of a job that touches pages of a mapped file has the time of its rows in fault.out as page faults, at most
# what the job measures around them, and the verdict names the file. A trace without fault.out is reported as before.
. "${0%/*}/../lib.sh"

disk_ext4 128M
dd if=/dev/urandom of="$mnt/tokens.bin" bs=1M count=64 conv=fsync 2>err || fail "$(cat err)"
cat >job.py <<'PY'
import mmap
import os
import sys
import time

fd = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
pages = mmap.mmap(fd, 64 << 20, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE)
pages.madvise(mmap.MADV_RANDOM)
ns = 0
for i in range(8000):
    begin = time.monotonic_ns()
    pages[i * 2053 % 16384 * 4096]
    ns += time.monotonic_ns() - begin
print(ns)
PY

# account COLUMN: a value of the main process.
account() {
	"$DLT" report --json "$t" 2>err | python3 -c '
import json, sys

def find(o):
    if isinstance(o, dict):
        for key, value in o.items():
            if key == "account" and isinstance(value, list):
                yield value
            yield from find(value)

print(next(a[sys.argv[1]] for a in next(find(json.load(sys.stdin))) if a["role"] == "main"))' "$1" || fail "report: $(cat err)"
}

trace -- python3 job.py "$mnt/tokens.bin" >job_ns 2>err || fail "status $?: $(cat err)"
check whole
rows_ns=$(col fault LAT_NS 'FILE == "tokens.bin"' | awk '{ n += $1 } END { printf "%d", n }')
fault_ns=$(account fault_ns)
python3 -c '
import sys
rows, account, job = map(int, sys.argv[1:])
sys.exit(not (0 < rows <= job and 0.95 * rows <= account <= 1.2 * job))' "$rows_ns" "$fault_ns" "$(cat job_ns)" ||
	fail "rows have $rows_ns ns, the account $fault_ns ns, the job $(cat job_ns) ns"
"$DLT" report "$t" >text 2>err || fail "report: $(cat err)"
"$DLT" report --full "$t" >full 2>err || fail "report --full: $(cat err)"
grep -q 'pages of .*/tokens.bin: 8.* faults' full || fail "the file is not named: $(grep -n fault full)"
rm "$t/fault.out"
"$DLT" report "$t" >text 2>err || fail "report without fault.out: $(cat err)"
