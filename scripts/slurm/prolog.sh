#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# prolog.sh [CONF]: as Prolog in slurm.conf, trace a job on this node from its first instruction, by its
# cgroup, which Slurm makes later (ProctrackType=proctrack/cgroup). By default those jobs whose comment
# has the word dltraced: sbatch --comment=dltraced. CONF is /etc/dltraced/slurm.conf. The status is always 0.
trap 'exit 0' EXIT # also where sh itself gives up
# shellcheck source=scripts/slurm/common.sh
. "${0%/*}/common.sh"

# Prints the job's cgroups, for several slurmd on this host or one: v1 and v2, as far as they exist.
cgroups() {
	if [ -n "$CGROUPS" ]; then
		printf '%s\n' "$CGROUPS" | sed "s/%j/$job/g; s/%u/$SLURM_JOB_UID/g; s/%N/$node/g"
	elif [ -d /sys/fs/cgroup/freezer ]; then
		echo "/sys/fs/cgroup/freezer/slurm/uid_$SLURM_JOB_UID/job_$job"
		echo "/sys/fs/cgroup/freezer/slurm_$node/uid_$SLURM_JOB_UID/job_$job"
	else
		echo "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_$job"
		echo "/sys/fs/cgroup/system.slice/${node}_slurmstepd.scope/job_$job"
	fi
}

read_conf "${1:-/etc/dltraced/slurm.conf}"
wanted || exit 0
names
# Root's own folder, so that no user can put a link there; the trace's folder is the user's.
mkdir -p "$DIR/$job_folder" || leave "cannot make $DIR/$job_folder, nothing is traced"

# shellcheck disable=SC2086 # words
set -- $OPTIONS
for cgroup in $(cgroups); do
	set -- "$@" --cgroup "$cgroup"
done
limited "$PROGRAM" start --background -q -e slurm --user "$SLURM_JOB_UID" -o "$trace" "$@" ||
	say "not traced: $said"
exit 0
