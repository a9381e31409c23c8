#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A process whose memory map is locked for as long as it likes, which needs no rights, beside one that works: nobody waits
# for it. All rows of the other one are there, the trace is listed, ends by --duration, INT and TERM, and the process is
# named and counted: when it is attached to, and when it has executed a program with more variables than are read there.
#
# alone: who puts a probe on a function waits for the lock, and holds up all forks of the machine meanwhile
. "${0%/*}/../lib.sh"
. "$here/lockedmap.inc"
gate
LINES=20000

# innocent: waits at the gate, then opens LINES files, and ends; its pid is $other.
cat >innocent.py <<'END'
import sys
sys.stdin.readline()
for i in range(int(sys.argv[1])):
    try:
        open(f"/nowhere/{i}")
    except OSError:
        pass
END
innocent() {
	python3 innocent.py $LINES <gate 7>&- 9>&- &
	other=$!
	await at_gate $other
}
stopped() { ! grep -qs '^State:[[:blank:]][^T]' "/proc/$dlt"/task/*/status; }
listed() { "$DLT" status 2>&1 | grep -q "^t  *$dlt "; }
unanswered() { manifest "[p.get('unanswered', 0) for p in m['probes'] if p['name'] == '$1'][0]"; }
# counted WHAT MAPPINGS FACTS: how often each file has no answer.
counted() {
	equal "$1: mmap, unanswered" "$(unanswered mmap)" "$2"
	equal "$1: pids, unanswered" "$(unanswered pids)" "$3"
	equal "$1: lost" "$(manifest 'sum(p["lost"] for p in m["probes"])')" 0
}
named() { grep -qF "warning: process $locker (locked_map): its $1" err || fail "$2: $(cat err)"; }

# --- attached -----------------------------------------------------------------------------------------

lockable
lock
await locked
innocent
spawn --pid "$locker,$other"
await listed
echo >&9
wait $other || fail "the other one: $?"
kill -INT "$dlt"
join
equal "INT: status ($(cat err))" $rc 0
equal "INT: rows" "$(col open PATH 'PATH ~ /nowhere/' | uniq | wc -l)" $LINES
named mappings INT
named "arguments and environment" INT
counted INT 1 1
equal "snapshot of it" "$(col pids ARGS "EVENT == \"snapshot\" && PID == $locker && TID == $locker")" -
equal "snapshot of the other one" "$(col pids ARGS "EVENT == \"snapshot\" && PID == $other")" "python3\\000innocent.py\\000$LINES"
[ "$(rows mmap "FUNC == \"snapshot\" && PID == $other" | wc -l)" -gt 10 ] || fail "mappings of the other one"
check whole

spawn --pid "$locker"
await listed
kill -TERM "$dlt"
join
equal "TERM: status ($(cat err))" $rc 0
counted TERM 1 1

# 1 s, and what a busy machine needs: without a deadline it would not end
spawn --pid "$locker" --duration 1s
join
equal "--duration: status ($(cat err))" $rc 0
counted "--duration" 1 1
took=$(manifest '(m["end"]["monotonic_ns"] - m["start"]["monotonic_ns"]) // 10**9')
[ "$took" -lt 60 ] || fail "--duration 1s took $took s"

# The process that reads is killed: another one reads.
children() { tr -d "\n" <"/proc/$1/task/$1/children"; }
reads() { for reader in $(children "$dlt"); do [ "$(cat "/proc/$reader/comm")" = dltraced-reader ] && [ "$(children "$reader")" ] && return; done; false; }
spawn --pid "$locker"
await listed
await reads
# shellcheck disable=SC2046 # one each
kill -9 $(children "$reader")
innocent
kill -INT "$dlt"
join
equal "killed: status ($(cat err))" $rc 0
counted killed 1 1
echo >&9
wait $other
end_lock

# --- an exec ------------------------------------------------------------------------------------------

lockable 5000
innocent
spawn --pid "$locker,$other"
await listed
kill -STOP "$dlt" # it must not look at the process before that has locked its map
await stopped
lock
await locked
kill -CONT "$dlt"
echo >&9
wait $other || fail "the other one: $?"
kill -INT "$dlt"
join
equal "exec: status ($(cat err))" $rc 0
equal "exec: rows" "$(col open PATH 'PATH ~ /nowhere/' | uniq | wc -l)" $LINES
equal "exec: of it" "$(rows pids "EVENT == \"exec\" && PID == $locker" | wc -l)" 1
equal "exec: end of the other one" "$(rows pids "EVENT == \"exit\" && PID == $other" | wc -l)" 1
named "arguments and environment" exec
counted exec 0 1
check whole
