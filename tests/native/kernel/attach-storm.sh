#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Hundreds of processes come and go while a trace of them begins, by --pid and by --cgroup. Each process that begins
# after the search has all its rows. None that ends during the search stays in the target: otherwise the trace would not
# end with the last process.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
need python3
gate

group=''
finish() {
	[ -z "$group" ] || rmdir "$group"
	cleanup
}
trap finish EXIT

# Runs in the current folder until a file `over' exists, and writes a line of counts for each run.
cat >storm <<'END'
dir=before
until [ -e over ]; do
	[ ! -e begun ] || dir=after
	"$W/forks" -s many -n 64 $dir >>$dir.counts || exit 1
done
END

# start_storm [GROUP]: sets $job to its pid.
start_storm() {
	rm -rf before* after* over begun
	mkdir before after
	sh -c '[ -z "$1" ] || echo $$ >"$1/cgroup.procs"; exec sh storm' storm "${1-}" &
	job=$!
	await [ -s before.counts ]
}

# end_storm: after some more runs that begin after the trace has.
end_storm() {
	: >begun
	await test -s after.counts
	: >over
	wait $job || fail "storm: status $?"
}

# check_storm WHAT: the rows have all leaves of the runs that began after the trace.
check_storm() {
	equal "$1: status" $rc 0
	equal "$1: leaves" "$(rows create_del 'FUNC == "create" && PATH ~ /\/after\/leaf/' | wc -l)" \
		"$(awk '{ for (i = 1; i < NF; i++) if ($i == "leaves") n += $(i + 1) } END { print n }' after.counts)"
	check whole
}

for round in 1 2 3; do
	start_storm
	spawn -P open,create_del,time_align --pid $job
	await grep -qs "	snapshot	.*	$job	" "$t/pids.out"
	end_storm
	join # the trace ends by itself
	check_storm "--pid, round $round"
done

for top in $(awk '/ - cgroup2 / && !v2++ { print $5 }
		/ - cgroup / && !/cpuset/ && !v1++ { print $5 }' /proc/self/mountinfo); do
	mkdir "$top/dltraced-$$" 2>/dev/null || continue
	group=$top/dltraced-$$
	for round in 1 2 3; do
		start_storm "$group"
		rm -f waits
		spawn -P open,create_del,time_align --cgroup "$group" -- sh -c ': >waits; read -r _ <gate'
		await [ -e waits ]
		end_storm
		echo >&9
		join
		check_storm "--cgroup $group, round $round"
	done
	rmdir "$group"
	group=''
done
