#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The report on access.out and alloc.out of a program that knows what it touches: of one block a quarter, of another nothing,
# of a third all. The map of memory has the blocks, and its cells are in them.
. "${0%/*}/../lib.sh"
python

cat >touch.py <<'END'
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: a fault is of a small page
def quarter():
    ctypes.memset(libc.malloc(ctypes.c_size_t(64 << 20)), 1, 16 << 20)
def nothing():
    libc.malloc(ctypes.c_size_t(32 << 20))
def all_of_it():
    ctypes.memset(libc.malloc(ctypes.c_size_t(8 << 20)), 1, 8 << 20)
quarter()
nothing()
all_of_it()
END
trace --probes +alloc,+access --alloc-min 1M -- python3 touch.py 2>err || fail "status $?: $(cat err)"
"$DLT" report --json "$t" >json || fail "report: status $?"
"$DLT" report --svg memory memory.svg "$t" || fail "picture: status $?"
python3 - json memory.svg <<'END' || fail "$(cat json)"
import json, re, sys
report = json.load(open(sys.argv[1]))
sites = {re.search(r"touch\.py:\d+:(\w+)", s["stack"]).group(1): s for s in report["allocs_untouched"] if s["stack"] and "touch.py" in s["stack"]}
# a block of access.out has 64 KiB, and which of its pages were touched is not known
slack = 1 << 16
for name, size, untouched in (("quarter", 64 << 20, 48 << 20), ("nothing", 32 << 20, 32 << 20)):
    s = sites[name]
    assert s["bytes"] == size and s["blocks"] == 1, s
    assert abs(s["untouched_bytes"] - untouched) <= slack, (name, s)
assert sites.get("all_of_it", {"untouched_bytes": 0})["untouched_bytes"] <= slack
assert all(p["source"] == "faults" and p["interval_bytes"] is None for p in report["access_processes"])
assert max(p["touched_bytes"] for p in report["access_processes"]) >= 24 << 20
memory, = report["timeline"]["memory"]
assert memory["sources"] == ["faults"]
large = sorted(b[4] for b in memory["blocks"])[-3:]
assert large == [8 << 20, 32 << 20, 64 << 20], large
cells = {(x + i, y + k) for x, y, w, h, *_ in memory["rects"] for i in range(w) for k in range(h)}
touched = {}
for begin, end, line, lines, size, *_ in memory["blocks"]:
    touched[size] = len({y for _, y in cells if line <= y + 0.5 < line + lines}) / lines
assert abs(touched[64 << 20] - 0.25) < 0.1 and touched[32 << 20] < 0.1 and touched[8 << 20] > 0.8, touched
assert open(sys.argv[2]).read().count("non-scaling-stroke") == len(memory["blocks"])
END
