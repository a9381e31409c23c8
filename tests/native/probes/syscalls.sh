#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# syscalls.out: each call of threads and forked processes, some of which fail, is in a sum, under its name and process,
# as the job and strace -c count them, with rows each interval and at the end. The call of a thread that has been asleep
# since before the trace is not counted. The report has the sums of all rows. It costs nothing if it is not requested: nothing is attached.
. "${0%/*}/../lib.sh"

need strace
python=/usr/bin/python3 # the interpreter itself: a wrapper script would make calls of its own
[ -x "$python" ] || skip "$python"
cat >job.py <<'PY'
import os
import sys
import threading
import time


def calls(n):
    for _ in range(n):
        os.getppid()
        try:
            os.rmdir("/no/such/folder")
        except OSError:
            pass


threads = [threading.Thread(target=calls, args=(2000,)) for _ in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
if len(sys.argv) > 1:
    time.sleep(float(sys.argv[1]))  # rows of more than one interval
for i in range(20):
    if not os.fork():
        calls(100 + i)
        os._exit(0)
    os.wait()
PY

trace --probes syscalls,time_align -- "$python" job.py 1.5 || fail "status $?"
strace -qq -f -c -e trace=getppid,?rmdir,unlinkat,exit_group,wait4 -o counts "$python" job.py || fail "strace: $?"
check syscalls counts

"$DLT" report --json --csv csv "$t" >json || fail "report: status $?"
"$DLT" report --full "$t" >full || fail "report --full: status $?"
"$python" - "$t/syscalls.out" <<'PY' || fail "the lines above"
import collections
import csv
import json
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    rows = list(csv.DictReader(f.readlines()[1:], delimiter="\t", quoting=csv.QUOTE_NONE))
by_call, by_process = collections.defaultdict(lambda: [0, 0, 0, 0, set()]), collections.defaultdict(lambda: [0, 0, 0, 0, set()])
for row in rows:
    for sums in by_call[row["CALL"]], by_process[int(row["PID"]), row["CALL"]]:
        for i, column in enumerate(("COUNT", "FAILED", "TIME_NS")):
            sums[i] += int(row[column])
        sums[3] = max(sums[3], int(row["MAX_NS"]))
        sums[4].add(row["PID"])
with open("json", encoding="utf-8") as f:
    report = json.load(f)
keys = "calls", "failed", "time_ns", "max_ns"
assert {r["call"]: [*(r[k] for k in keys), r["processes"]] for r in report["syscalls"]} == {
    call: [*sums[:4], len(sums[4])] for call, sums in by_call.items()}, report["syscalls"]
assert {(r["pid"], r["call"]): [r[k] for k in keys] for r in report["syscalls_by_process"]} == {
    pair: sums[:4] for pair, sums in by_process.items()}, report["syscalls_by_process"]
times = [r["time_ns"] for r in report["syscalls"]]
assert times == sorted(times, reverse=True) and len(by_process) > 40, times
with open("csv/syscalls_by_process.csv", encoding="utf-8", newline="") as f:
    assert {(int(r["pid"]), r["call"]): int(r["failed"]) for r in csv.DictReader(f)} == {
        pair: sums[1] for pair, sums in by_process.items()}
with open("full", encoding="utf-8") as f:
    text = f.read()
assert "System calls, by process" in text and " getppid\n" in text, text
PY
trace --probes vfs_rw -- true || fail "without it: status $?"
[ ! -e "$t/syscalls.out" ] || fail "syscalls.out is there without being asked for"
