#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The table of data sets: a job counts what it does with each of its data sets, and how long. The table must have the
# same counts and no more time, and its rows together all that the trace has on files.
. "${0%/*}/../lib.sh"
need python3 mkfs.ext4
disk_ext4 256M

# Images in folders of classes, shards, a mapped file of tokens, and a folder that is read only from the disk.
cat >job.py <<'END'
import json, mmap, os, sys, time
root, job = sys.argv[1:3]
done = {}

def tally(name):
    return done.setdefault(f"{root}/{name}", dict(files=set(), opens=0, read_bytes=0, write_bytes=0, mapped_bytes=0, ns=0))

def make(path, size):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(os.urandom(size))

def use(name, path, read=True, length=None):
    t, begin = tally(name), time.monotonic_ns()
    fd = os.open(f"{root}/{path}", os.O_RDONLY)
    t["opens"] += 1
    t["files"].add(path)
    while read and (piece := os.read(fd, 65536)):
        t["read_bytes"] += len(piece)
    if length:
        mmap.mmap(fd, length, prot=mmap.PROT_READ).close()  # which maps a duplicate of the descriptor
        t["mapped_bytes"] += length
    os.close(fd)
    t["ns"] += time.monotonic_ns() - begin

images = [f"set/train/class{c:02}/{i}.jpg" for c in range(20) for i in range(10)]
shards = [f"shards/{i:03}.tar" for i in range(4)]
odd = [f"odd\n name\\040/{i} \t" for i in range(30)]
if job == "prepare":
    for path in images:
        make(f"{root}/{path}", 9000)
    for path in shards:
        make(f"{root}/{path}", 5 << 20)
    for path in odd:
        make(f"{root}/{path}", 700)
    make(f"{root}/corpus/meta.json", 100)
    with open(f"{root}/corpus/tokens.bin", "wb") as f:
        f.truncate(64 << 20)
    sys.exit()
for path in images + images:
    use("set/train", path)
for path in shards:
    use("shards", path)
for path in odd:
    use("odd\n name\\040", path)
for _ in range(3):
    use("corpus/tokens.bin", "corpus/tokens.bin", read=False, length=64 << 20)
use("corpus/meta.json", "corpus/meta.json")
t = tally("out/ckpt")
begin = time.monotonic_ns()
os.makedirs(f"{root}/out/ckpt")
t["ns"] += time.monotonic_ns() - begin
for i in range(3):
    begin = time.monotonic_ns()
    fd = os.open(f"{root}/out/ckpt/{i}.pt", os.O_WRONLY | os.O_CREAT)
    t["opens"] += 1
    t["files"].add(i)
    t["write_bytes"] += os.write(fd, bytes(3 << 20))
    os.fsync(fd)
    os.close(fd)
    t["ns"] += time.monotonic_ns() - begin
for t in done.values():
    t["files"] = len(t["files"])
with open(job, "w") as f:
    json.dump(done, f)
END
python3 -B job.py "$mnt" prepare || fail "prepare: status $?"
# the page cache no longer has the files there
umount "$mnt" && mount "$loop" "$mnt" || fail "mount again"
trace -- python3 -B job.py "$mnt" "$TMPDIR/account" >out || fail "the workload: status $?"
check whole
"$DLT" report --json "$t" >json || fail "report --json: status $?"
check datasets json account
"$DLT" report --full "$t" >text || fail "report: status $?"
grep -q " data  *disk  *$mnt/set/train\$" text || fail "no such data set: $(sed -n '/^Data sets/,/^$/p' text)"
"$DLT" report --csv csv "$t" >/dev/null || fail "report --csv: status $?"
python3 - <<'END' || fail "datasets.csv: $(cat csv/datasets.csv)"
import csv, json, re, sys
plain = lambda path: path and re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), path.encode()).decode()
with open("csv/datasets.csv", encoding="utf-8", newline="") as f:
    rows = [(r["path"] or None, int(r["files"]), int(r["mapped_bytes"])) for r in csv.DictReader(f)]
sys.exit(rows != [(plain(d["path"]), d["files"], d["mapped_bytes"]) for d in json.load(open("json"))["datasets"]])
END
# with a path, the sums are those of the calls there
"$DLT" report --json --path "$mnt/shards" "$t" >json || fail "report --path: status $?"
python3 - "$mnt" <<'END' || fail "--path"
import json, sys
sets = json.load(open("json"))["datasets"]
sys.exit([(d["path"], d["files"], d["read_bytes"]) for d in sets] != [(sys.argv[1] + "/shards", 4, 4 * 5 << 20)])
END
