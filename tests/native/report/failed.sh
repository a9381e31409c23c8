#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What failed, by the report, is what the job itself has counted (failures.py): errors of calls, processes that a signal or
# a status ended, and nothing of jobs in which only what programs expect goes wrong. Of a signal it names who sent it.
. "${0%/*}/../limited.inc"
need python3
[ -x /usr/bin/python3 ] || skip "/usr/bin/python3"
jobs=$here/../workloads/failures.py

mkdir small
mount -t tmpfs -o size=10m none small || skip "to mount tmpfs"
trap 'umount small; cleanup' EXIT

# told: the failures of $t, in the words of failures.py.
told() {
	"$DLT" report --json "$t" >report.json || fail "report --json: status $?"
	python3 -c 'import collections, json
n = collections.Counter()
for f in json.load(open("report.json"))["failed"]:
    n[f["kind"], f["code"]] += f["n"]
for (kind, code), count in sorted(n.items()):
    print(kind, code, count)'
}

# value EXPRESSION: its value, with the report as r and its first failure as f.
value() { python3 -c 'import json, sys
r = json.load(open("report.json"))
f = r["failed"][0] if r["failed"] else {}
print(eval(sys.argv[1]))' "$1"; }

# answers: the answer to $t is failed. A guest computes for so long that this is the answer there.
answers() { [ -n "$slow" ] || equal "$1: the answer" "$(value 'r["bottleneck"]["code"]')" failed; }

# job CASE: traced; the report has what it has counted.
job() {
	trace -- /usr/bin/python3 "$jobs" "$1" "$TMPDIR/small" >counted || fail "$1: status $?"
	equal "$1: what failed" "$(told)" "$(cat counted)"
	# a worker's own files
	rm -rf small/* 2>/dev/null
}

job full
grep -q . counted || fail "full: nothing failed"
equal "full: the folder" "$(value 'f["folder"]')" "$TMPDIR/small"
answers full
"$DLT" report "$t" >screen || fail "report: status $?"
tr '\n' ' ' <screen | grep -q 'no space left (ENOSPC)' || fail "full: $(cat screen)"
if [ -z "$slow" ]; then
	tr '\n' ' ' <screen | grep -q '^failed: .*no space left (ENOSPC)' || fail "full: $(cat screen)"
	! grep '^What failed' screen || fail "full: the answer has all of it: $(cat screen)"
fi

job killed
equal "killed: by" "$(value 'f["sender"]')" itself

job refused
value 'f["folder"]' | grep -q '^127\.0\.0\.1:[0-9]*$' || fail "refused: no peer: $(cat report.json)"
equal "refused: the call" "$(value 'f["call"]')" connect
answers refused

for case in unanswered unreceived unselected unready unconnected silent; do
	job $case
	value 'f["folder"]' | grep -q '^127\.0\.0\.1:[0-9]*$' || fail "$case: no peer: $(cat report.json)"
	answers $case
	equal "$case: the wait" "$(value '0.28 * f["n"] < f["slept_ns"] / 1e9')" True
done

job processes
equal "processes: the limit" "$(value 'f["limit"]')" "RLIMIT_NPROC or pids.max"
answers processes

job locked
equal "locked: the limit" "$(value 'f["limit"], f["limit_n"]')" "('RLIMIT_MEMLOCK', 32768)"
value 'f["text"]' | grep -q 'RLIMIT_MEMLOCK, 32.0 KiB in process [0-9]*, set since the job began, with' || fail "locked: $(cat report.json)"
job large
equal "large: the limit" "$(value 'f["limit"], f["limit_n"] in (1 << 20, 2 << 20)')" "('RLIMIT_FSIZE', True)"

rm -f small/pid
(
	await test -e small/pid
	kill -TERM "$(cat small/pid)"
	exec sleep 0.5
) &
killer=$!
job outside
wait "$killer"
equal "outside: by" "$(value 'f["sender"]')" other
equal "outside: by whom" "$(value 'f["sender_comm"]')" "$(cat /proc/$$/comm)"

if [ -z "$slow" ]; then
	job files
	equal "files: the limit" "$(value 'f["limit"]')" RLIMIT_NOFILE
	answers files
	job cpu
	equal "cpu: the limit" "$(value 'f["limit"], f["limit_n"]')" "('RLIMIT_CPU', 1)"
	job bus
	equal "bus: by" "$(value 'f["sender"]')" kernel
	job helper
fi

expected='terminated handled connected figures late limits namespace'
[ -n "$slow" ] || expected="$expected answered searches head interrupted"
for case in $expected; do
	job "$case"
	[ ! -s counted ] || fail "$case: $(cat counted)"
done

# The kernel ends a process whose cgroup is at its limit of memory. Here: where there is such a limit.
(memory_group 50331648) >skipped || { cat skipped; exit 0; }
memory_group 50331648
trap 'rmdir "$group" 2>/dev/null; umount small; cleanup' EXIT
[ -z "$slow" ] || dmesg -n 1 # its message has a call trace, which is a complaint in a guest
limited -- sh -c '/usr/bin/python3 -c "x = bytearray(200 << 20)"; exit 0' >out 2>&1
equal "memory: what failed" "$(told)" "signal SIGKILL 1"
equal "memory: by" "$(value 'f["sender"]')" oom-limit
equal "memory: the limit" "$(value 'f["limit_bytes"]')" 50331648
