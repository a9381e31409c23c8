#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Rings are too small for what happens while dltraced stands still: rows of the timeline are lost, and counted; sums
# wait in their cells until there is room again, and are whole.
. "${0%/*}/../lib.sh"
need python3

cat >job.py <<'PY'
import json, os, resource

os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
there, back = os.pipe(), os.pipe()
os.read(0, 5)
child = os.fork()
for _ in range(20000):
    if child:
        os.write(there[1], b"x")
        os.read(back[0], 1)
    else:
        os.read(there[0], 1)
        os.write(back[1], b"x")
if not child:
    os._exit(0)
_, _, usage = os.wait4(child, 0)
own = resource.getrusage(resource.RUSAGE_SELF)
with open("facts.new", "w") as f:
    json.dump({"pids": [os.getpid(), child], "voluntary": own.ru_nvcsw + usage.ru_nvcsw,
               "run_ns": round(sum(u.ru_utime + u.ru_stime for u in (own, usage)) * 1e9)}, f)
os.rename("facts.new", "facts")
os.read(0, 5)
PY
gate
cat /proc/stat >before
spawn --probes sched,sched_switch,time_align --buffer 64K -- sh -c 'exec python3 job.py <gate'
await grep -qs '	python3	exec	' "$t/pids.out"
job=$(col pids PID 'EVENT == "exec" && COMM == "python3"' | sort -u)
await at_gate "$job"
kill -STOP "$dlt"
echo 1234 >&9
await test -s facts
kill -CONT "$dlt"
echo 1234 >&9
join
cat /proc/stat >after
equal "status ($(cat err))" $rc 0
check lines
check sched-lossy facts before after
"$DLT" report --cpu "$t" >text || fail "report --cpu: status $?"
grep -q '^difference  *0.000000[0-9]* s' text || fail "it does not add up: $(cat text)"
grep -q 'sched_switch: [0-9]* rows.* are lost' text || fail "it does not say that rows are lost: $(cat text)"
