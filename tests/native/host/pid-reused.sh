#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pids.out has what the kernel showed of a process at the time of the row: RANK is that of the exec, even if the command
# has ended before its row is written. If another process has its number by then, nothing of that process is in the row.
. "${0%/*}/../lib.sh"
need python3

# Processes shorter than any look into /proc: with RANK as one variable among many, after a long one, without it,
# without any variable.
RANK=0 trace -- sh -c '
	i=1
	while [ $i -le 20 ]; do RANK=$i /bin/true; i=$((i + 1)); done
	j=0
	while [ $j -lt 500 ]; do export "V$j=$i"; j=$((j + 1)); done
	export "LONG=$(printf %09000d 5)"
	RANK=21 /bin/true
	env -i SLURM_PROCID=22 /bin/true
	env -i A=1 OMPI_COMM_WORLD_RANK=23 LOCAL_RANK=5 /bin/true
	env -i /bin/true' || fail "status $?"
equal "ranks" "$(col pids RANK 'EVENT == "exec" && COMM == "true"' | tr '\n' ' ')" "$(seq 1 23 | tr '\n' ' ')- "

# as PID COMMAND...: a process with that number, which must be free.
cat >as <<'END'
import ctypes, os, struct, sys

want = ctypes.c_int(int(sys.argv[1]))
# struct clone_args (linux/sched.h): exit_signal is the fifth, set_tid and its size the ninth and tenth
args = struct.pack("11Q", 0, 0, 0, 0, 17, 0, 0, 0, ctypes.addressof(want), 1, 0)
pid = ctypes.CDLL(None, use_errno=True).syscall(435, args, len(args))
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
if pid < 0:
    sys.exit("clone3: " + os.strerror(ctypes.get_errno()))
os.wait()
END
gate
spawn -- sh -c 'read _ <gate; RANK=1 /bin/true & wait; echo $! >number; read _ <gate'
await grep -qs "	exec	" "$t/pids.out"
kill -STOP "$dlt"
await grep -q '^State:.T' "/proc/$dlt/status"
echo >&9
await test -s number
number=$(cat number)
await gone "$number"
RANK=77 python3 as "$number" sh -c 'echo >reused; exec sleep 1000' 2>as.err &
await test -s reused -o -s as.err
[ ! -s as.err ] || { kill -CONT "$dlt"; echo >&9; join; skip "clone3 with a number: $(tail -n 1 as.err)"; }
kill -CONT "$dlt"
await grep -qs "	$number	.*	exit	" "$t/pids.out"
kill "$number"
echo >&9
join
equal "status" "$rc" 0
equal "the rank" "$(col pids RANK 'EVENT == "exec" && PID == '"$number")" 1
equal "the cgroup of what has the number now" "$(col pids CGROUP 'EVENT == "exec" && PID == '"$number")" -
equal "facts that were not to be had" "$(manifest 'sum(p.get("unread", 0) for p in m["probes"] if p["name"] == "pids")')" 1
check whole
