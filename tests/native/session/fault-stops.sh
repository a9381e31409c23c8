#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A container (a cgroup) that is frozen or stopped while it is traced, also at the trace's end; two traces of the same
# process, one of which is killed; rings of the smallest size; dltraced stopped for 2 s (LONG=1: 10 s) with rings of the
# usual size: rows and lost ones add up to the calls made, and the workload does not notice.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
need python3
gate
head -c 1048576 /dev/zero >data
cp data other

group='' group_procs=''
finish() {
	[ -z "$group" ] || {
		thaw
		for pid in $(cat "$group_procs"); do kill -9 "$pid"; done
		until rmdir "$group" 2>err.rmdir; do sleep 0.05; done
	}
	cleanup
}
trap finish EXIT

# count KEY: of vfs_rw, in the manifest.
count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }

# accounted WHAT: every call is a row or lost, and the file has the rows.
accounted() {
	equal "$1: complete" "$(manifest 'm["complete"]')" True
	equal "$1: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
	equal "$1: rows in the file" "$(rows vfs_rw | wc -l)" "$(count rows)"
	check lines
	check fids
	"$DLT" report --full "$t" >report || fail "$1: report: status $?"
}

# reads FILE: number of rows for reads of it.
reads() { rows vfs_rw "FUNC == \"pread64\" && FILE == \"$1\"" | wc -l; }

# --- rings of the least size ----------------------------------------------------------------------

trace --buffer 4K -- "$W/storm" -n 100000 data >out 2>err || fail "least rings: status $?"
accounted "least rings"
[ "$(count calls)" -ge 110256 ] || fail "least rings: $(count calls) calls"
[ "$(count lost)" = 0 ] || grep -Eq 'rows? lost' err || fail "least rings: losses not said: $(cat err)"

# --- dltraced is stopped --------------------------------------------------------------------------

cat >job <<'END'
read _ <gate
"$1" -n 200000 data
echo over >state
read _ <gate
END
spawn -- sh job "$W/storm" >out
await grep -qs '	sh	' "$t/vfs_rw.out"
kill -STOP "$dlt"
echo >&9
sleep "$([ "${LONG-}" ] && echo 10 || echo 2)" # the fault itself
await test -s state
kill -CONT "$dlt"
echo >&9
join
equal "stopped: status" $rc 0
accounted "stopped"
equal "stopped: reads" "$(($(reads data) + $(count lost)))" 210256

# --- two traces of the same process ---------------------------------------------------------------

rm state
sh job "$W/storm" >out 9>&- &
job=$!
await at_gate $job
spawn --pid $job
one=$dlt
await grep -qs "	snapshot	.*	$job	\|	$job	" "$t/pids.out"
"$DLT" start -q --collectors none --probes -bio --min-free 0 -o two --pid $job 2>err.two 9>&- &
two=$!
await grep -qs "	$job	" two/pids.out
kill -KILL $two
wait $two 2>err.wait
echo >&9
await test -s state
echo >&9
wait $job || fail "same process: the workload's status $?"
dlt=$one
join
equal "same process: status" $rc 0
accounted "same process"
equal "same process: reads" "$(($(reads data) + $(count lost)))" 210256
equal "same process: rows of the other trace" "$(col vfs_rw COMM | grep -c dltraced)" 0

# --- a frozen container ---------------------------------------------------------------------------

# v1 has a hierarchy for it, v2 a file in each cgroup.
for top in $(awk '/ - cgroup2 / { print $5 } / - cgroup .*freezer/ { print $5 }' /proc/self/mountinfo); do
	mkdir "$top/dltraced-$$" 2>err.mkdir || continue
	if [ -e "$top/dltraced-$$/freezer.state" ]; then
		freeze() { echo FROZEN >"$group/freezer.state"; }
		thaw() { echo THAWED >"$group/freezer.state"; }
		frozen() { grep -q '^FROZEN' "$group/freezer.state"; }
	elif [ -e "$top/dltraced-$$/cgroup.freeze" ]; then
		freeze() { echo 1 >"$group/cgroup.freeze"; }
		thaw() { echo 0 >"$group/cgroup.freeze"; }
		frozen() { grep -q '^frozen 1' "$group/cgroup.events"; }
	else
		rmdir "$top/dltraced-$$"
		continue
	fi
	group=$top/dltraced-$$ group_procs=$top/dltraced-$$/cgroup.procs
	break
done
[ -n "$group" ] || skip "a cgroup that can be frozen"

# Reads until a file `enough' exists, and counts.
cat >reads.py <<'END'
import os
open("reader", "w").write(str(os.getpid()))
fd, n = os.open("other", os.O_RDONLY), 0
while not os.path.exists("enough"):
    for i in range(100):
        os.pread(fd, 100, 0)
    n += 100
open("reads", "w").write(str(n))
END
for round in whole ended; do
	rm -f enough reads reader
	sh -c 'echo $$ >"$1/cgroup.procs" && exec python3 reads.py' sh "$group" 9>&- &
	job=$!
	await test -s reader
	spawn --cgroup "$group"
	await grep -qs '	other$' "$t/vfs_rw.out"
	freeze
	await frozen
	if [ $round = ended ]; then
		kill -TERM $dlt # the trace ends while no process in it can run
		join
		equal "frozen, $round: status" $rc 0
		accounted "frozen, $round"
	fi
	thaw
	: >enough
	wait $job || fail "frozen, $round: the workload's status $?"
	if [ $round = whole ]; then
		kill -TERM $dlt
		join
		equal "frozen, $round: status" $rc 0
		accounted "frozen, $round"
		made=$(cat reads) seen=$(($(reads other) + $(count lost)))
		# reads before the begin of the trace have no rows
		[ "$seen" -le "$made" ] && [ "$seen" -gt 0 ] || fail "frozen: $seen rows and lost of $made reads"
	fi
	t=$TMPDIR/t
done

# --- a container that is stopped --------------------------------------------------------------------

# Its process is killed during its calls, and its cgroup is removed; the trace goes on until it is ended.
rm -f enough reads reader
sh -c 'echo $$ >"$1/cgroup.procs" && exec python3 reads.py' sh "$group" 9>&- &
job=$!
await test -s reader
spawn --cgroup "$group"
await grep -qs '	other$' "$t/vfs_rw.out"
kill -9 $job
wait $job 2>err.wait
until rmdir "$group" 2>err.rmdir; do sleep 0.05; done
group=''
await eval '[ -n "$(rows pids "EVENT == \"exit\" && PID == $job")" ]'
"$DLT" mark -t "$t" later || fail "container stopped: mark"
kill -TERM $dlt
join
equal "container stopped: status" $rc 0
accounted "container stopped"
equal "container stopped: marks" "$(rows marks | wc -l)" 1
