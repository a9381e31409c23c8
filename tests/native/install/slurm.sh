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
. "$here/slurm.inc"

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
