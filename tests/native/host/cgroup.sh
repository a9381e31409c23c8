#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --cgroup and --container, on v2 and on v1 as they are mounted here. A container is a child of its runtime's daemon:
# here a helper that was started earlier forks the job, which moves itself into the cgroup and executes. Every row of it
# is there, and none of a twin outside of the cgroup. Cgroups may exist with processes in them, exist and be empty, or
# come later, even with their parents; so may containers, whose names stand-ins for docker know. Such targets add to a
# workload, here one that only waits.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
probed=create_del,open,time_align
need python3
with_helpers
gate

id=$(printf '%064x' $$)
short=$(printf 'c%015d' $$) # another name's prefix
other=$short$(printf '%048d' 0)
made=''
finish() {
	# the innermost first
	for dir in $made; do rmdir "$dir"; done
	cleanup
}
trap finish EXIT

# cgroup DIR: makes it; it is removed at the end.
cgroup() {
	mkdir "$1" || fail "mkdir $1"
	made="$1 $made"
}

# v2 or v1, one writable mount each; cpuset accepts processes only once it is configured.
hierarchies=$(awk '/ - cgroup2 / && !v2++ { print $5 }
	/ - cgroup / && !/cpuset/ && !v1++ { print $5 }' /proc/self/mountinfo)
for top in $hierarchies; do
	if mkdir "$top/dltraced-$$" 2>/dev/null; then
		rmdir "$top/dltraced-$$"
		tops="${tops-} $top"
	fi
done
[ "${tops-}" ] || skip "a cgroup hierarchy that can be written"

# A container runtime: it knows a container once known/NAME has the answer.
mkdir known
cat >helpers/docker <<END
#!/bin/sh
[ "\$1 \$2 \$3 \$4 \$5" = "inspect -f {{.State.Pid}} {{.Id}} --type container" ] && exec cat "$PWD/known/\$6"
END
chmod +x helpers/docker

# The helper reads lines with a cgroup (or nothing) and a folder: the job moves there and runs.
mkfifo todo
(
	while read -r group dir; do
		sh -c '[ "$1" = none ] || echo $$ >"$1/cgroup.procs"
			shift; exec "$@"' job "$group" "$W/forks" -s many -n 200 "$dir" >counts.part
		mv counts.part counts
	done
) <todo 9>&- &
exec 8>todo

# job GROUP: runs it in GROUP, and a twin of it in no group; both have ended when this returns.
job() {
	rm -rf dir twin counts
	mkdir dir twin
	echo "none twin" >&8
	await [ -s counts ]
	rm counts
	echo "$1 dir" >&8
	await [ -s counts ]
}

# traced OPTION...: the running trace has every row of the job, and none of the twin.
traced() {
	echo >&9
	join
	equal "$*: status" $rc 0
	for call in create unlink; do
		equal "$*: $call" "$(rows create_del "FUNC ~ /^$call/ && PATH ~ /\/dir\/leaf/" | wc -l)" 200
	done
	equal "$*: open" "$(rows open 'RET >= 0 && PATH ~ /\/dir\/leaf/' | wc -l)" 200
	equal "$*: fork" "$(rows pids 'EVENT == "fork"' | wc -l)" 200
	equal "$*: exec" "$(rows pids 'EVENT == "exec" && COMM == "forks"' | wc -l)" 1
	equal "$*: joined" "$(rows pids 'EVENT == "snapshot"' | wc -l)" 1
	equal "$*: ended" "$(rows pids 'COMM == "forks" && EVENT == "exit" && STATUS == 0' | wc -l)" 201
	equal "$*: twin" "$(rows open 'PATH ~ /\/twin\//' | wc -l)" 0
	check whole
}

# begin OPTION...: a trace; the workload begins once the other targets are being traced.
begin() {
	rm -f begun
	spawn "$@" -- sh -c ': >begun; read -r _ <gate'
	await [ -e begun ]
}

for top in $tops; do
	group=$top/dltraced-$$

	begin --container new
	cgroup "$group"
	cgroup "$group/docker-$id.scope"
	job "$group/docker-$id.scope"
	traced --container new

	# the same by name, which exists before the container has a process
	rmdir "$group/docker-$id.scope"
	begin -v --container later_job
	grep -Eq -- '--container later_job is not there yet \(docker: not known[;)].*: the trace waits for it' err ||
		fail "not said: $(cat err)"
	echo "0 $id" >known/later_job
	mkdir "$group/docker-$id.scope"
	await grep -q -- '--container later_job is there' err
	job "$group/docker-$id.scope"
	traced --container NAME
	rm known/later_job

	# the cgroup of a shim below it
	begin --container "$id"
	cgroup "$group/docker-$id.scope/inner"
	job "$group/docker-$id.scope/inner"
	traced --container ID

	begin --cgroup "$group"
	job "$group/docker-$id.scope"
	traced --cgroup DIR

	begin --cgroup "$group/later/step"
	cgroup "$group/later"
	cgroup "$group/later/step"
	job "$group/later/step"
	traced --cgroup LATER

	begin --cgroup "/dltraced-$$/by/path"
	cgroup "$group/by"
	cgroup "$group/by/path"
	job "$group/by/path"
	traced --cgroup PATH
done

# stay GROUP FILE: one process that moves there, makes the file, and opens it now and then until a file `over' exists.
stay() {
	exec sh -c 'echo $$ >"$1/cgroup.procs"; : >"$2"
		exec python3 -c "import os, sys, time
while not os.path.exists(\"over\"):
    open(sys.argv[1]).close()
    time.sleep(0.01)" "$2"' stay "$@"
}

# is_tracing: the start is complete. Rows come before that; a signal then would end the trace as if nothing had been
# traced.
is_tracing() {
	"$DLT" status --json | python3 -c 'import json, sys
sys.exit(all(t["phase"] != "tracing" for t in json.load(sys.stdin)))'
}

# --- processes that are there already -------------------------------------------------------------

# With --delay, a cgroup that is made meanwhile already has processes when the trace begins.
group=$top/dltraced-$$/$other
spawn --container new --delay 2
await [ -s "$t/manifest.json" ]
cgroup "$group"
stay "$group" ready &
stay=$!
await [ -e ready ]
await grep -qs '	[0-9]*	ready	' "$t/open.out"
await is_tracing
kill -INT $dlt
join
equal "--container new --delay: status" $rc 0
equal "--container new --delay: joined" "$(col pids PID 'EVENT == "snapshot"' | sort -u)" $stay
check whole
echo "$stay" >known/my_job
for container in my_job "$short" "$other"; do
	spawn --container "$container"
	await grep -qs "	$stay	.*snapshot" "$t/pids.out"
	await grep -qs '	[0-9]*	ready	' "$t/open.out"
	await is_tracing
	kill -INT $dlt
	join
	equal "--container $container: status" $rc 0
	equal "--container $container: joined" "$(col pids PID 'EVENT == "snapshot"' | sort -u)" $stay
	check whole
done
: >over
wait $stay

# --- a process that is there by the time its container is known ---------------------------------------

# Another container's cgroup is looked at as well, but not traced.
other=$short$(printf '%048d' 1)
apart=$short$(printf '%048d' 2)
spawn -v --container slow_job
await grep -q 'slow_job is not there yet' err
rm over
for container in $other $apart; do
	cgroup "$top/dltraced-$$/$container"
	stay "$top/dltraced-$$/$container" "ready-$container" &
	stays="${stays-} $!"
	await [ -e "ready-$container" ]
done
# shellcheck disable=SC2086 # words
set -- $stays
echo "$1 $other" >known/slow_job
mkdir "$top/dltraced-$$/$short$(printf '%048d' 3)" # has dltraced ask the runtime again
made="$top/dltraced-$$/$short$(printf '%048d' 3) $made"
await grep -q -- '--container slow_job is there' err
await grep -qs "	ready-$other	" "$t/open.out"
await is_tracing
kill -INT $dlt
join
: >over
wait "$1" "$2"
equal "slow_job: status" $rc 0
equal "slow_job: joined" "$(col pids PID 'EVENT == "snapshot"' | sort -u)" "$1"
equal "slow_job: whose opens" "$(col open PID 'FILE ~ /^ready-/' | sort -u)" "$1"
check whole

# --- what cannot be --------------------------------------------------------------------------------

spawn --container a/b
join
equal "--container a/b: status" $rc 125
grep -q "not a container's name" err || fail "not said: $(cat err)"
[ ! -e "$t" ] || fail "a folder for nothing"
