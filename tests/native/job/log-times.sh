#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# With --log as without, on a terminal or not, an epoch begins and ends when the job wrote the lines that say so: between
# the job's own looks at its clock before and after each. workload.log has the whole output; rules of the report find
# lines there that are about no phase by themselves.
. "${0%/*}/../lib.sh"
python
cat >job.py <<'PY'
import json
import os
import time

looks = []
for e in range(1, 13):
    for line in (f"Starting epoch {e}", f"Ending epoch {e}"):
        before = time.monotonic_ns()
        os.write(1, f"{line}\nstage {e}\n".encode())
        looks.append((before, time.monotonic_ns()))
        time.sleep(0.02)
json.dump(looks, open("looks", "w"))
PY
cat >check.py <<'PY'
import json
import sys

with open("looks") as f:
    looks = json.load(f)
timeline = json.load(sys.stdin)["timeline"]
epochs = [p for p in timeline["phases"] if p["kind"] == "epoch"]
assert [p["number"] for p in epochs] == list(range(1, 13)), epochs
for i, phase in enumerate(epochs):
    for at, (before, after) in zip((phase["begin_ns"], phase["end_ns"]), looks[2 * i:2 * i + 2]):
        assert before <= at <= after, (i, at - before, after - before)
PY
for log in '' --log; do
	# shellcheck disable=SC2086 # a word or none
	trace $log -P vfs_rw,printed -- python3 job.py >out 2>err || fail "$log: status $?: $(cat err)"
	equal "lines$log" "$(grep -c 'ing epoch ' out)" 24
	[ -e "$t/printed.out" ] || fail "$log: no printed.out"
	"$DLT" report --json "$t" >json || fail "report$log: status $?"
	python3 check.py <json || fail "$log: the lines above"
done
equal "the whole output" "$(cat "$t/workload.log")" "$(cat out)"
"$DLT" report --json --phase '^stage ([0-9]+)=stage \1' "$t" >json || fail "--phase: status $?"
grep -q '"stage 12"' json || fail "a rule of the report has no phase: $(cat json)"
# a trace of an older version, or one without it
rm "$t/printed.out"
"$DLT" report --json "$t" | python3 -c '
import json, sys
sys.exit(len([p for p in json.load(sys.stdin)["timeline"]["phases"] if p["kind"] == "epoch"]) != 12)' || fail "without printed.out"
