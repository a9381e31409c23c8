#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A job that hangs is told so, with who waits for whom, when a signal ends it and with --pid; one that waits for long and
# is answered, or would be, is not. The jobs are hangs.py's.
#
# slow: waits for jobs that hang
. "${0%/*}/../lib.sh"
need python3 timeout pgrep
[ -x /usr/bin/python3 ] || skip "/usr/bin/python3"
jobs=$here/../workloads/hangs.py

# told: the answer to $t in one line.
told() {
	"$DLT" report "$t" >screen || fail "report: status $?"
	sed '/^  =>/,$d' screen | tr -s '\n ' ' '
}

# job CASE [SECONDS]: traced, ended by ^C where it hangs.
job() {
	rm -rf work
	mkdir work
	(cd work && trace -- timeout -s INT "${2-6}" /usr/bin/python3 "$jobs" "$1" 2>err) || :
}

# hangs CASE PATTERN: it does, and the answer says so. A busy machine takes longer to get there.
hangs() {
	for seconds in 6 20; do
		job "$1" $seconds
		told | grep -q "$2" && return
	done
	fail "$1: $(cat screen)"
}

circles='pipes:read.of.a.pipe fifos:read.of.a.FIFO pair:recvfrom.of.a.socket'
[ -n "$slow" ] || circles="$circles tcp:recvfrom.of.a.socket"
for case in $circles; do
	hangs "${case%%:*}" "no-answer: The job hangs.* since [0-9.]* s process .* waits in .*${case#*:} for process \([0-9]*\) .*, which waits in ${case#*:} for process"
done
[ -n "$slow" ] || hangs lock 'The job hangs.* waits in wait4 for process .*, which waits in fcntl of a file for process'

for case in slow computes sleeps; do
	job "$case"
	told >told
	! grep -q 'hangs\|never came' told || fail "$case: $(cat screen)"
done

# attached CASE SECONDS: the answer of a trace of a job that runs already is in told.
attached() {
	/usr/bin/python3 "$jobs" "$1" &
	parent=$!
	await pgrep -P "$parent" >/dev/null
	child=$(pgrep -P "$parent")
	await grep -q '^[0-9-]* [^r]*$\|^[0-9]' "/proc/$parent/syscall"
	trace --pid "$parent,$child" --duration "$2s" || fail "$1: status $?"
	kill -KILL "$parent" "$child"
	wait "$parent" || :
	told >told
}

# attached to a job that hangs already; and to one that does not, whose wait the trace does not see the end of
for case in pipes stopped; do
	for seconds in 2.5 10; do # a busy machine takes longer to get there
		attached $case $seconds
		wanted="The job hangs.* since before the trace began, process $parent .* waits in read of a pipe for process $child .*, which "
		case $case in
		pipes) wanted="${wanted}waits in read of a pipe for process $parent " ;;
		stopped) wanted="${wanted}is stopped" ;;
		esac
		! grep -q "$wanted" told || break
	done
	grep -q "$wanted" told || fail "$case: $(cat screen)"
done
attached slow 2.5
! grep -q hangs told || fail "slow: $(cat screen)"

# the trace stays whole
"$DLT" validate "$t" >out 2>&1 || fail "validate: $(cat out)"
