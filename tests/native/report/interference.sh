#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A job reads from a disk that serves one request after the other, first alone, then beside another process that writes
# there. The report finds that reads waited for writes, with the share that the job's own clock shows, and with the writer
# and its file. Where a write took longer than the rule looks back, the share is a part of the job's. For a job that only
# reads it finds nothing.
. "${0%/*}/../verdicts.inc"

slow_disk 160M read=50 write=4
dd if=/dev/urandom of=disk/data.bin bs=1M count=64 conv=fsync 2>err || fail "$(cat err)"
dd if=/dev/zero of=disk/model.pt bs=1M count=32 conv=fsync 2>err || fail "$(cat err)"
cat >job.py <<'PY'
import json
import mmap
import os
import signal
import sys
import time

PAGE, READS, PIECE = 4096, 300, 1 << 13
# numbers of writes, and of those that took so long that the report may not see the reads that waited for them
counts = memoryview(mmap.mmap(-1, PAGE)).cast("Q")


def write(start):
    memory = mmap.mmap(-1, PIECE)
    fd = os.open("disk/model.pt", os.O_WRONLY | os.O_DIRECT)
    os.read(start, 1)
    for i in range(1 << 20):
        begin = time.monotonic_ns()
        os.pwritev(fd, [memory], i * PIECE % (32 << 20))
        counts[0] += 1
        counts[1] += time.monotonic_ns() - begin > 9000000


def reads(fd, first):
    memory, took = mmap.mmap(-1, PAGE), []
    for i in range(first, first + READS):
        begin = time.monotonic_ns()
        os.preadv(fd, [memory], i * 20 * PAGE)
        took.append(time.monotonic_ns() - begin)
        time.sleep(0.001)
    return took


writes = sys.argv[1] == "beside"
ready, start = os.pipe()
writer = os.fork() if writes else 0
if writes and not writer:
    write(ready)
fd = os.open("disk/data.bin", os.O_RDONLY | os.O_DIRECT)
alone = reads(fd, 0)
os.write(start, b".")
time.sleep(0.1)
beside = reads(fd, READS)
if writes:
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
print(json.dumps({"writer": writer, "alone": alone, "beside": beside, "slow": counts[1] / max(counts[0], 1)}))
PY
cat >judge.py <<'PY'
import json
import sys

job, r = json.load(open("out")), json.load(open("json"))
alone, beside = sum(job["alone"]), sum(job["beside"])
own = (beside - alone) / (alone + beside)  # as many reads of either
finding = next((f for f in r["rules"] + r["facts"] if f["code"] == "write-back-interference"), None)
if not job["writer"]:
    assert not finding, finding
else:
    if job["slow"] > 0.1 or own < 0.4:
        print(f"no answer: {job['slow']:.2f} of the writes were slow, reads waited {own:.2f} of the time", file=sys.stderr)
        sys.exit(75)
    print(f"{finding and finding['measure']}, the job has {own:.3f}", file=sys.stderr)
    assert finding, f"no finding, the job has {own}: {[f['code'] for f in r['rules'] + r['facts']]}"
    least = 0.2 if job["slow"] else own - 0.15
    assert least <= finding["measure"] <= own + 0.1, (finding, own)
    assert any(f"process {job['writer']} (" in line and "not of the job" not in line for line in finding["evidence"]), finding
    assert any("model.pt" in line for line in finding["evidence"]), finding
PY

# job HOW: traced, reported and judged.
job() {
	slow
	trace --probes bio,open,close,vfs_rw,time_align --disk "$disk" -- "$first" /usr/bin/python3 job.py "$1" >out 2>err ||
		fail "$1: status $?: $(cat err)"
	fast
	"$DLT" report --json "$t" >json 2>err || fail "report: $(cat err)"
	python3 judge.py 2>judged
	verdict=$?
	[ $verdict = 0 ] || [ $verdict = 75 ] || fail "$1: $(tail -n 1 judged)"
	[ ! -s judged ] || echo "note: $1: $(tail -n 1 judged)"
	return $verdict
}
job alone
for try in 1 2 3; do
	job beside && exit
done
skip "a machine that is not so busy"
