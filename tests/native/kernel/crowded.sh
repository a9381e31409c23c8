#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Eight threads on only a few CPUs: where BPF programs can be preempted, the kernel skips runs of them. Calls that have
# no row for that reason are counted, as lost, as unseen or as skipped runs, and that is reported. On a kernel where
# every backend works (tests/vm), dltraced chooses one that misses nothing: every probe has the rows of the tally, and
# nothing is lost or skipped.
. "${0%/*}/../lib.sh"
need python3

reads=${VM:+2000}
reads=${reads:-4000}

# exact: exactly the rows of the tally.
exact() {
	trace -- sh -c ': >running; exec "$@"' sh "$W/calls" -t 8 -m 8000 -T tally dir >pids || fail "$DLT_BACKEND: calls: status $?"
	check tally tally pids # nothing is lost, either
	equal "$DLT_BACKEND: skipped runs" "$(manifest 'm["skipped_runs"]')" 0
}

# counted: rows plus the losses in the manifest are at least the reads that were made.
counted() {
	trace --probes vfs_rw -- "$W/storm" -t 8 -n $reads -w 0 >out 2>err ||
		fail "$DLT_BACKEND: storm: status $?: $(cat err)"
	rows=$(rows vfs_rw 'FUNC == "pread64" && FILE ~ /^storm\./' | wc -l)
	made=$((8 * reads + 256)) # storm reads its file once before
	missing=$(manifest 'm["skipped_runs"] + sum(p["lost"] for p in m["probes"] if p["name"] == "vfs_rw")')
	echo "$DLT_BACKEND: $rows rows of $made reads, $missing counted as lost or skipped"
	[ "$rows" -le $made ] || fail "more rows than reads"
	[ $((rows + missing)) -ge $made ] || fail "missing and not counted"
	# only the manifest and the report show a call whose begin or end the kernel did not report
	said=$(manifest 'm["skipped_runs"] + sum(p["lost"] - p.get("unseen", 0) for p in m["probes"] if p["name"] == "vfs_rw")')
	[ "$said" = 0 ] || grep -qE 'lost|skipped' err || fail "not said: $(cat err)"
	check fids
}

DLT_BACKEND=auto
if [ -z "${VM-}" ]; then
	counted
	exit
fi
# Which backend this is must not depend on the load of the machine while dltraced finds out.
busy=''
for _ in 1 2 3 4; do
	sh -c 'while [ ! -e running ]; do :; done' &
	busy="$busy $!"
done
exact
# shellcheck disable=SC2086 # words
wait $busy
for DLT_BACKEND in tp_btf fentry; do counted; done
