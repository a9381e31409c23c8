#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# When the trace begins and ends: --delay records from then on, and what is open at that moment;
# --duration ends the trace and not the workload, whose status is waited for; --linger records on
# after the workload; --wait-all until the last of its descendants; without it the trace
# ends with the workload's first process, and what goes on is neither waited for nor touched.
. "${0%/*}/lib.sh"
need python3
gate
for name in early open late daemon; do
	echo $name >$name
done

# --- --delay --------------------------------------------------------------------------------------

cat >job <<'END'
exec 3<open
od early
echo early >state
read _ <gate
od <&3
od late
exit 7
END
recording() { grep -qs '	snapshot	.*	gate' "$t/open.out"; }

spawn --delay 300ms -- sh job >out
await test -s state
await recording
echo >&9
join
equal "status" $rc 7
check whole
first=$(for file in close mmap open vfs_rw; do col $file TIMESTAMP 'FUNC != "snapshot"'; done | sort -n | head -n 1)
equal "time of the first row, $first" "$(manifest "$first >= m['workload']['start']['monotonic_ns'] + 300*10**6")" True
equal "reads from then on" "$(col vfs_rw FILE 'COMM == "od" && RETURNED > 0 && FILE ~ /^(open|late)$/' |
	tr '\n' ' ')" "open late "
[ -n "$(rows open 'FUNC == "snapshot" && FILE == "open"')" ] || fail "no snapshot of an open file"
[ -n "$(rows pids 'EVENT == "snapshot" && COMM == "sh"')" ] || fail "no snapshot of the process"

# What is attached to need not have ended because it has not been joined yet.
rm state
sh -c 'read _ <gate; od late; read _ <gate' >out 9>&- &
job=$!
spawn --delay 2 --pid $job
await recording
echo >&9
await grep -qs '	late$' "$t/vfs_rw.out"
echo >&9
join
equal "status" $rc 0
check whole
wait $job

trace --delay 1h -- sh -c 'exit 3' 2>err
equal "status without a trace" $? 3
grep -q 'ended before --delay: nothing of it is traced' err || fail "said: $(cat err)"
[ -z "$(rows pids)" ] || fail "rows from before --delay had passed"

# --- --duration -----------------------------------------------------------------------------------

rm state
cat >job <<'END'
od early
read _ <gate
od late
echo late >state
read _ <gate
exit 7
END
spawn --duration 500ms -- sh job >out
await grep -qs '"complete": true' "$t/manifest.json"
check whole
cp -r "$t" copy
gone "$dlt" && fail "dltraced did not stay"
echo >&9
await test -s state
echo >&9
join
equal "status" $rc 7
check whole
for file in copy/*.out; do
	cmp "$file" "$t/${file#*/}" || fail "$file was written on after the end"
done
equal "rows from afterwards" "$(rows open 'FILE == "late"')" ""
last=$(for file in close mmap open vfs_rw; do col $file TIMESTAMP; done | sort -n | tail -n 1)
equal "time of the last row, $last" "$(manifest "$last <= m['end']['monotonic_ns']")" True
equal "what was waited for" "$(manifest 'm["workload"]["exit_code"]')" 7

trace --duration 1h -- sh -c 'exit 3'
equal "status with time left" $? 3

# --- descendants ----------------------------------------------------------------------------------

cat >job <<'END'
(read _ <gate; od daemon >daemon.out; echo over >state; read _ <gate) </dev/null &
echo $! >pid
exit 7
END
rm state
trace -- sh job 9>&-
equal "status without --wait-all" $? 7
gone "$(cat pid)" && fail "what went on was ended"
equal "rows of what went on" "$(rows open 'FILE == "daemon"')" ""
check whole
echo >&9
await test -s state
echo >&9

rm state pid
spawn --wait-all -- sh job
await test -s pid
echo >&9
await test -s state
gone "$dlt" && fail "--wait-all did not wait"
echo >&9
join
equal "status with --wait-all" $rc 7
check whole
equal "reads" "$(col vfs_rw FILE 'COMM == "od" && FILE == "daemon" && RETURNED > 0')" daemon

# --- --linger -------------------------------------------------------------------------------------

trace -v --linger 1 -- sh -c 'exit 7' 2>err
equal "status" $? 7
check whole
grep -q 'dltraced: the targets have ended; tracing goes on for 1 s' err || fail "said: $(cat err)"
grep -q 'dltraced: [0-9]* MiB are still dirty' err || fail "said nothing of what is dirty: $(cat err)"
[ "$(manifest 'm["end"]["monotonic_ns"] - m["workload"]["end"]["monotonic_ns"] >= 10**9')" = True ] ||
	fail "it did not linger: $(manifest 'm["end"], m["workload"]')"

# TERM ends the lingering: nobody is left to get it.
spawn -v --linger 1h -- true
await grep -q 'the targets have ended' err
kill -TERM "$dlt"
join
equal "status after TERM" $rc 0
check whole
