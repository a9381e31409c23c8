#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --background: the shell gets the terminal back at once, with the folder and the process to wait for. Trace and
# workload go on and end by themselves, and their output is in the folder. An error in the command is still reported on
# the terminal, with its status.
#
# smoke
. "${0%/*}/../lib.sh"
probed=open,time_align
need python3
gate

# start ARG...: in the background; $said has its messages, and the status is its own. It returns once no process holds
# the writing end of the pipe.
start() {
	rm -rf "$t"
	said=$("$DLT" start --background --collectors none --probes $probed --min-free 0 -o "$t" "$@" \
		2>&1 </dev/null 9>&-)
}

# running: the pid of the process that goes on.
running() { expr "$said" : '.*background: process \([0-9]*\),'; }

start -- sh -c 'echo to stdout; echo to stderr >&2; cat; read _ <gate; exit 7' || fail "status $?"
pid=$(running)
equal "messages" "$said" "dltraced: tracing in the background: process $pid, folder $t
dltraced: \`dltraced stop $pid' ends the trace, \`dltraced status' shows it"
gone "$pid" && fail "process $pid does not run: $(cat "$t/dltraced.log")"
session() { sed 's/.*) . [0-9]* [0-9]* \([0-9]*\).*/\1/' "/proc/$1/stat"; }
[ "$(session "$pid")" != "$(session $$)" ] || fail "it is still in our session"

echo >&9
await gone "$pid"
equal "exit code" "$(manifest 'm["workload"]["exit_code"]')" 7
equal "log" "$(cat "$t/workload.log")" "$(printf 'to stdout\nto stderr')"
grep -q "^dltraced:   next     dltraced report t$" "$t/dltraced.log" || fail "it ends with: $(tail -n 8 "$t/dltraced.log")"
check whole

# TERM goes to the workload, as in the foreground.
start -- sh -c 'echo ready; read _ <gate' || fail "status $?"
pid=$(running)
await grep -qs ready "$t/workload.log"
kill -TERM "$pid"
await gone "$pid"
equal "exit code after TERM" "$(manifest 'm["workload"]["exit_code"]')" 143

# The command has the caller's umask, working directory and arguments, and no terminal. A hangup of the caller does not
# end the trace: here the caller's terminal goes away.
mkdir there
rm -rf "$t"
cat >on-a-terminal.py <<'END'
import os, pty, signal, sys
pid, fd = pty.fork()
if not pid:
    os.chdir("there")
    os.umask(0o027)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
said = b""
while True:  # until nobody holds the terminal any more
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    if not got:
        break
    said += got
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
os.close(fd)
sys.stdout.write(said.decode())
sys.exit(status)
END
said=$(python3 on-a-terminal.py "$DLT" start --background --collectors none --probes $probed --min-free 0 -o "$t" -- \
	sh -c 'umask; pwd; [ -t 0 ] || [ -t 1 ] || echo no terminal; readlink /proc/self/fd/0; read _ <../gate' 9>&-) ||
	fail "status $?: $said"
pid=$(running)
await grep -qs '/dev/null' "$t/workload.log"
equal "what the command has" "$(cat "$t/workload.log")" "$(printf '0027\n%s\nno terminal\n/dev/null' "$TMPDIR/there")"
equal "its terminal" "$(sed 's/.*) . [0-9]* [0-9]* [0-9]* \([-0-9]*\).*/\1/' "/proc/$pid/stat")" 0
equal "phase" "$("$DLT" status | awk -v pid="$pid" '$2 == pid { print $3 }')" tracing

# stop prints what a foreground trace prints at its end.
"$DLT" stop "$pid" 2>stopped || fail "stop: $(cat stopped)"
grep -q "rows, .* lost, in $t" stopped && grep -q "^dltraced:   next     dltraced report t$" stopped || fail "no summary: $(cat stopped)"
grep -q "stop: the trace has ended, the workload goes on; dltraced report $t" "$t/dltraced.log" || fail "$(cat "$t/dltraced.log")"
check whole
gone "$pid" && fail "it does not wait for its command"
echo >&9
await gone "$pid"
equal "exit code" "$(manifest 'm["workload"]["exit_code"]')" 0

# A running target: no command and no log; stop ends the trace and its process.
sh -c 'read _ <gate; exec cat /dev/null' 9>&- &
target=$!
start --pid $target || fail "status $?: $said"
pid=$(running)
[ ! -e "$t/workload.log" ] || fail "a log of nothing"
"$DLT" stop "$pid" 2>stopped || fail "stop: $(cat stopped)"
await gone "$pid"
check whole
gone $target && fail "the target was ended"
start --pid $target || fail "status $?: $said"
pid=$(running)
echo >&9
wait $target
await gone "$pid"
equal "opens of the target" "$(rows open "PID == $target && FUNC == \"openat\" && FILE == \"null\"" | wc -l)" 1

# A start that fails does so in the foreground.
start -- no-such-command
equal "status of an unknown command" $? 127
expr "$said" : '.*no-such-command' >expr || fail "said nothing of it: $said"
mkdir full
touch full/file
start -o full -- true
equal "status of a full folder" $? 125
expr "$said" : '.*full: is not empty' >expr || fail "said nothing of it: $said"
