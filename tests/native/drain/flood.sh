#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# One process of a trace makes more rows than the rings hold while nobody empties them: reads, opens with long paths, or
# renames. What it takes from others is counted as lost, and the lives of processes are not among that: the last eighth of a
# ring is theirs. Another trace loses nothing.
. "${0%/*}/../lib.sh"
need python3
gate
mkfifo doors && exec 8<>doors
flood='' life='' lived=''
trap '[ -z "$flood" ] || kill $flood; [ -z "$life" ] || kill $life; cleanup' EXIT
N=50 # their records fit into the last eighth of a ring of 1 MiB

# Waits at a door of its own, then has N children that execute something, and opens a file for each.
life() {
	sh -c 'read _; i=0; while [ $i -lt '$N' ]; do /bin/true; true <"/nowhere.$i"; i=$((i + 1)); done 2>/dev/null; :' sh <doors 8>&- 9>&- &
	life=$!
	door=$(stat -Lc %d:%i doors)
	# shellcheck disable=SC2016 # the other shell's
	await sh -c '[ "$(stat -Lc %d:%i "/proc/$1/fd/0")" = "$2" ] && grep -q "^State:.S" "/proc/$1/status"' - $life "$door"
}
traced() { grep -qs "	snapshot	.*" "$t/pids.out" && "$DLT" status "$dlt" >/dev/null 2>&1; }
stopped() { ! grep -qs '^State:[[:blank:]][^T]' "/proc/$dlt"/task/*/status; }
lost() { manifest "[p['lost'] for p in m['probes'] if p['name'] == '$1'][0]"; }
lives() { rows pids "PPID == $lived && EVENT == \"$1\"" | wc -l; }

for kind in open read rename; do
	life
	rm -f said
	# at the gate, and then more calls than fit into a ring of 2 MiB on each CPU
	sh -c 'read _; exec "$0" "$1" 50000' "$W/flood" $kind <gate >said 8>&- 9>&- &
	flood=$!
	spawn --buffer 2M --pid "$life,$flood"
	await traced
	kill -STOP "$dlt"
	await stopped
	echo >&9
	await grep -q 'done' said
	echo >&8
	wait $life || fail "$kind: the other one: $?"
	lived=$life life=''
	kill -CONT "$dlt"
	kill $flood
	wait $flood
	flood=''
	join
	equal "$kind: status ($(cat err))" $rc 0
	case $kind in open) probe=open ;; read) probe=vfs_rw ;; rename) probe=pids ;; esac
	[ "$(lost $probe)" -gt 0 ] || fail "$kind: nothing of the flood is lost"
	grep -q 'lost so far' err || fail "$kind: $(cat err)"
	for event in fork exec exit; do
		equal "$kind: $event" "$(lives $event)" $N
	done
	[ $kind = rename ] || equal "$kind: pids, lost" "$(lost pids)" 0
	equal "$kind: opens" "$(manifest '[p["rows"] + p["lost"] >= '$N' for p in m["probes"] if p["name"] == "open"][0]')" True
	equal "$kind: complete" "$(manifest 'm["complete"]')" True
done
