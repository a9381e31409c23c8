#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# During the trace, the server of its folder begins to refuse it (hungfs.py), as NFS does when the export is withdrawn.
# A message says so, once, and nothing hangs. If the server accepts the folder again, the trace goes on, and what could
# not be written is counted. If not, the trace ends with the workload, and all rows are reported as lost.
. "${0%/*}/../lib.sh"
. "${0%/*}/../hungfs.inc"
gate
trap ': >go; end_server; cleanup' EXIT

# count KEY: of vfs_rw, in the manifest.
count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }

made=30256 more=11256 # storm warms up, and reads the whole file once
head -c 1048576 /dev/zero >data
cat >job <<'END'
read _ <gate
"$1" -n 20000 data
: >state
until [ -e go ]; do sleep 0.05; done
"$1" -n 1000 data
exit 7
END

# missing: storm's calls are lost, and none is still on its way.
missing() {
	"$DLT" status --json | python3 -c '
import json, sys
probes = [p for trace in json.load(sys.stdin) if trace.get("dir") == sys.argv[1] for p in trace["probes"]]
sys.exit(not any(p["name"] == "vfs_rw" and p["lost"] >= int(sys.argv[2]) for p in probes))' "$t" $made
}

withdrawn() {
	rm -f state go
	server
	spawn -v -- sh job "$W/storm" >out
	await grep -qs '	sh	' "$t/vfs_rw.out"
	withdraw
	await grep -q 'warning: the server refuses .*/t: Stale file handle' err
	echo >&9
	await test -e state # the workload goes on
	await grep -q 'warning: cannot write to .*/t: Stale file handle; rows are counted as lost' err
	await missing
	gone "$dlt" && fail "it has ended: $(cat err)"
}

withdrawn
answer
await grep -q 'the server accepts .*/t again' err
: >go
join
equal "back: status ($(cat err))" $rc 7
equal "back: said" "$(grep -c 'the server refuses ' err)" 1
equal "back: complete" "$(manifest 'm["complete"]')" True
equal "back: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
[ "$(count lost)" -ge $made ] && [ "$(count rows)" -ge $more ] || fail "back: $(count rows) rows, $(count lost) lost"
equal "back: rows in the file" "$(rows vfs_rw | wc -l)" "$(count rows)"
check lines
end_server

withdrawn
: >go
join
equal "not back: status ($(cat err))" $rc 7
grep -q 'error: .*manifest.json: Stale file handle' err || fail "not back: nothing of the manifest: $(cat err)"
lost=$(awk '$3 == "vfs_rw:" { print $4 + $(NF - 1) }' err) # the rows and lost rows of the summary
[ "${lost:-0}" -ge $made ] || fail "not back: ${lost:-nothing} of $made: $(cat err)"
