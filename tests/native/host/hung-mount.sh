#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The trace is on a file system whose server hangs (hungfs.py). A message says so, once; status and mark answer; the
# workload goes on. If the server comes back, the trace goes on, and rows and lost ones add up to the calls. If the
# trace is to end meanwhile, by a second TERM or by stop, it ends at once and names what is lost, and the caller of
# dltraced goes on.
#
# slow: waits for half a minute
. "${0%/*}/../lib.sh"
probed=vfs_rw,time_align
. "${0%/*}/../hungfs.inc"
gate
trap ': >go; end_server; cleanup' EXIT

# count KEY: of vfs_rw, in the manifest.
count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }

head -c 1048576 /dev/zero >data
# Reads the whole file once, 10 000 times to warm up, and as often as its argument says; it ends once a file `go'
# exists.
cat >job <<'END'
trap ': >term' TERM
echo $$ >workload
read _ <gate
"$1" -n "$2" data
: >state
until [ -e go ]; do sleep 0.05; done
exit 7
END
hung() {
	rm -f state term go
	server
	spawn --metrics-file "$TMPDIR/metrics" "$@" -- sh job "$W/storm" 100000 >out
	await grep -qs '	sh	' "$t/vfs_rw.out"
	hang
	echo >&9
	await test -e state # the workload does not wait for it
	await grep -q "warning: writing to .* has stalled" err
}

# --- it comes back --------------------------------------------------------------------------------

hung
await sh -c '"$1" status -j >status && grep -q "\"phase\": *\"stalled\"" status' - "$DLT"
"$DLT" status >status || fail "status: $?"
grep -q "^t  *$(tracer)  *stalled " status || fail "status says: $(cat status)"
"$DLT" mark -t "$t" meanwhile || fail "mark: $?"
[ "$(wc -l <err)" -le 2 ] || fail "said: $(cat err)" # and one about lost rows
answer
await grep -qs meanwhile "$t/marks.out"
: >go
join
equal "back: status" $rc 7
check whole
equal "back: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
[ "$(count calls)" -ge 110256 ] || fail "back: $(count calls) calls"
end_server

# --- it does not, and the workload ends -----------------------------------------------------------

hung
: >go
await grep -q 'does not answer, and rows are still to be written; waiting for it' err
kill -INT "$dlt"
join
equal "not waited: status" $rc 7
grep -q 'error: .*/t does not answer: the trace ends without' err || fail "not waited: $(cat err)"
end_server

# --- it must end ----------------------------------------------------------------------------------

# lost: the rows and the lost rows in the summary add up to the calls.
lost() {
	said=$(awk '$3 == "vfs_rw:" { print $4 + $(NF - 1) }' err)
	[ "${said:-0}" -ge 110256 ] || fail "$1: ${said:-nothing} of 110256: $(cat err)"
	grep -q 'error: .*/t does not answer: the trace ends without' err || fail "$1: $(cat err)"
}

hung -v --log
kill -TERM "$dlt"
await test -e term
gone "$dlt" && fail "the first TERM ended it"
behind=$(tracer)
kill -TERM "$dlt"
join
equal "TERM twice: status" $rc 143
lost "TERM twice"
gone "$(cat workload)" && fail "the workload has ended too"
: >go
await gone "$(cat workload)"
end_server
await gone "$behind"

hung -v
"$DLT" stop "$t" 2>said || fail "stop: status $?: $(cat said)"
grep -q 'does not answer' said || fail "stop says: $(cat said)"
: >go
join
equal "stop: status" $rc 7
lost "stop"
end_server
