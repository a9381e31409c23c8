#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# TERM, HUP, QUIT, USR1 and USR2 reach the workload, and tracing goes on; if it dies of one, the status is 128+N. A
# second TERM ends the trace without waiting, with whole files, and the workload goes on. ^C and ^\ reach it through the
# terminal, once; a second ^C ends the trace. An attached process gets no signal.
. "${0%/*}/../lib.sh"
need python3
probed=vfs_rw,time_align
ulimit -c 0
trap '[ ! -s workload ] || kill -9 "$(cat workload)"; cleanup' EXIT

# Prints the signals that arrive, until USR2. It ends by itself once no process needs it any more.
cat >catch <<'END'
import os, signal, sys
names = sys.argv[1:]
wanted = [signal.Signals["SIG" + name] for name in names]
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
print(os.getpid(), file=open("workload", "w"))
print("ready", file=open("got", "w", buffering=1))
while info := signal.sigtimedwait(wanted, 60):
    name = signal.Signals(info.si_signo).name[3:]
    print(name, file=open("got", "a"))
    if name == "USR2":
        sys.exit(7)
END

# got N: the workload has written N lines.
got() { [ -e got ] && [ "$(wc -l <got)" = "$1" ]; }

# signalled PID SIGNAL...: sends each signal once the one before has arrived.
signalled() {
	pid=$1 n=1
	shift
	await got 1
	for s; do
		kill -"$s" "$pid"
		n=$((n + 1))
		await got $n
	done
}

# --- forwarded ------------------------------------------------------------------------------------

spawn -- python3 catch TERM HUP QUIT USR1 USR2
signalled "$dlt" HUP QUIT USR1 TERM USR2
join
equal "status" $rc 7
equal "signals" "$(tr '\n' ' ' <got)" "ready HUP QUIT USR1 TERM USR2 "
rm got workload
check whole

# --- the signal that ends the workload ------------------------------------------------------------

for signal in HUP:1 QUIT:3 USR1:10 USR2:12 TERM:15; do
	spawn -- sh -c 'echo ready >got; exec sleep 60'
	await got 1
	kill -${signal%:*} "$dlt"
	join
	equal "status when ${signal%:*} ended it" $rc $((128 + ${signal#*:}))
	check whole
	rm got
done

# As the OOM killer kills, during millions of reads by two threads.
spawn -- sh -c 'echo $$ >workload; exec "$0" -t 2 -n 1000000000' "$W/storm"
await grep -qs pread64 "$t/vfs_rw.out"
kill -KILL "$(cat workload)"
join
equal "status when KILL ended it" $rc 137
check whole
rm workload

# --- the second TERM ------------------------------------------------------------------------------

spawn -v -- python3 catch TERM USR2
signalled "$dlt" TERM
await grep -q 'a second ^C (or TERM) ends the trace' err
kill -TERM "$dlt"
join
grep -q "the workload goes on as process $(cat workload)" err || fail "said: $(cat err)"
equal "status after the second TERM" $rc 143
pid=$(cat workload)
gone "$pid" && fail "the second TERM ended the workload"
check whole
equal "rows of the workload's exit" "$(rows pids "TID == $pid && EVENT == \"exit\"")" ""
kill -USR2 "$pid"
await gone "$pid"
equal "signals" "$(tr '\n' ' ' <got)" "ready TERM USR2 "
rm got workload

# --- ^C -------------------------------------------------------------------------------------------

# on_terminal CMD...: on a terminal whose keys come from the FIFO `keys'; its status goes to status.
cat >shell <<'END'
trap : INT QUIT # as an interactive shell, this one outlives ^C
"$@"
echo $? >status
END
on_terminal() {
	rm -rf "$t" status
	python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
		sh shell "$DLT" start --collectors none --probes $probed -o "$t" "$@" <keys >screen 8>&- &
	exec 8>keys
}
mkfifo keys

on_terminal -- python3 catch INT QUIT USR2
await got 1
printf '\003' >&8
await got 2
printf '\034' >&8
await got 3
kill -USR2 "$(cat workload)"
await test -s status
equal "status after ^C" "$(cat status)" 7
equal "signals" "$(tr '\n' ' ' <got)" "ready INT QUIT USR2 "
exec 8>&-
wait $!
rm got workload
check whole

on_terminal -- python3 catch INT HUP USR2
await got 1
printf '\003' >&8
await got 2
printf '\003' >&8
await test -s status
equal "status after the second ^C" "$(cat status)" 130
pid=$(cat workload)
gone "$pid" && fail "dltraced ended the workload after the second ^C"
check whole
kill -USR2 "$pid"
exec 8>&-
wait $!
rm got workload

# --- attached -------------------------------------------------------------------------------------

python3 catch TERM HUP QUIT USR1 USR2 >catch.out &
await got 1
pid=$(cat workload)
for signal in HUP TERM; do
	spawn --pid "$pid"
	await grep -qs snapshot "$t/pids.out"
	kill -USR1 "$dlt" # it would end a process that does not handle it
	kill -$signal "$dlt"
	join
	equal "status after $signal, attached" $rc 0
	equal "signals" "$(cat got)" ready
	check whole
done

# nohup(1) ignores the signal: the end of a terminal is not the end of the trace.
trap '' HUP
spawn --pid "$pid"
trap - HUP
await grep -qs snapshot "$t/pids.out"
kill -HUP "$dlt"
sleep 1 # time enough for it to end wrongly
gone "$dlt" && fail "HUP ended the trace under nohup"
kill -USR1 "$pid"
await got 2
kill -TERM "$dlt"
join
check whole
[ -n "$(rows vfs_rw 'FILE == "got"')" ] || fail "nothing was traced after HUP under nohup"

kill -USR2 "$pid"
await gone "$pid"
rm workload
