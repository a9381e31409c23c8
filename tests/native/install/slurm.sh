#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Slurm: a cluster of two nodes on this machine, with its own configuration, ports, state, keys and host names. A job
# that asks for it is traced on each node by prolog and epilog, whatever its name and comment are; a job that does not
# ask is not. A failure there makes no job fail, drains no node, and does not take long. `srun dltraced start' writes a
# folder for each node, on a file system that they share.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
need slurmctld slurmd srun scontrol munged unshare setpriv python3
[ -w /sys/fs/cgroup/freezer ] || skip "a freezer hierarchy (with v2 alone Slurm takes systemd too)"
scripts=$(realpath "$here/../../scripts/slurm")
a=dlta$$ b=dltb$$ # nodes
pids=()

# The daemons get some seconds to end; steps that are stuck are found in the nodes' cgroups.
finish() {
	local pid node
	kill "${pids[@]}" 2>/dev/null
	for _ in {1..50}; do
		kill -0 "${pids[@]}" 2>/dev/null || break
		sleep 0.1
	done
	for node in $a $b; do
		find "/sys/fs/cgroup/freezer/slurm_$node" -name cgroup.procs -exec cat {} + 2>/dev/null
	done | xargs -r kill -9
	for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null; done
	wait
	for node in $a $b; do
		find "/sys/fs/cgroup/freezer/slurm_$node" -depth -type d -exec rmdir {} + 2>/dev/null
	done
	cleanup
}
trap finish EXIT

# --- the cluster ----------------------------------------------------------------------------------

# A busy machine may be slow: no timeout of Slurm is shorter than run-native's LIMIT.
export SLURM_CONF=$TMPDIR/slurm.conf
export -n TMPDIR # another user's jobs cannot write there
mkdir state shared
read -r port port_a port_b < <(python3 -c '
import socket
s = [socket.socket() for _ in range(3)]
for x in s: x.bind(("127.0.0.1", 0))
print(*[x.getsockname()[1] for x in s])')
cat >slurm.conf <<END
ClusterName=dlt
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$TMPDIR/munge.sock
CredType=cred/munge
SlurmctldPort=$port
SlurmctldPidFile=$TMPDIR/ctld.pid
SlurmdPidFile=$TMPDIR/%n.pid
SlurmdSpoolDir=$TMPDIR/spool.%n
StateSaveLocation=$TMPDIR/state
ProctrackType=proctrack/cgroup
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
SlurmdParameters=config_overrides
MessageTimeout=100
TCPTimeout=60
SlurmdTimeout=0
UnkillableStepTimeout=1000
Prolog=$TMPDIR/prolog
Epilog=$TMPDIR/epilog
NodeName=$a NodeHostname=$a NodeAddr=127.0.0.1 Port=$port_a CPUs=1
NodeName=$b NodeHostname=$b NodeAddr=127.0.0.1 Port=$port_b CPUs=1
PartitionName=all Nodes=$a,$b Default=YES State=UP
END
printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nCgroupAutomount=no\n' >cgroup.conf
for script in prolog epilog; do
	printf '#!/bin/sh\nexec "%s/%s.sh" "%s/conf"\n' "$scripts" $script "$TMPDIR" >$script
	chmod 755 $script
done
# conf LINE...: the configuration that prolog and epilog read
conf() {
	printf '%s\n' "DIR=$TMPDIR/traces" "PROGRAM='$DLT'" "LIMIT_S=1000" \
		"OPTIONS='--probes -bio --collectors none --min-free 0'" "$@" >conf
}
conf

head -c 1024 /dev/urandom >munge.key
chmod 600 munge.key
munged -F --force --key-file="$PWD/munge.key" --socket="$PWD/munge.sock" --pid-file="$PWD/munge.pid" \
	--log-file="$PWD/munge.log" --seed-file="$PWD/munge.seed" >munge.err 2>&1 &
pids+=($!)
await test -S munge.sock
slurmctld -D >ctld.log 2>&1 &
pids+=($!)
for node in $a $b; do
	mkdir "spool.$node"
	# shellcheck disable=SC2016
	unshare --uts sh -c 'hostname "$1"; exec slurmd -D -N "$1"' - $node >$node.log 2>&1 &
	pids+=($!)
done
idle() { [ "$(sinfo -h -N -o %T 2>/dev/null | sort -u)" = idle ]; }
await idle

# on_both [OPTION...] -- ARG...: a job with salloc's OPTIONs; srun runs ARG on each node, as two steps, since the
# slurmstepd of a single step wait for each other, for minutes on a busy machine. The command begins with $as.
as=()
on_both() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	# shellcheck disable=SC2016
	"${as[@]}" salloc -N2 --quiet "${options[@]}" bash -c '
		srun -N1 -n1 --quiet -w "$0" "${@:2}" & srun -N1 -n1 --quiet -w "$1" "${@:2}"; status=$?
		wait $! && exit $status' \
		$a $b "${@:2}"
}

