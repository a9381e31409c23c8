#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A workload that is stopped seems to hang: dltraced says that it is stopped, by what, and how to let it go on, once. Where ^Z
# has stopped both, the message comes when both go on.
. "${0%/*}/../lib.sh"
need setpriv
setpriv --pdeathsig KILL true 2>/dev/null || skip "setpriv --pdeathsig: a stopped process would stay if this script were killed"

is_stopped() { grep -q '^State:[[:blank:]]T' "/proc/$1/status"; }
workload() { sed -n 's/.*kill -CONT \([0-9]*\),.*/\1/p' err | tail -n 1; }

for signal in STOP TTIN; do
	spawn -- setpriv --pdeathsig KILL sh -c "kill -$signal \$\$; exit 7"
	await grep -q 'warning: the workload is stopped, .*: fg in its shell, or kill -CONT [0-9]*, lets it go on' err
	pid=$(workload)
	is_stopped "$pid" || fail "process $pid is not stopped: $(cat err)"
	kill -CONT "$pid"
	join
	equal "status after SIG$signal" $rc 7
	equal "warnings after SIG$signal" "$(grep -c 'is stopped' err)" 1
done
grep -q 'is stopped, because it reads from the terminal in the background:' err || fail "of SIGTTIN: $(cat err)"

# Both, as by ^Z in a terminal: they are a group of their own here, under a shell that stays their parent.
gate
: >err
setpriv --pdeathsig KILL "$DLT" start --collectors none --probes -bio --min-free 0 --report=none -o both -- setpriv --pdeathsig KILL sh -c 'echo $$ >pid; read _ <gate' 2>err 9>&- &
dlt=$!
await test -s pid
pid=$(cat pid)
await at_gate "$pid"
kill -STOP "$dlt" "$pid"
await is_stopped "$dlt"
await is_stopped "$pid"
kill -CONT "$pid" "$dlt"
await grep -q 'dltraced: the workload was stopped (^Z, SIGSTOP), and goes on' err
echo >&9
join
equal "status after both were stopped" $rc 0
equal "warnings after both were stopped" "$(grep -c 'is stopped' err)" 0
