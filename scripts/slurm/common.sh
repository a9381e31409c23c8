# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=sh disable=SC2034 # what is set here is used there
#
# Shared by prolog.sh and epilog.sh. slurmd runs them as root, and drains a node where one fails or takes too
# long, so nothing here may end with another status than 0, or wait for ever. Of the values that users choose,
# only the comment is read, for one word; the rest are numbers and names that are checked.

PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH LC_ALL=C
umask 022
set -f # options and comments are words, not patterns

# The values that /etc/dltraced/slurm.conf can set, see slurm.conf.example.
JOBS=comment
DIR=/var/lib/dltraced-slurm
OPTIONS='--keep 10G --compress gzip'
PROGRAM=dltraced
LIMIT_S=20
CGROUPS=

say() {
	logger -t "dltraced ${0##*/}" -- "job ${SLURM_JOB_ID-?}: $*" 2>/dev/null || echo "dltraced: $*" >&2
}

leave() {
	[ $# = 0 ] || say "$*"
	exit 0
}

# limited COMMAND...: for LIMIT_S seconds at most. Its output is then in $said: by a file, as a trace that is still
# beginning would keep a pipe open for longer.
limited() {
	messages=$(mktemp) || messages=/dev/null
	timeout -k 5 "$LIMIT_S" "$@" </dev/null >"$messages" 2>&1
	rc=$? said=$(head -c 2000 "$messages" | tr '\n' ' ')
	[ "$messages" = /dev/null ] || rm -f "$messages"
	[ $rc != 124 ] || said="$said(not done after $LIMIT_S s)"
	return $rc
}

is_number() { case $1 in '' | *[!0-9]*) false ;; esac; }
is_name() { case $1 in '' | [.-]* | *[!A-Za-z0-9_.-]*) false ;; esac; }

# Root runs this as shell code, so nobody else may be able to write it.
read_conf() {
	[ -e "$1" ] || return 0
	[ -z "$(find -L "$1" \( ! -user root -o -perm /022 \) -print)" ] ||
		leave "$1 is not root's alone to write: not read, nothing is traced"
	sh -n "$1" 2>/dev/null || leave "$1: sh -n finds errors, nothing is traced"
	# shellcheck source=/dev/null
	. "$1"
}

wanted() {
	case $JOBS in
	all) ;;
	comment)
		case " ${SLURM_JOB_COMMENT-} " in
		*[!A-Za-z0-9_.-]dltraced[!A-Za-z0-9_.-]*) ;;
		*) false ;;
		esac
		;;
	*) false ;;
	esac
}

# Sets $job, $node and $trace, the trace's folder: each job, requeue and node has its own.
names() {
	job=${SLURM_JOB_ID-} node=${SLURMD_NODENAME-} restart=${SLURM_JOB_RESTART_COUNT-0}
	if ! is_number "$job" || ! is_number "$restart" || ! is_number "${SLURM_JOB_UID-}" || ! is_name "$node"; then
		leave "what Slurm says of the job is not as expected, nothing is traced"
	fi
	job_folder=$job
	[ "$restart" = 0 ] || job_folder=$job.$restart
	trace=$DIR/$job_folder/$node
}
