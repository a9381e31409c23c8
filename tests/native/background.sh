#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --background: the terminal is given back at once, with the folder and the process to wait for;
# trace and workload go on without us and end by themselves, what they say is in the folder. What
# is wrong with the command is still said here, with its status.
. "${0%/*}/lib.sh"
need python3
gate

# start ARG...: in the background; all that it says is in $said, and the status is its own. This
# waits until nobody holds our end of the pipe any more.
start() {
	rm -rf "$t"
	said=$("$DLT" start --background --collectors none --probes -bio --min-free 0 -o "$t" "$@" \
		2>&1 </dev/null 9>&-)
}

# running: the process that goes on.
running() { expr "$said" : '.*background: process \([0-9]*\),'; }

start -- sh -c 'echo to stdout; echo to stderr >&2; cat; read _ <gate; exit 7' || fail "status $?"
pid=$(running)
equal "messages" "$said" "dltraced: tracing in the background: process $pid, folder $t"
gone "$pid" && fail "process $pid does not run: $(cat "$t/dltraced.log")"
session() { sed 's/.*) . [0-9]* [0-9]* \([0-9]*\).*/\1/' "/proc/$1/stat"; }
[ "$(session "$pid")" != "$(session $$)" ] || fail "it is still in our session"

echo >&9
await gone "$pid"
equal "exit code" "$(manifest 'm["workload"]["exit_code"]')" 7
equal "log" "$(cat "$t/workload.log")" "$(printf 'to stdout\nto stderr')"
grep -q "rows, .* lost, in $t" "$t/dltraced.log" || fail "no summary: $(cat "$t/dltraced.log")"
check whole

# TERM is the workload's, as in the foreground.
start -- sh -c 'echo ready; read _ <gate' || fail "status $?"
pid=$(running)
await grep -qs ready "$t/workload.log"
kill -TERM "$pid"
await gone "$pid"
equal "exit code after TERM" "$(manifest 'm["workload"]["exit_code"]')" 143

# What fails, fails in front.
start -- no-such-command
equal "status of an unknown command" $? 127
expr "$said" : '.*no-such-command' >expr || fail "said nothing of it: $said"
mkdir full
touch full/file
start -o full -- true
equal "status of a full folder" $? 125
expr "$said" : '.*full: is not empty' >expr || fail "said nothing of it: $said"
