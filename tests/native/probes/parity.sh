#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Every backend writes the same rows: for the workload "calls" in threads and processes, all columns but times,
# addresses and the run's own numbers, equally often, for the same files, and as its tally has them. On another kernel
# (tests/vm), data for the comparison is left in $OUT, see tests/vm/parity. DLT_BACKEND names the one backend that must
# work; without it, the backends of this machine are compared.
. "${0%/*}/../lib.sh"
need python3

# uses BACKEND: the manifest has it for every probe of system calls.
uses() {
	equal "backends under $DLT_BACKEND" \
		"$(manifest '" ".join({p["backend"] for p in m["probes"] if p["name"] in
			"'"$(of_calls)"'".split()})')" "$1"
}

# vfs_lat: every open that reached vfs_open() has a VFS_LAT_NS, a part of LAT_NS; it needs fentry. Failed lookups do not
# reach it; unnamed files (since 6.1) are opened in another way.
vfs_lat() {
	any=$(rows open 'VFS_LAT_NS != "-"' | wc -l)
	case $DLT_BACKEND in
	fentry) [ "$any" != 0 ] || fail "no VFS_LAT_NS" ;;
	auto) [ "$any" != 0 ] || return 0 ;;
	*) equal "rows with VFS_LAT_NS, $DLT_BACKEND" "$any" 0 && return ;;
	esac
	equal "VFS_LAT_NS that cannot be" "$(rows open 'VFS_LAT_NS != "-" && (RET < 0 ||
		VFS_LAT_NS + 0 <= 0 || VFS_LAT_NS + 0 >= LAT_NS + 0)')" ''
	preempts || equal "opens without VFS_LAT_NS" \
		"$(rows open 'VFS_LAT_NS == "-" && RET >= 0 && FLAGS !~ /TMPFILE/')" ''
}

# A refused program must be noticed: for system calls `uses' shows it, and requests of io_uring have only this way.
io_uring_is_seen() {
	equal "io_uring, $DLT_BACKEND" "$(manifest '(m.get("io_uring") or {"why": "nothing about it"}).get("why", "")' |
		grep -v '^this kernel has no io_uring')" ''
}

# preempts: where programs can be preempted the kernel skips runs of them (docs/design.md).
preempts() { grep -qE '\((full|lazy)\)' /sys/kernel/debug/sched/preempt 2>/dev/null; }

# alone: with fentry, the kernel skips no run of a job that nothing preempts, on a CPU that other threads keep off.
alone() { [ "$DLT_BACKEND" != fentry ] || ! preempts || echo -r; }
[ -z "$(DLT_BACKEND=${DLT_BACKEND-} alone)" ] || taskset -pc 0 $$ >/dev/null || skip "two CPUs"

# run: traces the workload; up to three times more, where the kernel has skipped runs, and dltraced has counted them.
run() {
	for again in 3 2 1 0; do
		rm -rf dir
		# shellcheck disable=SC2046
		trace -- "$W/calls" -n 2 -t 3 -f 1 $(alone) -s -T tally dir >pids 2>err || return
		if [ $again = 0 ] || ! preempts || [ "$(manifest 'sum(p["lost"] for p in m["probes"])')" = 0 ]; then
			return 0
		fi
	done
}

wanted=${DLT_BACKEND-}
tried='' why=''
for DLT_BACKEND in ${wanted:-fentry kprobe tp_btf tp}; do
	run
	rc=$?
	# None of its probes can be attached, and the workload has not run.
	if [ -z "$wanted" ] && [ $rc = 125 ] && grep -q "error: probe [a-z_]*: $DLT_BACKEND: " err; then
		why=$(cat err)
		continue
	fi
	equal "$DLT_BACKEND: status ($(cat err))" $rc 0
	check tally tally pids
	check parity pids >"parity.$DLT_BACKEND" || fail "$(tail -n 25 "parity.$DLT_BACKEND")"
	vfs_lat
	io_uring_is_seen
	case $DLT_BACKEND in
	auto) ;;
	tp*) uses tracepoint ;;
	*) uses "$DLT_BACKEND" ;;
	esac
	for other in $tried; do
		diff "parity.$other" "parity.$DLT_BACKEND" >&2 || fail "$DLT_BACKEND is not as $other"
	done
	tried="$tried $DLT_BACKEND"
	[ -z "${VM-}" ] || cp "parity.$DLT_BACKEND" "$OUT/parity.$DLT_BACKEND.txt"
done
[ "$tried" ] || fail "no backend: $why"
