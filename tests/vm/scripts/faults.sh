#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What only a guest may suffer, each in the middle of a trace: a CPU that goes and comes, the clock set by
# an hour both ways and slewed, the machine standing still for seconds (tests/vm/shell stops QEMU),
# and dltraced ended by the OOM killer in a cgroup of its own. Nothing is
# lost, TIMESTAMP goes on and TIME tells the clock's steps; the OOM killer leaves no program behind, and
# a workload that goes on.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3 bpftool
gate
top=/sys/fs/cgroup cpu=/sys/devices/system/cpu/cpu1/online
group=''
finish() {
	[ ! -e $cpu ] || echo 1 >$cpu
	cleanup
	[ -z "$group" ] || until rmdir "$group" 2>err.rmdir; do sleep 0.2; done
}
trap finish EXIT

# ticks N: waits until time_align.out has N more rows.
ticks() {
	want=$(($(wc -l <"$t/time_align.out") + $1))
	await eval '[ "$(wc -l <"$t/time_align.out")" -ge $want ]'
}

# --- a CPU, the clock, a pause --------------------------------------------------------------------

cat >job <<'END'
read -r _ <gate
"$W/calls" -n 10 -t 4 -f 2 -T tally dir >pids
read -r _ <gate
END
export W
spawn -- sh job
await [ -s "$t/manifest.json" ]
steps=0
if [ -w $cpu ]; then
	echo 0 >$cpu || fail "cannot take CPU 1 away"
	echo >&9
	ticks 1
	echo 1 >$cpu
else
	echo "no CPU that can be taken away"
	echo >&9
fi
ticks 1
for step in '+1 hour' '-1 hour'; do
	date -s "$(date -d "now $step")" >date.out || fail "cannot set the clock"
	steps=$((steps + 1))
	ticks 2
done
# Half a second, which the kernel adjusts at 500 ppm: no step.
python3 -c '
import ctypes, struct
timex = ctypes.create_string_buffer(struct.pack("=I4xq", 0x8001, 500000), 512)
assert ctypes.CDLL(None).adjtimex(timex) >= 0' || fail "cannot slew the clock"
ticks 2
echo 'vm: stand still' >/dev/kmsg # for 5 s
ticks 5
await [ -s tally ]
echo >&9
join
equal "status ($(cat err))" $rc 0
check tally tally pids
[ "$(rows time_align 'EVENT == "step"' | wc -l)" -ge $steps ] || fail "steps: $(col time_align EVENT | uniq -c)"
# An hour forward and an hour back: TIME shows it, from one row of time_align to the next.
equal "steps of an hour" "$(col time_align REALTIME_NS,TIMESTAMP | awk '
	NR > 1 { d = ($1 - $2) - (r - m); if (d > 3.5e12) up++; if (d < -3.5e12) down++ } { r = $1; m = $2 }
	END { print up + 0, down + 0 }')" "1 1"
check clocks 5

# --- the OOM killer -------------------------------------------------------------------------------

echo +memory >$top/cgroup.subtree_control || skip "the memory controller"
mkdir $top/dltraced-oom || fail "mkdir"
group=$top/dltraced-oom
sh -c 'read -r _ <gate; "$0" -n 20000; echo over >over' "$W/storm" >out 9>&- &
job=$!
await at_gate $job
spawn --pid $job
await grep -qs "	$job	" "$t/pids.out"
echo $dlt >$group/cgroup.procs
objects() { sed -n "s/^$1_id:[[:blank:]]*//p" /proc/$dlt/fdinfo/* 2>/dev/null | sort -u; }
progs=$(objects prog) links=$(objects link)
[ -n "$progs" ] && [ -n "$links" ] || fail "no BPF objects"
echo >&9
dmesg -n 1
echo 0 >$group/memory.max || fail "cannot limit the memory"
join 2>err.join
equal "OOM: status" $rc 137
grep -q '^oom_kill [1-9]' $group/memory.events || fail "not by the OOM killer: $(cat $group/memory.events)"
wait $job || fail "OOM: the workload's status $?"
equal "OOM: the workload" "$(cat over)" over
for kind in prog link; do
	eval "echo \"\$${kind}s\"" | sort >ids
	await eval 'bpftool $kind show | sed -n "s/^\([0-9]*\):.*/\1/p" | sort >now; [ -z "$(comm -12 ids now)" ]'
done
dmesg -C # its report has a call trace, which would look like a complaint of the kernel
dmesg -n 5
check lines
"$DLT" report --full "$t" >report || fail "OOM: report: status $?"
grep -q '^files *NOT complete' report || fail "report does not say so: $(cat report)"
