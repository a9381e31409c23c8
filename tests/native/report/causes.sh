#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --json' names the cause of small jobs that have one each (tests/workloads/causes.py), traced without any option:
# the code is the cause's, its share of the first process's life is within 0.1 of that by the job's own clock, and the parts
# of the path add up to that life exactly; who waited for whom is what the job does. A table has the result of each:
#
#     JOB ANSWER SHARE_SAID SHARE_TRUE
#
# A job for which the machine had no time (waits for a CPU are on its path), or whose share is wrong, is tried up to three
# times while SECONDS_AT_MOST (65) have not passed. Without time it is left out; where that are more than half of them, the
# script is a skip. By hand, as root, those with a word in their names:
#
#     tests/native/report/causes.sh epoch
#     KEEP=DIR tests/native/report/causes.sh epoch        keeps DIR/JOB/trace, account, report.json, log
#     GAINS=1 tests/native/report/causes.sh               does what the report advises, too, where a job can: it gains
#                                                         what was told within a third
#
# alone: shares of the time in jobs of few seconds
if [ -z "${DLT-}" ]; then
	top=$(cd "${0%/*}/../../.." && pwd) && TMPDIR=$(mktemp -d) || exit 1
	case ${KEEP-} in '' | /*) ;; *) export KEEP="$PWD/$KEEP" ;; esac
	export TMPDIR JOB="${1-${JOB-}}" DLT="$top/build/dltraced" W="$top/build/workloads"
	"$top/tests/native/report/causes.sh"
	rc=$?
	rm -rf --one-file-system "$TMPDIR"
	exit $rc
fi
. "${0%/*}/../verdicts.inc"
causes=$here/../workloads/causes.py
# The servers of the disks run before everything else here, as does the job itself ($first), where priorities may be raised.
renice -n -20 -p $$ >/dev/null 2>&1
jobs_there=0 right=0 wrong='' busy=''
export PYTHONDONTWRITEBYTECODE=1

# judge JOB: a row of the table; the status is that of the comparison.
judge() {
	"$DLT" report --json "$t" >report.json || fail "report --json: status $?"
	python3 -B "$here/checks/cause.py" "$1" report.json account
	result=$?
	[ -z "${KEEP-}" ] || {
		rm -rf "${KEEP:?}/$1"
		mkdir -p "$KEEP/$1"
		cp -r "$t" "$KEEP/$1/trace"
		cp account report.json log "$KEEP/$1"
	}
	return $result
}

# ready FOLDER: it is as slow and as cold as it must be.
ready() {
	rm -rf here copy
	mkdir here
	case $1 in
	disk*)
		if [ -z "$disk" ]; then
			slow_disk 256M read=6 write=6
			samples disk/reads 60 200000
			samples disk/few 13 400000
			mkdir disk/model disk/saved
			head -c 12000000 /dev/urandom >disk/model/model
		fi
		cold ;;
	near)
		[ -e near ] || {
			server near meta=1
			samples near/samples 400 100
		}
		slow ;;
	esac
}

# samples FOLDER COUNT SIZE
samples() {
	python3 -c 'import os, sys
folder, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.mkdir(folder)
for number in range(count):
    with open(f"{folder}/sample-{number:04}", "wb") as f:
        f.write(os.urandom(size))' "$@" || fail "samples $*"
}

# run NAME FOLDER [--done]: traced with default options. The job `beside' is `reads' with a process beside it that outlives it.
run() {
	rm -rf "$t" account sleeper
	# shellcheck disable=SC2016 # for the inner shell
	case $1 in
	beside) set -- sh -c 'sleep 60 & echo $! >sleeper; exec "$@"' sh "$causes" reads "$2" --account account ;;
	*) set -- "$causes" "$@" --account account ;;
	esac
	"$first" "$DLT" start -q -o "$t" -- "$@" >log 2>&1 || fail "status $?: $*: $(cat log)"
	[ ! -e sleeper ] || kill "$(cat sleeper)"
}

# gain NAME FOLDER: the job again as the report advises; its data are in memory after the first run.
gain() {
	mv account account.before
	case $1 in
	reads | beside | first-epoch | polling | spinning | mapped-write)
		action='data in memory'
		run "$@"
		;;
	checkpoint)
		action='a faster disk'
		run "$1" here
		;;
	names)
		action='a local folder'
		cp -r near/samples here/samples
		run "$1" here/samples
		;;
	http)
		action='a server nearby'
		/usr/bin/python3 -B "$causes" server near-port --done &
		nearby=$!
		await [ -e near-port ]
		run "$1" near-port
		kill "$nearby"
		;;
	own-writes)
		action='saves elsewhere'
		run "$@" --done
		;;
	lock | trylock)
		action='a file of its own'
		run "$@" --done
		;;
	stopped)
		action='nobody stops it'
		run "$@" --done
		;;
	*) return 0 ;;
	esac
	python3 -B "$here/checks/gain.py" "$1" "$action" report.json account.before account
}

# job NAME FOLDER
began=$(date +%s)
job() {
	case $1 in *"${JOB-}"*) ;; *) return ;; esac
	jobs_there=$((jobs_there + 1))
	for try in 1 2 3; do
		ready "$2"
		run "$1" "$2"
		judge "$1"
		rc=$?
		[ $rc != 0 ] || break
		[ $(($(date +%s) - began)) -lt "${SECONDS_AT_MOST:-65}" ] || break
	done
	[ "$rc${GAINS-}" != 01 ] || gain "$@" || rc=1
	case $rc in
	0) right=$((right + 1)) ;;
	75) busy="$busy $1" ;;
	*) wrong="$wrong $1" ;;
	esac
}

/usr/bin/python3 -B "$causes" server port &
http=$!
trap 'fast; cleanup; end_servers; kill "$http"' EXIT
await [ -e port ]

printf '%-16s %-17s %6s %6s\n' JOB ANSWER SAID TRUE
# Of the job's own processes and threads.
job asyncio      here
job hashing      here
job child        here
job lock         here
job stopped      here
job trylock      here
# Of a server, a disk, a far file system.
job http         port
job upload       port
job names        near
job reads        disk/reads
job beside       disk/reads
job first-epoch  disk/reads
job polling      disk/reads
job spinning     disk/reads
job mapped-write disk/model
job own-writes   disk/few
job log-sync     disk/saved
job checkpoint   disk/saved

echo "$right right; wrong:${wrong:- none}; not judged:${busy:- none}"
[ -z "$wrong" ] || exit 1
# shellcheck disable=SC2086 # words
set -- $busy
[ $(($# * 2)) -le $jobs_there ] || skip "a machine that is not so busy (of $busy)"
[ -z "$busy" ] || echo "note: left out on a busy machine:$busy"
