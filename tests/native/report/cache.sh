#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The page cache in the report: the table's sums are those of cache.out by awk. A job with a read-ahead of 1 MiB for
# each 64 KiB that it reads wastes fifteen sixteenths; a job that reads all of it wastes nothing. A file that is read,
# dropped and read again came in twice, by the cache's own count.
. "${0%/*}/../lib.sh"
need python3

disk_ext4 128M
cat >job.py <<'PY'
import os
import sys

how, path = sys.argv[1:]
MIB = 1 << 20
fd = os.open(path, os.O_RDONLY)
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
for epoch in range(2 if how == "twice" else 1):
    for at in range(0, 32 * MIB, MIB):
        if how != "twice":
            os.posix_fadvise(fd, at, MIB, os.POSIX_FADV_WILLNEED)
        os.pread(fd, MIB // 16 if how == "part" else MIB, at)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
PY
dd if=/dev/urandom of="$mnt/data.bin" bs=1M count=32 conv=fsync 2>err || fail "$(cat err)"

# measure CODE: of the finding or fact with this code; none where there is none.
measure() {
	python3 -c '
import json, sys
r = json.load(open("json"))
print(next((f["measure"] for f in r["rules"] + r["facts"] if f["code"] == sys.argv[1]), "none"))' "$1"
}

# job HOW: traced, with its report.
job() {
	trace --probes cache,close,open,vfs_rw,time_align -- sh -c "$long" sh python3 job.py "$1" "$mnt/data.bin" 2>err || fail "$1: status $?: $(cat err)"
	"$DLT" report --json "$t" >json 2>err || fail "report: $(cat err)"
	page=$(manifest 'm["machine"]["page_bytes"]')
	for column in HIT MISS AHEAD USED EVICTED WASTED; do
		key=$(echo $column | tr '[:upper:]' '[:lower:]')_bytes
		want=$(col cache $column | awk -v page="$page" '{ n += $1 * page } END { printf "%.0f", n }')
		equal "$1: $key" "$(python3 -c 'import json, sys; print(sum(row[sys.argv[1]] for row in json.load(open("json"))["page_cache"]))' "$key")" "$want"
	done
}

job part
python3 -c 'import sys; sys.exit(not 0.9 < float(sys.argv[1]) < 0.95)' "$(measure read-ahead-waste)" 2>err || fail "of a part: $(measure read-ahead-waste)"
equal "again, of a part" "$(measure cache-too-small)" none
job whole
equal "waste of what is read whole" "$(measure read-ahead-waste)" none
job twice
python3 -c 'import sys; sys.exit(not 0.49 < float(sys.argv[1]) < 0.51)' "$(measure cache-too-small)" 2>err || fail "twice: $(measure cache-too-small)"
python3 -c '
import json, sys
row = next(row for row in json.load(open("json"))["page_cache"] if (row["path"] or "").endswith("/data.bin"))
sys.exit(row["again_bytes"] != 32 << 20)' || fail "again: $(rows cache)"

# Each epoch has the pages that came in during it, and those that were there: the first and the third epoch read from
# the disk, the second from the cache. Between two epochs nothing happens for longer than an interval, except on a slow
# machine: then the test is tried again.
cat >epochs.py <<'PY'
import os
import sys
import time

fd = os.open(sys.argv[1], os.O_RDONLY)
time.sleep(1.2)
for epoch in 1, 2, 3:
    print(f"Epoch {epoch}/3", flush=True)
    time.sleep(1.2)
    for at in range(0, 32 << 20, 1 << 20):
        os.pread(fd, 1 << 20, at)
    time.sleep(1.2)
    if epoch == 2:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
PY
cat >by-epoch.py <<'PY'
import json

DATA = 32 << 20
rows = json.load(open("json"))["page_cache_epochs"]
assert len(rows) == 3, rows
for row, cold in zip(rows, (True, False, True)):
    assert abs(row["read_bytes"] - DATA) < DATA / 50, row
    came = row["miss_bytes"] + row["ahead_bytes"]
    assert abs(came - DATA) < DATA / 50 if cold else came < DATA / 50, row
    assert cold or row["hit_share"] > 0.98, row
PY
epochs() {
	echo 1 >/proc/sys/vm/drop_caches
	trace --probes +cache -- python3 epochs.py "$mnt/data.bin" >out 2>err || fail "epochs: status $?: $(cat err)"
	"$DLT" report --json "$t" >json 2>err || fail "report of epochs: $(cat err)"
	python3 by-epoch.py 2>err
}
epochs || epochs || epochs || fail "by epoch: $(tail -n 1 err)"
"$DLT" report --full "$t" | grep -q '^Page cache by epoch' || fail "no table by epoch"

# Where epochs are live regions, each has all of its own, to the page, though they follow one another without a pause: what
# comes from the disk, what is there already, and what is dropped. The daemon needs a moment to send the sums of one epoch
# before the next one ends, and a slow machine more of them: then the test is tried again.
cat >regions.py <<'PY'
import os
import sys
import time

from dltraced import ai

fd = os.open(sys.argv[1], os.O_RDONLY)
for epoch in ai.pipeline.epoch.iter(range(3)):
    time.sleep(0.3)
    for at in range(0, 32 << 20, 1 << 20):
        os.pread(fd, 1 << 20, at)
    if epoch == 1:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
PY
cat >exactly.py <<'PY'
import json

DATA = 32 << 20
rows = json.load(open("json"))["page_cache_epochs"]
got = [[row["read_bytes"], row["hit_bytes"] + row["miss_bytes"], row["miss_bytes"] + row["ahead_bytes"], row["evicted_bytes"]]
       for row in rows]
assert got == [[DATA, DATA, DATA, 0], [DATA, DATA, 0, DATA], [DATA, DATA, DATA, 0]], got
PY
PYTHONPATH=$(cd "$here/../../python" && pwd)
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
regions() {
	echo 1 >/proc/sys/vm/drop_caches
	trace --probes +cache -- python3 regions.py "$mnt/data.bin" >out 2>err || fail "regions: status $?: $(cat err)"
	"$DLT" report --json "$t" >json 2>err || fail "report of regions: $(cat err)"
	python3 exactly.py 2>err
}
regions || regions || regions || fail "epochs that are regions: $(tail -n 1 err); $(rows cache 'FILE == "data.bin"')"
