#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The service: a member of its group traces their own processes without sudo, and nothing else. The workload is the
# client's child, with its groups, limits and environment; files are written as the user. When the client or the service
# is killed, the workload goes on and the files are whole.
#
# smoke
. "${0%/*}/../service.inc"
probed=open,time_align
install -d -o nobody -m 700 home
t=$TMPDIR/home/t

# --- a user's own workload --------------------------------------------------------------------------

daemon
# Signals 32 and 33 belong to the C library: programs with threads, such as those built with ThreadSanitizer, use them.
cat >job <<'END'
echo $(id -u) $(id -g) $(id -G); umask; ulimit -n; echo $RANK; grep -E '^(NoNewPrivs|CapEff|SigBlk):' /proc/self/status
echo $((0x$(sed -n 's/^SigIgn:.//p' /proc/self/status) & ~0x180000000))
cat /etc/passwd >/dev/null; sleep 1
exit 7
END
umask 027; ulimit -n 1000
RANK=3 as sh job >want
RANK=3 as_start -- sh job >out
equal "status" $? 7
equal "the workload's own" "$(cat out)" "$(cat want)"
equal "files of others" "$(find "$t" ! -user nobody -o -perm /077)" ""
equal "RANK" "$(col pids RANK 'EVENT == "exec"' | sort -u)" 3
equal "file read" "$(rows open 'COMM == "cat" && PATH == "/etc/passwd" && RET >= 0' | wc -l)" 1
equal "exit" "$(manifest '[m["workload"][k] for k in ("user", "exit_code", "status")] + m["cmdline"][-2:]')" \
	"['nobody', 7, 1792, 'sh', 'job']"
equal "what it used" "$(manifest 'm["workload"]["rusage"]["wall_ns"] > 9e8 and m["workload"]["rusage"]["minor_faults"] > 100')" True
check whole

# A job that ignores the first signal goes on, and a message says so; the last lines are those of a trace by root.
as_spawn -v -- sh -c 'trap "" TERM; echo ready >&2; until [ -e go ]; do sleep 0.1; done; exit 5'
await grep -qx ready err
kill -TERM "$dlt"
await grep -q 'a second ^C (or TERM) ends the trace' err
touch go
join
rm go
equal "status of who ignores TERM" $rc 5
sed -n '/^dltraced: [A-Z]/,$p' err >said
grep -q '^dltraced:   job      ended with status 5, traced for ' said && grep -q '^dltraced:   next     dltraced report home/t$' said ||
	fail "it ends with: $(cat err)"

as_start --log -- sh -c 'echo to the log; cat nothing' >out 2>&1 && fail "status of cat"
equal "log" "$(head -n 1 "$t/workload.log") $(col workload TEXT | head -n 1)" "to the log to\\040the\\040log"
as_start -- "$TMPDIR/none" 2>err && fail "no such command is status 0"
equal "status of a command that is not there" "$(as_start -- ./none 2>err; echo $?)" 127
[ ! -e "$t" ] || fail "a folder is left"
as_start --duration 100ms -- sh -c 'sleep 2; exit 3' 2>err
equal "status after --duration" $? 3
check whole

# In the background: stop accepts the name from the message, and so does mark.
rm -rf "$t"
as "$DLT" start --background --collectors none --probes $probed --min-free 0 -o "$t" -- sleep 100 2>err ||
	fail "in the background: $(cat err)"
grep -q "dltraced: .dltraced stop t' ends the trace" err || fail "said: $(cat err)"
as "$DLT" stop t 2>err || fail "stop: $(cat err)"
grep -q 'rows, .* lost, in ' err || fail "no summary: $(cat err)"
kill "$(manifest 'm["workload"]["pid"]')"
check whole

# --- refused --------------------------------------------------------------------------------------------

refused() {
	what=$1
	shift
	rm -rf "$t"
	"$@" 2>err && fail "not refused: $*"
	grep -q "error: .*$what" err || fail "$*: $(cat err)"
	[ ! -e "$t" ] || fail "a folder is left: $*"
}
if [ "$(stat -fc %T /dev/shm 2>/dev/null)" = tmpfs ]; then
	(t=$(setpriv --reuid nobody --regid "$gid" --clear-groups mktemp -d /dev/shm/XXXXXX)/t
	refused 'is in memory (tmpfs), .*choose a folder on a disk (-o DIR)' as_start -- true
	rmdir "${t%/t}") || exit 1
fi
refused 'usermod -aG dltraced nobody' others "$DLT" start -o "$t" -- true
for option in --all '--cgroup /' '--container new' '--user root' '--drop-caches' '--phase x=y'; do
	# shellcheck disable=SC2086
	refused 'is for root' as_start $option -- true
