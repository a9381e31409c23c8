#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What `report` says about a job's waits comes from the rows' times to the nanosecond, and its epochs from their bytes.
. "${0%/*}/../lib.sh"
need python3

trace -P -bio,-sched -- sh -c "$long" sh "$W/loader" -d data -n 48 -s 65536 -w 2 -e 2 -c 0 -k 4 || fail "status $?"
"$DLT" report --json "$t" >json || fail "report --json: status $?"
check why json

# the job's output names its epochs
trace -P -bio,-sched --log -- sh -c "$long" sh "$W/loader" -d data -n 48 -s 65536 -w 2 -e 3 -c 0 -k 4 >log || fail "status $?"
"$DLT" report --json "$t" >json || fail "report --json: status $?"
check why json
equal "epochs" "$(grep -c '^      "name": "epoch [123]",$' json)" 3
"$DLT" report --full "$t" >text || fail "report: status $?"
grep -q "^$(sed -n 's/^    "code": "\(.*\)",$/\1/p' json | head -1): " text || fail "the text begins with another verdict: $(head -5 text)"
