#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Opens that wait for room in audit's queue are held up by kauditd, and by nobody once there is no rule. The waits are
# those of waits.out.
native=${0%/*}/../../native
. "$native/lib.sh"
python
mkdir data
for i in $(seq 60); do echo "$i" >"data/$i"; done
cat >reads.py <<'PY'
import os
for i in range(600):
    os.close(os.open(f"data/{i % 60 + 1}", os.O_RDONLY))
PY

# held: the time of kauditd's part of the job's path, ns.
held() {
	trace -- /usr/bin/python3 reads.py || fail "status $?"
	"$DLT" report --json "$t" >report.json || fail "report --json: status $?"
	ns=$(python3 -c 'import json
print(sum(p["ns"] for p in json.load(open("report.json"))["path"]["parts"] if p["kind"] == "held" and "kauditd" in p["detail"]))')
}

python3 "$here/../workloads/audit.py" on >why || skip "audit: $(cat why)"
trap 'python3 "$here/../workloads/audit.py" off; cleanup' EXIT
held
rows=$(rows waits 'BY_COMM == "kauditd"' | awk -F'\t' '{ n += $8 - $9 } END { printf "%d", n }')
[ "$rows" -gt 0 ] || fail "no wait for kauditd: $(tail -3 "$t/waits.out")"
[ "$ns" -le "$rows" ] && [ $((2 * ns)) -ge "$rows" ] || fail "$ns ns of the path, $rows ns of waits"
python3 "$here/../workloads/audit.py" off
held
equal "without a rule" "$ns" 0
trap cleanup EXIT