# run [OPTION...]: a job of nobody that writes a file for each node. When this returns, the job and its epilogs have
# ended, and $job is its number.
run() {
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	job=$(on_both -D / "$@" -- sh -c "echo \$SLURM_JOB_ID; : >$TMPDIR/made/\$SLURMD_NODENAME-file") ||
		fail "srun $*: status $?: $(tail -n 5 ctld.log $a.log $b.log)"
	as=()
	job=$(sort -u <<<"$job")
	await idle
}

# --- prolog and epilog ----------------------------------------------------------------------------

mkdir -m 777 made
printf '#!/bin/sh\nexec sleep 1000\n' >slow
chmod 755 slow
hostile='$(touch hacked) `touch hacked` "; touch hacked; é'
run --comment="x $hostile,dltraced;" -J "$hostile"
for node in $a $b; do
	t=$TMPDIR/traces/$job/$node
	[ -d "$t" ] || fail "no trace of node $node: $(cat $node.log)"
	equal "owner and mode" "$(stat -c '%u %a' "$t")" "65534 700"
	equal "files created, of this node alone" "$(col create_del PATH "FUNC == \"create\" && PATH ~ /made/")" \
		"$TMPDIR/made/$node-file"
	check whole
done
[ -z "$(find / -xdev -maxdepth 2 -name hacked 2>/dev/null)$(find . -name hacked)" ] || fail "a job's name was run"

run --comment="no-dltraced dltraced2" -J dltraced
[ ! -e "traces/$job" ] || fail "a job that did not ask for it was traced"
# A failure there does not affect the job.
conf PROGRAM=/nonexistent
run --comment=dltraced
[ -e "$TMPDIR/made/$a-file" ] || fail "the job did not run"

# alone [VARIABLE=VALUE]...: calls both as slurmd does, without the cluster; their status is always 0.
alone() {
	for script in prolog epilog; do
		env -i SLURM_JOB_ID=900 SLURMD_NODENAME=n SLURM_JOB_UID=65534 SLURM_JOB_COMMENT=dltraced "$@" \
			./$script 2>>alone.err || fail "$script, $*: status $?"
	done
}
conf JOBS=all
alone SLURM_JOB_COMMENT= SLURM_JOB_RESTART_COUNT=2
t=$TMPDIR/traces/900.2/n
equal "JOBS=all, as it was requeued" "$(manifest 'm["complete"]')" True
for broken in JOBS=none PROGRAM=false 'exit 3' 'nonsense (' DIR=/proc/no "PROGRAM=$TMPDIR/slow
LIMIT_S=1"; do
	conf "$broken"
	alone
done
conf
for bad in SLURM_JOB_ID=../900 SLURM_JOB_ID= SLURMD_NODENAME=../x SLURM_JOB_UID= SLURM_JOB_RESTART_COUNT=x \
	SLURM_JOB_COMMENT=undltraced; do
	alone "$bad"
done
chmod 666 conf
alone
# not anywhere in a path: our PID, and thus a node's name, may contain 900
[ -z "$(find traces -path 'traces/900*' ! -path 'traces/900.2*' ! -path traces/900)" ] || fail "traced: $(find traces)"

# --- srun dltraced start --------------------------------------------------------------------------

cd shared || exit 1
# it lives until its row is there, as the rank is read from its environment at that time
on_both -- "$DLT" start -q -e train --probes -bio --collectors none --min-free 0 -- sh -c '
	echo $SLURM_JOB_ID
	until grep -q exec "traces/train_$SLURM_JOB_ID/$SLURMD_NODENAME/pids.out"; do sleep 0.1; done' >job ||
	fail "srun dltraced: status $?"
job=$(sort -u job)
for node in $a $b; do
	t=$PWD/traces/train_$job/$node
	[ -d "$t" ] || fail "no folder of node $node: $(find .)"
	equal "rank on $node" "$(col pids RANK 'EVENT == "exec" && COMM == "sh"' | sort -u)" 0
	check whole
done
on_both -- "$DLT" start -q -o 'of %j/%h.%n' --probes -bio --collectors none --min-free 0 -- sh -c 'exit 3'
equal "status of srun" $? 3
await idle
equal "folders" "$(cd of* && echo *)" "$a.0 $b.0"
