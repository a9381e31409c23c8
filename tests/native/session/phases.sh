#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# When the trace begins and ends. --delay records from then on, and nothing from before, but also files that are open at
# that moment, of all that the workload has started meanwhile; if that fails, the workload goes on. --duration ends the
# trace, but not the workload, and dltraced waits for its status. --linger records on after the workload, --wait-all
# until its last descendant ends. Without these, the trace ends with the workload's first process, and processes that go
# on are neither waited for nor touched.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
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
recording() { grep -qs '	snapshot	' "$t/pids.out"; }
# in_time: did the job reach this point before the trace began? A busy machine may need a longer delay.
in_time() { [ "$(date -r state +%s%N)" -lt "$(col time_align REALTIME_NS | head -n 1)" ]; }

for delay in 300ms 3 30; do
	rm -f state
	spawn --delay $delay -- sh job >out
	await test -s state
	await recording
	echo >&9
	join
	equal "status" $rc 7
	check whole
	! in_time || break
done
first=$(for file in close mmap open vfs_rw; do col $file TIMESTAMP 'FUNC != "snapshot"'; done | sort -n | head -n 1)
equal "time of the first row, $first" "$(manifest "$first >= m['workload']['start']['monotonic_ns'] + 300*10**6")" True
equal "reads from then on" "$(col vfs_rw FILE 'COMM == "od" && RETURNED > 0 && FILE ~ /^(open|late)$/' |
	tr '\n' ' ')" "open late "
[ -n "$(rows open 'FUNC == "snapshot" && FILE == "open"')" ] || fail "no snapshot of an open file"
[ -n "$(rows pids 'EVENT == "snapshot" && COMM == "sh"')" ] || fail "no snapshot of the process"

# Processes whose parents have ended during the delay are in the target; disks and collectors begin then, too.
disk_ext4
cat >job <<'END'
write() { dd if=/dev/zero of="disk/$1" bs=4k count=8 oflag=direct 2>/dev/null; }
(setsid sh -c 'read _ <gate; od late >daemon.out; : >over; read _ <gate' </dev/null &) &
wait
write early
echo early >state
read _ <gate
write late
exit 7
END
for delay in 2 30; do
	rm -f state over
	spawn --delay $delay --probes +bio --disk "$disk" --collectors cpu --wait-all -- sh job
	await test -s state
	await recording
	echo >&9
	echo >&9
	await test -e over
	echo >&9
	join
	equal "status" $rc 7
	check whole
	! in_time || break
done
equal "processes that were there" "$(col pids PID 'EVENT == "snapshot"' | sort -u | wc -l)" 2
equal "opened by the one without a parent" "$(rows open 'COMM == "od" && FILE == "late" && RET >= 0' | wc -l)" 1
[ -n "$(rows bio 'T == "W"')" ] || fail "no requests of afterwards"
for file in bio cpu pids time_align; do
	col $file TIMESTAMP | sed "s/\$/ $file/"
done | sort -n | head -n 1 >first
after='>= m["workload"]["start"]["monotonic_ns"] + 2 * 10**9'
equal "the first row of all, $(cat first)" "$(manifest "$(cut -d' ' -f1 first) $after")" True
equal "the start" "$(manifest "m['start']['monotonic_ns'] $after")" True

# The hooks are refused at the end of the delay, here for lack of descriptors. The workload already runs: it goes on,
# and its status is the one of start.
cat >job.py <<'END'
import os, resource, sys
parent = os.getppid()
used = {int(fd) for fd in os.listdir(f"/proc/{parent}/fd")}
free = [fd for fd in range(len(used) + 2) if fd not in used]
resource.prlimit(parent, resource.RLIMIT_NOFILE, (free[1], free[1]))
open("state", "w").write("over")
sys.stdin.readline()
sys.exit(7)
END
for delay in 3 30; do
	spawn --delay $delay -- sh -c 'exec python3 job.py <gate'
	await eval 'recording || grep -q "error: " err'
	! recording || { echo >&9; join; continue; }
	break
done
grep -q 'error: .*open files.*; the workload goes on without a trace' err || fail "said: $(cat err)"
await grep -qs 'open files' "$t/manifest.json"
gone "$dlt" && fail "it did not wait for the workload"
echo >&9
join
equal "status" $rc 7
equal "backends" "$(manifest '{p["backend"] for p in m["probes"]}, m["complete"]')" "({'none'}, True)"
equal "rows" "$(rows pids | wc -l)" 0

# A target counts as ended only once the trace has attached to it, which --delay puts off.
sh -c 'read _ <gate; od late; read _ <gate' >out 9>&- &
job=$!
await at_gate $job
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
grep -q 'dltraced: [0-9]* MiB are not written back yet' err || fail "said nothing of what is dirty: $(cat err)"
[ "$(manifest 'm["end"]["monotonic_ns"] - m["workload"]["end"]["monotonic_ns"] >= 10**9')" = True ] ||
	fail "it did not linger: $(manifest 'm["end"], m["workload"]')"

# TERM ends the lingering: no workload is left to receive it.
spawn -v --linger 1h -- true
await grep -q 'the targets have ended' err
kill -TERM "$dlt"
join
equal "status after TERM" $rc 0
check whole
