#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A report on a part of a trace is about that part alone: 2 and 7 of them add up to the whole, and each says what it lacks.
. "${0%/*}/../lib.sh"
python

cat >job.py <<'END'
import hashlib, json, os, subprocess, sys, threading, time, xml.dom.minidom
with open("data", "wb") as f:
    f.write(os.urandom(8 << 20))
    os.fsync(f.fileno())
begin = time.monotonic()
while time.monotonic() - begin < 0.8:  # computes and reads
    with open("data", "rb") as f:
        hashlib.sha256(f.read()).digest()
print("epoch 0: loss 2", flush=True)
for _ in range(8):
    subprocess.run(["sleep", "0.1"])
time.sleep(0.9)
print("epoch 1: loss 1", flush=True)
END
"$DLT" start -o "$t" -- python3 -B job.py >log 2>&1 || fail "start: $(cat log)"
for n in 1 2 7; do
	python3 -B "$here/checks/parts.py" "$DLT" "$t" "$n" >out 2>&1 || fail "$n parts: $(cat out)"
done

# a part too short for an answer says so, not what the whole job used, and not that the trace lacks sched.out
"$DLT" report --full --from 1 --to 1.04 "$t" >out || fail "report: status $?"
grep -q '^too-short: This part is shorter than 0.5 s' out || fail "40 ms: $(head out)"
! grep -E '^(time|switches|ended|dltraced CPU)  *[0-9]|at most; page faults|trace again|CPU time' out || fail "40 ms of the whole"
# near misses: a little longer, and the end of the job with its status
"$DLT" report --from 1 --to 1.6 "$t" >out || fail "report: status $?"
! grep -q 'too-short' out || fail "0.6 s: $(head -n 3 out)"
"$DLT" report --full --from 1 "$t" | grep -q '^ended  *exit status 0' || fail "to the end: no status"
"$DLT" report --full "$t" >out || fail "report: status $?"
grep -q '^time  *.* on CPUs' out && grep -q '^dltraced CPU' out || fail "the whole: $(head -n 40 out)"

# a phase is the part that it was; epoch 0 alone reads
"$DLT" report --json "$t" >whole.json || fail "report --json: status $?"
for epoch in 0 1; do
	"$DLT" report --json --phase "epoch $epoch" "$t" >part.json || fail "epoch $epoch: status $?"
	python3 -c 'import json, sys
whole, part = (json.load(open(f)) for f in ("whole.json", "part.json"))
epoch = int(sys.argv[1])
phase = next(p for p in whole["timeline"]["phases"] if p["number"] == epoch)
window = part["window"]
reads = sum(f["read_bytes"] for f in part["files_by_bytes"] if f["path"].endswith("/data"))
if [window["begin_ns"], window["end_ns"]] != [phase["begin_ns"], phase["end_ns"]]:
    sys.exit(f"{window} and not {phase}")
if bool(reads) != (epoch == 0):
    sys.exit(f"{reads} bytes read")' $epoch 2>why || fail "epoch $epoch: $(cat why)"
done
"$DLT" report --phase 'epoch 7' "$t" 2>err
equal "no such phase" "$?: $(cat err)" "125: dltraced: error: $t: --phase: there is no phase 'epoch 7'; there are: 'epoch 0', 'epoch 1'"
