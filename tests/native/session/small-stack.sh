#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# With a small stack (ulimit -s) a trace is as good as any: its threads have stacks of their own size, and its job the
# limit that the caller has. Where the stack does not suffice, a message says so, and nothing runs.
. "${0%/*}/../lib.sh"

limited() { bash -c 'ulimit -s "$1" && shift && exec "$@"' - "$@"; }

for kib in 256 160; do
	rm -rf "$t"
	limited "$kib" "$DLT" start -v --min-free 0 --log -o "$t" -- sh -c 'ulimit -s; cat /etc/passwd' >out 2>err ||
		fail "status $? with $kib KiB: $(cat err)"
	equal "the job's own limit" "$(head -n 1 "$t/workload.log")" "$kib"
	[ "$(rows open 'COMM == "cat" && PATH == "/etc/passwd"' | wc -l)" = 1 ] || fail "no row with $kib KiB"
	check whole
	limited "$kib" "$DLT" report --full "$t" >report || fail "report: $?"
	limited "$kib" "$DLT" check >report || [ $? = 1 ] || fail "check: $?"
	limited "$kib" "$DLT" merge "$t" -o "merged$kib" 2>err || fail "merge: $(cat err)"
done
limited 100 "$DLT" start -o none -- touch ran 2>err
equal "status with 100 KiB" $? 125
grep -qx 'dltraced: error: ulimit -s is 100 KiB, which is too small a stack: raise it (ulimit -s 8192)' err || fail "said: $(cat err)"
[ ! -e ran ] && [ ! -e none ] || fail "something ran"
