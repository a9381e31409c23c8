#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --json' names what jobs wait for that are written as people write them (tests/workloads/jobs), traced without
# any option. Each job has one fault, which takes most of its time, and keeps an account by its own clock. The code of
# the bottleneck must be the fault's, and its share within 0.1 of the account's, which is a part of the time from the
# job's imports to its end, or of its life. A table has the result of each:
#
#     JOB VERDICT SHARE_SAID SHARE_TRUE SHARE_OF_LIFE
#
# A job for which the machine had no time (its account shows that) is tried again, and then left out: the script is a
# skip. Of a command that keeps no account (cp, tar) the account is that of a second run, and the machine may have had less
# time for one of the two: a wrong result is tried once more. Some jobs run always, the others while the machine is quiet
# and SECONDS_AT_MOST (25) have not passed, or with LONG=1 in any case. A note says how many did. By hand, as root, those
# with a word in their names:
#
#     tests/native/report/jobs.sh tokens
#     KEEP=DIR tests/native/report/jobs.sh tokens         keeps DIR/JOB/trace, account, report.json, log
#     START='--probes -bio,+sched' tests/native/report/jobs.sh    traced with these options
#     REPORT=DIR tests/native/report/jobs.sh              reports again on what KEEP has left there, and runs nothing
#
# alone: shares of the time in jobs of few seconds
if [ -z "${DLT-}" ]; then
	top=$(cd "${0%/*}/../../.." && pwd) && TMPDIR=$(mktemp -d) || exit 1
	for folder in KEEP REPORT; do
		eval "path=\${$folder-}"
		case $path in '' | /*) ;; *) eval "export $folder=\$PWD/\$path" ;; esac
	done
	export TMPDIR JOB="${1-${JOB-}}" LONG="${LONG-1}" DLT="$top/build/dltraced" W="$top/build/workloads"
	"$top/tests/native/report/jobs.sh"
	rc=$?
	rm -rf --one-file-system "$TMPDIR"
	exit $rc
fi
. "${0%/*}/../verdicts.inc"
need python3 taskset
/usr/bin/python3 -c 'import torch, numpy' 2>/dev/null || skip "torch for /usr/bin/python3 (python3-torch)"
jobs=$here/../workloads/jobs
# The servers of the job's disks run before everything else here, as does the job itself ($first), where priorities may
# be raised.
renice -n -20 -p $$ >/dev/null 2>&1
right=0 wrong='' unknown='' busy=''

# quiet: the CPUs are idle for most of a second.
quiet() {
	python3 -c 'import time
def idle():
    with open("/proc/stat") as f:
        n = [int(word) for word in f.readline().split()[1:9]]
    return n[3] + n[4], sum(n)
before = idle()
time.sleep(1)
after = idle()
raise SystemExit(after[0] - before[0] < 0.7 * (after[1] - before[1]))'
}

# may_run: whether an optional job may run.
jobs_there=0 jobs_run=0 why_not='' began=$(date +%s)
may_run() {
	[ "${LONG-}${REPORT-}" ] && return
	if [ -z "$why_not" ]; then
		[ $(($(date +%s) - began)) -lt "${SECONDS_AT_MOST:-25}" ] || why_not='there was no time for the others'
		quiet || why_not='the machine was too busy for the others'
	fi
	[ -z "$why_not" ]
}

# data PATH: makes this data, unless it exists.
data() {
	[ ! -e "$1" ] || return 0
	fast
	case $1 in
	disk/images) set -- images "$1" 240 98304 ;;
	disk/tokens) set -- tokens "$1" 0 67108864 ;;
	disk/shards) set -- shards "$1" 4 6291456 ;;
	disk/shard) set -- shards "$1" 1 20971520 ;;
	disk/model) set -- model "$1" ;;
	shards) set -- shards "$1" 3 20971520 ;;
	images) set -- images "$1" 320 16384 ;;
	near/tiny) set -- tiny "$1" 1200 1024 ;;
	*) return 0 ;;
	esac
	"$jobs/data.py" "$@" || fail "data.py $*"
}

# ready PATH...: the data of a job exists, and is as slow and as cold as it must be.
ready() {
	rm -rf out
	for path; do
		case $path in
		disk/*) [ "$disk" ] || slow_disk 256M read=6 write=6 ;;
		near/*) [ -e near ] || server near meta=1 ;;
		esac
		data "$path"
	done
	if [ "$disk" ]; then cold; else slow; fi
	for path; do
		case $path in disk/* | near/*) ;; *) find -L "$path" -path '*/disk/*' -o -type f -exec cat {} + >/dev/null ;; esac
	done
}

# run COMMAND...: traced with default options; the trace goes to $t, the account to $ACCOUNT.
run() {
	rm -rf "$t"
	# shellcheck disable=SC2086 # words
	"$first" "$DLT" start -q ${START-} -o "$t" -- "$@" >log 2>&1 || fail "status $?: $*: $(cat log)"
}

keep() {
	rm -rf "${KEEP:?}/$1"
	mkdir -p "$KEEP/$1"
	cp -r "$t" "$KEEP/$1/trace"
	cp account report.json log "$KEEP/$1"
}

# judge NAME CODES TRACE ACCOUNT: prints a row of the table; the status is that of the comparison.
judge() {
	"$DLT" report --json "$3" >report.json || fail "report --json: status $?"
	python3 -B "$here/checks/job.py" "$1" report.json "$4" "$2"
}

# attempt NAME CODES PATHS COMMAND...: runs it, and judges the report. A command that keeps no account runs once more,
# untraced.
attempt() {
	name=$1 codes=$2 paths=$3
	shift 3
	rm -f account
	# shellcheck disable=SC2086 # words
	ready $paths
	run "$@"
	own_account=yes
	if [ ! -e account ]; then
		own_account=''
		# shellcheck disable=SC2086
		ready $paths
		"$first" "$jobs/plain.py" "$@" || fail "$*"
	fi
	judge "$name" "$codes" "$t" account
	result=$?
	[ -z "${KEEP-}" ] || keep "$name"
	return $result
}

# job NAME always|long CODE[,CODE...] PATHS COMMAND...
export ACCOUNT="$TMPDIR/account" PYTHONDONTWRITEBYTECODE=1
job() {
	case $1 in *"${JOB-}"*) ;; *) return ;; esac
	jobs_there=$((jobs_there + 1))
	[ "$2" = always ] || may_run || return
	jobs_run=$((jobs_run + 1))
	name=$1 codes=$3
	shift 3
	was_wrong=''
	for try in 1 2 3; do
		if [ "${REPORT-}" ]; then
			[ -e "$REPORT/$name/account" ] || return
			judge "$name" "$codes" "$REPORT/$name/trace" "$REPORT/$name/account"
		else
			attempt "$name" "$codes" "$@"
		fi
		rc=$?
		[ -z "${REPORT-}" ] || break
		case $rc in
		75) ;;
		1) [ -z "$own_account$was_wrong" ] || break
			was_wrong=yes ;;
		*) break ;;
		esac
	done
	case $rc in
	0) right=$((right + 1)) ;;
	75) busy="$busy $name" ;;
	76) unknown="$unknown $name" ;;
	*) wrong="$wrong $name" ;;
	esac
}

/usr/bin/python3 -B "$jobs/account.py" || fail "account.py"
mkdir mixed
ln -s ../disk/shard/shard-000000.tar mixed/shard-000000.tar
for n in 1 2; do ln -s ../shards/shard-00000$n.tar mixed/shard-00000$n.tar; done
two=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')
images=$jobs/images.py

printf '%-22s %-17s %6s %6s %6s\n' JOB VERDICT SAID TRUE LIFE
# Samples come from a slow disk, and are not in the page cache.
job images-workers  always storage-read     disk/images "$images" disk/images --workers 2 --gpu-ms 60
job images-alone    always storage-read     disk/images "$images" disk/images --workers 0 --gpu-ms 60
job tokens-alone    always storage-read     disk/tokens "$jobs/tokens.py" disk/tokens
job tokens-workers  long   storage-read     disk/tokens "$jobs/tokens.py" disk/tokens --workers 2
# Which of two workers on one disk is late is chance. If it is the same one all the time, the account has it, too.
job shards-workers  long   storage-read,straggler-worker disk/shards "$jobs/shards.py" disk/shards --steps 48
# Only one of three workers has its shard on the slow disk.
job straggler       long   straggler-worker "shards disk/shard" "$jobs/shards.py" mixed --workers 3 --gpu-ms 5
# Samples are in the page cache: decoding them takes CPU time, or nothing is wrong. A job without workers computes in
# any case.
job decode-workers  long   decode-cpu       images "$images" images --workers 2 --epochs 2 --decode-ms 10 --gpu-ms 20
job decode-alone    long   decode-cpu,cpu-bound images "$images" images --workers 0 --decode-ms 10 --cpu-ms 40
job contention      long   cpu-contention   images taskset -c "$two" "$images" images --workers 8 --decode-ms 20 --gpu-ms 20
job train-workers   long   trainer-bound    images "$images" images --workers 2 --epochs 2 --cpu-ms 100
job train-gpu       long   trainer-bound    images "$images" images --workers 2 --epochs 2 --gpu-ms 100
job train-alone     long   trainer-bound,cpu-bound images "$images" images --workers 0 --cpu-ms 200
# Something other than samples is slow.
job tiny-files      long   open-metadata    near/tiny "$images" near/tiny --workers 2 --gpu-ms 10 --check
job checkpoints     always checkpoint-write disk/save "$jobs/finetune.py" disk/save
job pretrained      long   storage-read     disk/model "$jobs/pretrained.py" disk/model
# No training.
job preprocess      always storage-read     disk/images "$jobs/preprocess.py" disk/images out
job copy            long   storage-read     disk/images cp -r disk/images out
job archive         long   storage-read     disk/images tar -cf out disk/images

echo "$right right; unknown:${unknown:- none}; wrong:${wrong:- none}; not judged:${busy:- none}"
[ -z "$wrong$unknown" ] || exit 1
[ -z "$why_not" ] || echo "note: $jobs_run of $jobs_there jobs: $why_not"
[ -z "$busy" ] || skip "a machine that is not so busy (of $busy)"
