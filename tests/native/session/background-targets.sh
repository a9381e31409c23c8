#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --background without a command: --cgroup and --container for processes that run already, that come into an empty
# cgroup, and for a container that starts later. The shell gets the terminal back once it traces, and status shows the
# trace. It goes on when its processes have ended, as others may come, and stop ends it with its files whole.
. "${0%/*}/../lib.sh"
need python3
with_helpers
gate

top=$(awk '/ - cgroup2 / { print $5; exit }' /proc/self/mountinfo)
[ "$top" ] || top=$(awk '/ - cgroup / && !/cpuset/ { print $5; exit }' /proc/self/mountinfo)
group=$top/dltraced-$$ id=$(printf '%064x' $$)
scope=$group/docker-$id.scope
mkdir "$group" 2>mkdir.err || skip "a cgroup hierarchy that can be written ($(cat mkdir.err))"
mkdir "$scope" "$group/empty"
pids='' pid=''
finish() {
	[ -z "$pid" ] || kill -9 "$pid"
	for p in $pids; do kill -9 "$p" 2>/dev/null; done
	for dir in "$scope" "$group/empty" "$group"; do until rmdir "$dir" 2>/dev/null || [ ! -e "$dir" ]; do sleep 0.1; done; done
	cleanup
}
trap finish EXIT

mkdir known
cat >helpers/docker <<END
#!/bin/sh
[ "\$1 \$2 \$3 \$4 \$5" = "inspect -f {{.State.Pid}} {{.Id}} --type container" ] && exec cat "$PWD/known/\$6"
END
chmod +x helpers/docker

# job CGROUP: a process there that opens each file whose name it reads; its pid is added to $pids.
job() {
	sh -c 'echo $$ >"$1/cgroup.procs"; while read -r file <gate; do : >"$file"; done' job "$1" &
	pids="$pids $!"
	job=$!
	await grep -q "/dltraced-$$/" "/proc/$job/cgroup"
}
# wants FILE PID: this process makes the file, and its row has this PID.
wants() {
	echo "$1" >&9
	await grep -qs "	$2	.*	$PWD/$1	" "$t/create_del.out"
}
# start ARG...: in the background; $pid is the process that goes on.
start() {
	rm -rf "$t"
	said=$("$DLT" start --background --collectors none --probes -bio --min-free 0 -o "$t" "$@" 2>&1 </dev/null 9>&-) ||
		fail "status $? of $*: $said"
	pid=$(expr "$said" : '.*background: process \([0-9]*\),')
}
# stops WHAT: stop asks the process to end, and it ends.
stops() {
	"$DLT" status | awk -v pid="$pid" '$2 == pid && $3 == "tracing"' | grep -q . || fail "$1: not in status: $("$DLT" status)"
	"$DLT" mark -t "$pid" here 2>marked || fail "$1: mark: $(cat marked)"
	"$DLT" stop "$pid" 2>stopped || fail "$1: stop: $(cat stopped)"
	await gone "$pid"
	grep -q "rows, .* lost, in $t" stopped || fail "$1: no summary: $(cat stopped)"
	equal "$1: marks" "$(rows marks | wc -l)" 1
	pid=''
	check whole
}

job "$scope"
start --cgroup "$scope"
wants by-cgroup "$job"
[ ! -e "$t/workload.log" ] || fail "a log of nothing"
stops --cgroup

echo "$job $id" >known/my_job
start --container my_job
wants by-name "$job"
# its processes end, and others may come
kill "$job"
await gone "$job"
job "$scope"
wants a-second "$job"
stops "--container NAME"
kill "$job"
rm known/my_job

start --cgroup "$group/empty"
job "$group/empty"
wants into-empty "$job"
stops "--cgroup that is empty"
kill "$job"

start --container later
rmdir "$scope" 2>/dev/null || await rmdir "$scope"
echo "0 $id" >known/later
mkdir "$scope"
await grep -q -- '--container later is there' "$t/dltraced.log"
job "$scope"
wants later "$job"
stops "--container that starts later"
kill "$job"

start --container new
rmdir "$scope" 2>/dev/null || await rmdir "$scope"
mkdir "$scope"
job "$scope"
wants new "$job"
stops "--container new"
