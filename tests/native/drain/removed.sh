#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A trace folder that is removed during the trace is reported at once, and once. The workload goes on, and dltraced
# returns its status. A trace that is only attached ends as failed, as it has nothing left to do.
#
# smoke
. "${0%/*}/../lib.sh"
gate

# said: the only line of messages says that the trace is lost.
said() {
	[ "$(messages | wc -l)" = 1 ] || fail "not one line said: $(cat err)"
	grep -q "error: .*/t has been removed: the trace is lost" err || fail "said: $(cat err)"
}

for option in '' '--delay 1h' '--best-effort --log'; do
	rm -f begun
	# shellcheck disable=SC2086 # options
	spawn $option -o "$t.tar.gz" -- sh -c ': >begun; read _ <gate; exit 7'
	await [ -e begun ]
	rm -r "$t"
	await grep -q 'has been removed' err
	gone "$dlt" && fail "${option:-no option}: it did not wait for the workload"
	echo >&9
	join
	equal "${option:-no option}: status" $rc 7
	said
	[ ! -e "$t" ] || fail "the folder came again"
done

sh -c 'read _ <gate' &
job=$!
spawn --pid $job
await grep -qs snapshot "$t/pids.out"
rm -r "$t"
join
equal "status of --pid" $rc 125
said
echo >&9
wait $job
