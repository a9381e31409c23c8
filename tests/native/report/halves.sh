#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A job whose time goes to two causes alike, to reads from a disk and to computing, has the one or the other as its answer
# from run to run. Then each answer names the other, too: causes.py halves, three times.
#
# alone: shares of the time in jobs of few seconds
. "${0%/*}/../verdicts.inc"
export PYTHONDONTWRITEBYTECODE=1

slow_disk 64M read=6 write=6
mkdir disk/reads
python3 -c 'import os
for number in range(40):
    with open(f"disk/reads/sample-{number:04}", "wb") as f:
        f.write(os.urandom(200000))' || fail "samples"

judged=''
for run in 1 2 3; do
	cold
	rm -rf "$t" account
	"$first" "$DLT" start -q -o "$t" -- "$here/../workloads/causes.py" halves disk/reads --account account >log 2>&1 ||
		fail "status $?: $(cat log)"
	"$DLT" report --json "$t" >report.json || fail "report --json: status $?"
	python3 -B - report.json <<'PY' && judged="$judged $run"
import json, sys

with open(sys.argv[1], encoding="utf-8") as f:
    report = json.load(f)
answer, path = report["bottleneck"], report["path"]
spent = {code: sum(part["ns"] for part in path["parts"] if part["kind"] in kinds) / path["wall_ns"]
         for code, kinds in (("storage-read", ("disk-read",)), ("cpu-bound", ("cpu", "cpu-read")))}
print(answer["code"], spent)
if min(spent.values()) < 0.55 * max(spent.values()):
    sys.exit(75)  # a machine that is busy: they were not alike
other, = set(spent) - {answer["code"]}
if not any(line.startswith(f"another cause is about as large: {other}") for line in answer["evidence"]):
    sys.exit(f"run: {answer}")
PY
	rc=$?
	[ $rc = 0 ] || [ $rc = 75 ] || fail "run $run"
done
[ "$judged" ] || skip "a machine that is not so busy"
