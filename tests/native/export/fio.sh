#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `export -f fio' has the reads and writes of regular files of each thread, in order, each file open before them, and no
# name of the trace; where fio is installed, it replays all of them, to the byte. What is no regular file is not in it.
. "${0%/*}/../lib.sh"
need python3

cat >job.py <<'PY'
import os
import threading
import time

os.makedirs("d")
for i in range(20):
    with open(f"d/a; b\n{i}", "wb", buffering=0) as f:
        f.write(os.urandom(30000 + i))

def reads(k):
    for i in range(k, 20, 2):
        with open(f"d/a; b\n{i}", "rb", buffering=0) as f:
            while f.read(7000):
                pass
        time.sleep(0.005)

threads = [threading.Thread(target=reads, args=(k,)) for k in (0, 1)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with open("/dev/null", "wb", buffering=0) as f:
    f.write(bytes(1000))
PY
trace -- python3 job.py || fail "status $?"
"$DLT" export -f fio -o out "$t" 2>err || fail "export: status $?: $(cat err)"
grep -q 'of the bytes came from the page cache' err || fail "no word on the page cache: $(cat err)"

cat >sums.py <<'PY'
import collections
import glob
import sys

regular = set()
with open(sys.argv[1] + "/files.out", encoding="ascii") as f:
    f.readline()
    names = f.readline().split("\t")
    for line in f:
        row = dict(zip(names, line.split("\t")))
        if row["TYPE"] == "reg":
            regular.add(row["FID"])
rows, logs = collections.defaultdict(list), {}
with open(sys.argv[1] + "/vfs_rw.out", encoding="ascii") as f:
    f.readline()
    names = f.readline().rstrip("\n").split("\t")
    for line in f:
        row = dict(zip(names, line.rstrip("\n").split("\t")))
        if row["FID"] in regular and int(row["RETURNED"]) > 0:
            rows[row["PID"], row["TID"]].append(
                ({"R": "read", "W": "write"}[row["RW"]], "0-" + row["FID"], row["OFFSET"], row["RETURNED"]))
for path in glob.glob("out/*.iolog"):
    with open(path, encoding="ascii") as f:
        assert f.readline() == "fio version 3 iolog\n", path
        added, opened, last, calls = set(), set(), 0, []
        for line in f:
            time, name, action, *where = line.split()
            assert int(time) >= last, (path, line)
            last = int(time)
            if action == "add":
                assert name not in added, (path, line)
                added.add(name)
            elif action == "open":
                assert name in added and name not in opened, (path, line)
                opened.add(name)
            elif action == "close":
                opened.remove(name)
            else:
                assert name in opened, (path, line)
                calls.append((action, name, *where))
    logs[tuple(path.rpartition("/")[2].partition(".")[0].split("-")[1:])] = calls
assert logs == rows, (logs, rows)
for action in "read", "write":
    found = [int(call[3]) for calls in logs.values() for call in calls if call[0] == action]
    print(action, len(found), sum(found))
PY
python3 sums.py "$t" >sums || fail "$(cat sums)"
[ "$(awk '$1 == "read" { print $2 }' sums)" -ge 100 ] || fail "too few reads: $(cat sums)"
awk '$1 == "write" { exit !($2 >= 20 && $3 >= 600190) }' sums || fail "too few writes: $(cat sums)"
! grep -q 'a; b' out/* || fail "a name of the trace: $(grep 'a; b' out/*)"

mkdir tried tiny
mount -t tmpfs -o size=64k none tiny || fail "tmpfs"
trap 'umount tiny; cleanup' EXIT
! (cd tiny && sh ../out/files.sh 2>../err) || fail "the files have no room there"
grep -Eqx 'the files need [0-9]+ KiB here' err || fail "no word on the room: $(cat err)"
[ -z "$(ls tiny)" ] || fail "files where they have no room"
(cd tried && sh ../out/files.sh) || fail "files.sh: status $?"
[ "$(cat tried/* | wc -c)" -ge 600190 ] || fail "too few bytes are there to be read"

if command -v fio >/dev/null; then
	(cd tried && fio --output-format=json ../out/job.fio >../fio.json) || fail "fio: status $?"
	python3 - >replayed <<'PY' || fail "$(cat fio.json)"
import json
with open("fio.json", encoding="utf-8") as f:
    text = f.read()
jobs = json.loads(text[text.index("{"):])["jobs"]
assert not any(job["error"] for job in jobs)
for action in "read", "write":
    print(action, sum(job[action]["total_ios"] for job in jobs), sum(job[action]["io_bytes"] for job in jobs))
PY
	equal "replayed" "$(cat replayed)" "$(cat sums)"
fi

mkdir 'a:b'
! "$DLT" export -f fio -o 'a:b' "$t" 2>err || fail "a colon is none of a path for fio"
grep -q 'name another one with -o' err || fail "no remedy: $(cat err)"
! "$DLT" export -f fio -o - "$t" 2>err || fail "standard output is no folder"
