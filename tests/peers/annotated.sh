#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A job with DFTracer's annotations, by the names of the package dltraced, leaves the regions that DFTracer writes for
# it, and those that --regions auto finds where DFTracer is off.
native=${0%/*}/../native
. "$native/lib.sh"
python=$("$native/../peers/environment") || fail "no environment"
job=$native/../workloads/annotated.py
export PYTHONDONTWRITEBYTECODE=1

DFTRACER_ENABLE=1 DFTRACER_INC_METADATA=1 DFTRACER_TRACE_COMPRESSION=0 "$python" "$job" theirs >log 2>&1 || fail "DFTracer: $(cat log)"
set -- "$TMPDIR"/theirs/job*.pfw
[ -e "$1" ] || fail "no .pfw: $(ls theirs)"
trace --regions auto -- "$python" "$job" plain >log 2>&1 || fail "--regions auto: $(cat log)"
mv "$t" auto
PYTHONPATH=$(cd "$native/../../python" && pwd) trace -- "$python" "$job" ours data >log 2>&1 || fail "our names: $(cat log)"
check annotated auto "$@"

# DFTracer's own file, joined: the steps that it shows, with the trace's processes; also where the trace has collected it.
DFTRACER_ENABLE=1 DFTRACER_INC_METADATA=1 trace --collect "$TMPDIR/joined/*.pfw*" -- "$python" "$job" joined >log 2>&1 || fail "DFTracer, traced: $(cat log)"
for file in joined/job*.pfw*; do
	"$DLT" report --json --app-log "$file" "$t" >report.json || fail "report --app-log"
done
"$DLT" report --json "$t" >collected.json || fail "report, collected"
python3 -c 'import json
a, b = (json.load(open(name))["steps"] for name in ("report.json", "collected.json"))
assert a == b != [], (a, b)' || fail "the collected .pfw: $(ls -R "$t/collected")"
python3 - report.json "$(manifest 'm["workload"]["pid"]')" <<'PY' || fail "the steps of the .pfw"
import json, sys

report = json.load(open(sys.argv[1]))
steps = [(s["epoch"], s["steps"], s["pid"]) for s in report["steps"]]
assert steps == [(epoch, 6, int(sys.argv[2])) for epoch in range(3)], (steps, report["missing"])
assert all(s["fetch_ns"] > 6e6 and s["compute_ns"] for s in report["steps"]), report["steps"]
assert sum(s["checkpoint_ns"] > 0 for s in report["steps"]) == 2, report["steps"]  # one is before the next epoch's first step
assert {p["source"] for p in report["timeline"]["phases"]} == {"regions"}, report["timeline"]["phases"]
PY
