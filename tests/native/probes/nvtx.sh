#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# start --regions nvtx: each range and mark that a program makes by NVTX has a row in regions.out, with its domain, its text and its
# times, whatever thread, process or handler it is in. The library of another tool keeps its ranges: the start is refused
# then, and where ours is not installed. Nothing is sent where regions are switched off, and without the option the
# environment stays as it was.
. "${0%/*}/../lib.sh"

python
trace --regions nvtx -P regions,time_align -- "$W/nvtx" tally >out 2>err || fail "status $?: $(cat out err)"
equal "what it prints" "$(cat out)" ""
check nvtx tally 8000
equal "the manifest's nvtx" "$(manifest 'm["nvtx"]')" True
equal "its rows in the manifest" "$(manifest '[p["nvtx"] == p["rows"] > 0 for p in m["probes"] if p["name"] == "regions"]')" "[True]"
equal "messages" "$(messages)" ""

# by the names that the report knows, a program with nothing but NVTX has steps
trace --regions nvtx -P regions,time_align -- "$W/nvtx" train || fail "train: status $?"
equal "numbers of steps" "$(col regions STEP 'CAT == "compute"' | paste -sd ' ')" "0 1 2 3 4 5 6 7 8 9"
equal "numbers of epochs" "$(col regions EPOCH 'CAT == "pipeline"' | paste -sd ' ')" "0 1"
"$DLT" report --json "$t" >report.json || fail "report: status $?"
equal "steps of the report" "$(python3 -c 'import json
print([(s["epoch"], s["steps"]) for s in json.load(open("report.json"))["steps"]])')" "[(0, 5), (1, 5)]"

DLTRACED_REGIONS=0 trace --regions nvtx -P regions -- "$W/nvtx" tally >out 2>err || fail "switched off: status $?"
equal "switched off" "$(cat out)" "no library"
grep -q 'no range came by NVTX' err || fail "nothing is said of it: $(cat err)"
equal "rows where it is switched off" "$(grep -c '^[0-9]' "$t/regions.out")" 0

# shellcheck disable=SC2016
trace -P regions -- sh -c 'echo "${NVTX_INJECTION64_PATH-none}"' >out || fail "without it: status $?"
equal "the variable without --regions nvtx" "$(cat out)" none
equal "the manifest without it" "$(manifest 'm.get("nvtx")')" None

# refused, before the workload runs
NVTX_INJECTION64_PATH=/opt/nsys/libinjection.so trace --regions nvtx -- touch ran 2>err
equal "status with another library" $? 125
grep -q '/opt/nsys/libinjection.so is in the environment' err || fail "another library: $(cat err)"
mkdir "with blank"
cp "$DLT" "with blank"
DLT="$TMPDIR/with blank/dltraced" trace --regions nvtx -- touch ran 2>err
equal "status without our library" $? 125
grep -q 'libdltraced-nvtx.so is not beside this program.*make install' err || fail "no library: $(cat err)"
[ ! -e ran ] || fail "the workload ran"

# where it is installed, even below a folder with a blank, and with a variable that is empty
cp "${DLT%/*}/libdltraced-nvtx.so" "with blank" || fail "no library was built"
# shellcheck disable=SC2016
NVTX_INJECTION64_PATH='' DLT="$TMPDIR/with blank/dltraced" trace --regions nvtx -P regions -- sh -c 'echo "$NVTX_INJECTION64_PATH"' >out 2>err || fail "a blank: $?"
equal "the library" "$(cat out)" "$TMPDIR/with blank/libdltraced-nvtx.so"
