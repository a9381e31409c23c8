#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --cgroup and --container new where cgroups are v1, hybrid (v1 with v2 beside it) and v2: who moves
# into the cgroup is traced from then on, as is a container that is made while tracing; nobody else
# is. CGROUP is the path of either.
native=${0%/*}/../../native
. "$native/lib.sh"
gate
top=/sys/fs/cgroup
scope=docker-$(printf '%064x' $$).scope

# layout NAME: mounts the hierarchies in this layout; $job is the one for --cgroup, $unit the one for containers.
layout() {
	umount $top || fail "umount $top"
	case $1 in
	v1)
		mount -t tmpfs cgroup $top && mkdir $top/systemd $top/pids &&
			mount -t cgroup -o none,name=systemd systemd $top/systemd &&
			mount -t cgroup -o pids pids $top/pids
		job=$top/pids unit=$top/systemd
		;;
	hybrid)
		mount -t tmpfs cgroup $top && mkdir $top/unified $top/pids &&
			mount -t cgroup2 cgroup2 $top/unified && mount -t cgroup -o pids pids $top/pids
		job=$top/unified unit=$top/pids
		;;
	v2)
		mount -t cgroup2 cgroup2 $top
		job=$top unit=$top
		;;
	esac || fail "$1 cannot be mounted"
}

# As the guest had it, for later scripts.
restore() {
	cleanup
	mountpoint -q $top && [ -e $top/cgroup.procs ] && return
	umount -R -l $top
	mount -t cgroup2 cgroup2 $top
}
trap restore EXIT

away() {
	case $1 in
	v1) umount $top/systemd $top/pids ;;
	hybrid) umount $top/unified $top/pids ;;
	esac
}

# in_cgroup DIR FILE: a process that moves there, executes, makes FILE and waits for a line.
in_cgroup() {
	sh -c 'echo $$ >"$1/cgroup.procs" && exec sh -c ": >$2; read -r _ <stay"' mover "$1" "$2" 9>&- &
	await [ -e "$2" ]
	await grep -qs "	${1#"$3"}	" "$t/pids.out" # its CGROUP is looked up while the process exists
}

mkfifo stay
exec 7<>stay
for layout in v1 hybrid v2; do
	layout $layout
	mkdir $job/job
	rm -f begun
	spawn --cgroup $job/job --container new -- sh -c ': >begun; read -r _ <gate'
	await [ -e begun ]
	mkdir "$unit/$scope"
	in_cgroup $job/job made-in-cgroup $job
	in_cgroup "$unit/$scope" made-in-container $unit
	printf '\n\n' >&7
	touch made-outside
	echo >&9
	join
	wait
	equal "$layout: status ($(cat err))" $rc 0
	equal "$layout: made" "$(col create_del PATH 'FUNC == "create" && PATH ~ /\/made-/' | sed 's,.*/,,' | xargs)" \
		"made-in-cgroup made-in-container"
	check whole
	rmdir $job/job "$unit/$scope" || fail "$layout: still in use"
	away $layout
	rm -f made-*
done