done
sleep 1000 &
roots=$!
refused "process $roots cannot be traced: it is not only yours: it runs as user 0" as_start --pid $roots
kill $roots
# a process with the user's uid, but of a group that the user does not have
setpriv --reuid nobody --regid 2 --clear-groups sleep 1000 &
grouped=$!
await grep -qs '^sleep' /proc/$grouped/comm
refused "process $grouped cannot be traced: it has rights that you do not have: it runs with group 2" as_start --pid $grouped
kill $grouped
"$DLT" daemon --config daemon.conf 2>err && fail "a second service on the same socket"
grep -q 'another service listens there' err || fail "a second service: $(cat err)"
DLTRACED_SOCKET=$TMPDIR/none refused 'systemctl enable --now dltraced' as_start -- true
DLTRACED_SOCKET=$TMPDIR/none as_start --best-effort -- true 2>err || fail "--best-effort: $(cat err)"

# --- what runs already ----------------------------------------------------------------------------------

gate
setpriv --reuid nobody --regid "$gid" --groups 1 sh -c 'while read -r word <&9; do [ "$word" = end ] && exit; cat /etc/hostname >/dev/null; done' &
own=$!
as_spawn --pid $own
await listening
for thread in "/proc/$served/task/"*; do
	! grep -qa __tsan_init "$DLT" || break # ThreadSanitizer has a thread of its own there
	fsuid=$(sed -n 's/^Uid:.*\t//p' "$thread/status" 2>err.sed)
	[ -e "$thread" ] || continue # the thread of a helper that has only opened something
	equal "file system uid of a thread" "$fsuid" "$uid"
	equal "quotas hold" "$(($(printf '0x%s' "$(sed -n 's/^CapEff:\t//p' "$thread/status")") >> 24 & 1))" 0
done
"$DLT" status | grep -q "^t  *$served tracing  *nobody " || fail "not named: $("$DLT" status)"
"$DLT" status "$served" >out
grep -q "$served" out || fail "not in status: $(cat out)"
as "$DLT" status | grep -q "$served" || fail "not in the user's status"
echo read >&9
await grep -qs hostname "$t/open.out"
as "$DLT" mark -t "$served" here || fail "mark"
echo end >&9
join
equal "status of --pid" $rc 0
equal "snapshot" "$(col pids PID 'EVENT == "snapshot"')" $own
equal "its child" "$(rows open 'COMM == "cat" && PATH == "/etc/hostname"' | wc -l)" 1
equal "marks" "$(rows marks | wc -l)" 1
check whole

# A client that waits for a service that does not answer says so, and can be interrupted.
kill -STOP "$daemon"
as_spawn -- true
await grep -q 'the dltraced service has not answered yet' err
kill -INT "$dlt"
join
kill -CONT "$daemon"
equal "status of ^C before an answer" $rc 130
[ ! -e "$t" ] || fail "a folder is left by what was not answered"

# --- killed, in turns -----------------------------------------------------------------------------------

as_spawn -- sh -c 'echo $$ >"$0"; read -r word <&9; cat /etc/hostname >/dev/null; exit 4' "$TMPDIR/home/pid"
await test -s home/pid
await listening
kill -9 "$dlt"
join
job=$(cat home/pid)
gone "$job" && fail "the workload has gone with the client"
echo go >&9
await gone "$job"
await gone "$served"
equal "rows after the client's death" "$(rows open 'COMM == "cat" && PATH == "/etc/hostname"' | wc -l)" 1
equal "whole, without a status" "$(manifest 'm["complete"], m["workload"]["status"]')" "(True, None)"
check whole

rm -f home/pid
as_spawn -- sh -c 'echo $$ >"$0"; cat /etc/hostname >/dev/null; read -r word <&9; exit 4' "$TMPDIR/home/pid"
await grep -qs hostname "$t/open.out"
await listening
kill -9 "$daemon"
await gone "$served"
gone "$(cat home/pid)" && fail "the workload has gone with the service"
equal "whole after the service's death" "$(manifest 'm["complete"]')" True
echo go >&9
join
equal "status without the service" $rc 4
daemon=
check whole

# Two interrupts end the trace, not the workload; so does the end of the service.
daemon
rm -f home/pid
as_spawn -- sh -c 'trap "" TERM; echo $$ >"$0"; read -r word <&9' "$TMPDIR/home/pid"
await test -s home/pid
await listening
# two signals count as one if the second comes before the first is read
ended_by_term() { gone "$dlt" || { kill -TERM "$dlt"; false; }; }
await ended_by_term
join
equal "status of two TERMs" $rc 143
gone "$(cat home/pid)" && fail "the workload has gone"
echo go >&9
equal "whole after two TERMs" "$(manifest 'm["complete"]')" True
rm -f home/pid
as_spawn -- sh -c 'echo $$ >"$0"; read -r word <&9; exit 5' "$TMPDIR/home/pid"
await test -s home/pid
await listening
kill "$daemon"
wait "$daemon"
equal "status of the service" $? 0
daemon=
equal "whole after its stop" "$(manifest 'm["complete"]')" True
echo go >&9
join
equal "status" $rc 5
