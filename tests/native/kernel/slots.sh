#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# If a thread's slot for calls in flight is occupied by another thread, its call is kept beside the slots, and still
# becomes a row. If an old call is still in the slot, because the kernel skipped its end, it is counted as lost when the
# thread makes its next call, and the place is freed. No kernel skips on demand, so the test puts such a call there with
# bpftool.
. "${0%/*}/../lib.sh"
need bpftool python3
gate

printf 0123456789 >data
cat >spin.py <<'END'
import os, signal, sys
go = []
signal.signal(signal.SIGUSR1, lambda *_: go.append(1))
fd = os.open("data", os.O_RDONLY)
open("spins", "w").close()
while not go:  # in no call
    pass
for _ in range(10):
    os.read(fd, 1)
open("has-read", "w").close()
END
cat >slots.py <<'END'
import glob, json, subprocess, sys
dlt, spinner, waiter, what = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]

def bpftool(*words):
    return json.loads(subprocess.check_output(["bpftool", "-j", "map", *words]) or "{}")

def words(data):
    return ["hex", *("%02x" % b for b in data)]

def number(n):
    return n.to_bytes(4, "little")

maps = {}
for file in glob.glob("/proc/%d/fdinfo/*" % dlt):
    ids = [line.split()[1] for line in open(file) if line.startswith("map_id:")]
    for id in ids:
        m = bpftool("show", "id", id)
        maps[m["name"]] = m

def get(name, key):
    value = bpftool("lookup", "id", str(maps[name]["id"]), "key", *words(number(key)))["value"]
    return bytes(int(b, 16) for b in value)

def put(name, key, value):
    bpftool("update", "id", str(maps[name]["id"]), "key", *words(number(key)), "value", *words(value))

slot = spinner % maps["dlt_calls"]["max_entries"]
shared = get("dlt_shared", 0)
if what == "take":
    call = get("dlt_calls", waiter % maps["dlt_calls"]["max_entries"])
    if call[8:12] != number(waiter) or any(get("dlt_calls", slot)[8:12]):
        sys.exit("the slots are not as they should be")
    put("dlt_calls", slot, call)
    put("dlt_overflow", spinner, call[:8] + number(spinner) + call[12:])
    put("dlt_shared", 0, (1).to_bytes(8, "little") + shared[8:])
else:
    put("dlt_calls", slot, bytes(len(get("dlt_calls", slot))))
    print(int.from_bytes(shared[:8], "little"), len(bpftool("dump", "id", str(maps["dlt_overflow"]["id"]))))
END

spawn -- sh -c 'echo $$ >waiter; python3 spin.py & echo $! >spinner; read _ <gate; wait'
await test -e spins
waits() { at_gate "$(cat waiter)"; }
await waits
slots() { python3 -B slots.py "$dlt" "$(cat spinner)" "$(cat waiter)" "$1" || fail "slots: $1"; }
slots take
kill -USR1 "$(cat spinner)"
await test -e has-read
equal "calls beside the slots, as counted and there" "$(slots "give back")" "0 0"
echo >&9
join
equal "status" $rc 0
equal "reads" "$(rows vfs_rw 'FUNC == "read" && FILE == "data"' | wc -l)" 10
equal "lost" "$(manifest '[p["name"] for p in m["probes"] if p["lost"]], sum(p["lost"] for p in m["probes"])')" "(['vfs_rw'], 1)"
