#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# status --watch: calls that a limit refused are there by their error, as many as the job has counted, also those of
# before somebody watched. What a program looks for and does not find is none.
. "${0%/*}/../lib.sh"
need python3
gate

cat >job.py <<'PY'
import errno
import os
import resource

def refused(tries):
    n = 0
    for _ in range(tries):
        try:
            os.close(os.open(".", os.O_RDONLY))
        except OSError as e:
            n += e.errno == errno.EMFILE
        try:
            os.open("/not-there", os.O_RDONLY)
        except OSError as e:
            n += e.errno == errno.EMFILE
    return n

with open("gate", encoding="ascii") as gate, open("counted", "w", encoding="ascii") as counted:
    free = os.open(".", os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    for tries in (70, 5):
        print(refused(tries), file=counted, flush=True)
        gate.readline()
PY
# has N: the last view has N calls that failed by EMFILE, and no other ones.
has() { tail -n 1 views | grep -q "\"failed_calls\": {\"EMFILE\": $1}"; }

: >views
spawn -e watched -- python3 job.py
await test -s counted
first=$(cat counted)
[ "$first" -ge 70 ] || fail "the limit refused only $first"
"$DLT" status --watch -j -i 100ms "$t" >views 2>err-views 9>&- &
views=$!
"$DLT" status --watch -i 100ms "$t" >text 2>err-text 9>&- &
text=$!
await has "$first"
await grep -qx "failed: EMFILE $first" text
echo >&9
both() { [ "$(wc -l <counted)" = 2 ]; }
await both
all=$(awk '{ n += $1 } END { print n }' counted)
await has "$all"
await grep -qx "failed: EMFILE $all" text
echo >&9
join
equal "status" $rc 0
wait $views $text
equal "the report's" "$("$DLT" report --json "$t" | python3 -c 'import json, sys
print(sum(f["n"] for f in json.load(sys.stdin)["failed"] if f["code"] == "EMFILE"))')" "$all"
