#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What an epoch of a real PyTorch job would take with changes: the report knows its batches, workers and prefetch_factor,
# replays it, and predicts each change within its range, or says why it does not; so does a job without workers.
# How far predictions are off is measured by tests/what-if/run.
. "${0%/*}/../lib.sh"
python torch
export PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
job=$here/../what-if/jobs.py

# predicted WORKERS PREFETCH: the report on the trace, with changes
predicted() {
	"$DLT" report --json --what-if workers=4,prefetch=1 --what-if decode=2x --what-if checkpoint=none --what-if ready "$t" >report.json ||
		fail "report: status $?"
	python3 - "$1" "$2" <<'PY' || fail "not the predictions of this job"
import json
import sys

with open("report.json", encoding="utf-8") as file:
    report = json.load(file)
what_if, rows = report["what_if"], report["what_if_changes"]
assert what_if["batches"] == 24 and what_if["epoch"] == 0, what_if
if what_if["refused"]:  # on a machine that does other work meanwhile
    assert "replayed" in what_if["refused"] or "lacks rows" in what_if["refused"], what_if
    print("note:", what_if["refused"])
    sys.exit()
model = what_if["model"]
assert model["workers"] == int(sys.argv[1]) and model["prefetch"] == int(sys.argv[2]) and not model["assumed"], model
assert abs(what_if["error"]) <= 0.1, what_if
assert [row["change"] for row in rows] == ["workers=4,prefetch=1", "decode=2x", "checkpoint=none", "ready"], rows
for row in rows:
    if row["refused"]:
        assert row["change"] in ("checkpoint=none", "workers=4,prefetch=1"), row
        continue
    assert 0 < row["low_ns"] <= row["high_ns"] and row["limited_by"], row
    assert row["time_ns"] is None or row["low_ns"] <= row["time_ns"] <= row["high_ns"], row
ready = rows[3]
assert ready["low_ns"] < what_if["measured_ns"], (ready, what_if)
PY
}

trace --regions auto -- python3 "$job" data=cpu workers=2 prefetch=3 batch=4 n=96 ms=2 step=4 >log 2>err || fail "the job: $(cat err)"
predicted 2 3
"$DLT" report --what-if workers=1 "$t" >text || fail "report as text: status $?"
grep -q '^What if: the longest epoch' text || fail "no table: $(cat text)"
trace --regions auto -- python3 "$job" data=cpu workers=0 batch=4 n=96 ms=2 step=4 >log 2>err || fail "the job without workers: $(cat err)"
predicted 0 2

"$DLT" report --what-if workers=many "$t" >out 2>err && fail "workers=many is no change"
grep -q 'workers=N' err || fail "$(cat err)"
"$DLT" report --what-if faster "$t" >out 2>err && fail "faster is no change"
grep -q 'storage=Kx' err || fail "$(cat err)"
