#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The report on access.out and alloc.out of a program that knows what it touches: of one block a quarter, of another nothing,
# of a third all; of a mapped file three eighths. The map of memory has the blocks, and its cells are in them. By page faults,
# and by accessed bits where the machine has them.
. "${0%/*}/../lib.sh"
preloadable
python

cat >touch.py <<'END'
import ctypes, mmap, time
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: a fault is of a small page
def quarter():
    return libc.malloc(ctypes.c_size_t(64 << 20))
def nothing():
    return libc.malloc(ctypes.c_size_t(32 << 20))
def all_of_it():
    return libc.malloc(ctypes.c_size_t(8 << 20))
with open("mapped", "rb") as f:
    m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
blocks = quarter(), nothing(), all_of_it()
# twice, as an access between the reading and the clearing of a page's bit is missed
for _ in range(2):
    ctypes.memset(blocks[0], 1, 16 << 20)
    ctypes.memset(blocks[2], 1, 8 << 20)
    sum(m[i] for i in range(1 << 20, 4 << 20, 4096))
    time.sleep(0.4)
END
truncate -s 8M mapped

# try SOURCE
try() {
	trace --probes +alloc,+access --access "$1" --alloc min=1M -- python3 touch.py 2>err || fail "$1: status $?: $(cat err)"
	"$DLT" report --json "$t" >json || fail "report: status $?"
	"$DLT" report "$t" | tr '\n' ' ' | tr -s ' ' | grep -q 'of 104 MiB that were watched, nothing touched 80.* MiB' || fail "screen: $("$DLT" report "$t")"
	"$DLT" report --svg memory memory.svg "$t" || fail "picture: status $?"
	python3 -B "$here/checks/touched.py" json memory.svg "$1" || fail "$1: $(cat json)"
}

try faults
if "$DLT" start -q --collectors none -P +access --access pages --min-free 0 -o probe -- true 2>err; then
	try pages
else
	grep -q 'use --access faults' err || fail "--access pages: $(cat err)"
	echo "note: without accessed bits: $(cat err)"
fi
