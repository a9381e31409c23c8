#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The workload's process waits at a gate until the trace has begun. That is dltraced's time, never the job's: sched.out has
# it as KIND self. What the report says of a job that did hardly more than start: that it was too short, or that it failed.
. "${0%/*}/../lib.sh"

# waits CALL: how many rows of sched.out are of the workload's process, as a part of the target, and its waits in CALL.
waits() {
	pid=$(awk -F'\t' 'NR > 2 { print $3; exit }' "$t/pids.out")
	awk -F'\t' -v pid="$pid" -v call="$1" 'NR > 2 && $3 == pid && $6 == "target" && $8 == call' "$t/sched.out" | wc -l
}

for options in "" "--delay 1ms"; do
	# shellcheck disable=SC2086 # options
	trace $options --probes sched -- sleep 0.7 || fail "trace: status $?"
	equal "rows of poll(2)$options" "$(waits poll)" 0
	[ "$(waits clock_nanosleep)" = 1 ] || fail "sleep$options has no wait: $(cat "$t/sched.out")"
done

# says STATUS CODE TEXT CMD: how start ends, and the answers of the report in all its forms: a code, without advice.
says() {
	wanted=$1 code=$2 text=$3
	shift 3
	rm -rf "$t"
	"$DLT" start --collectors none --probes open,sched,vfs_rw --min-free 0 -o "$t" -- "$@" 2>err
	equal "status of $*" $? "$wanted"
	grep -q "^dltraced: The job .*$text" err || fail "$*: start says: $(cat err)"
	"$DLT" report "$t" >out || fail "report: status $?"
	grep -q "^$code: The job " out || fail "$*: the report says: $(cat out)"
	! sed '/^What failed/,/^$/d' out | grep -e '=>' -e '^Also found' || fail "$*: the report gives advice: $(cat out)"
	"$DLT" report --json "$t" | tr -d ' \n' >json
	grep -q "\"bottleneck\":{\"code\":\"$code\",.*\"advice\":null" json || fail "$*: JSON: $(cat json)"
	grep -q '"rules":\[\],"facts":\[\]' json || fail "$*: JSON has other findings: $(cat json)"
	"$DLT" report --html page.html "$t" || fail "report --html: status $?"
	grep -q "\"code\": *\"$code\"" page.html || fail "$*: the page has another answer"
}
says 0 too-short "too short to say" true
says 127 failed "status 127" sh -c 'no-such-program'
says 126 failed "status 126" sh -c '/etc/passwd'
says 3 failed "failed within 0.5 s" sh -c 'exit 3'
says 137 failed "failed within 0.5 s" sh -c 'kill -9 $$'
