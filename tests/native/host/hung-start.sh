#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The server hangs (hungfs.py) when a trace is to begin there, and when it is over: at the start, also with
# --background, and in report, --collect and the archive. A message says so, and dltraced waits. One ^C ends the wait:
# nothing that was to begin has run, and a workload's status is its own.
#
# slow: waits for half a minute
. "${0%/*}/../lib.sh"
probed=open,time_align
with_helpers
. "${0%/*}/../hungfs.inc"
need tar
chmod 755 .
install -d -m 777 any
trap 'end_server; cleanup' EXIT

# begin ARG...: like spawn of lib.sh, but does not look at the folder before.
begin() {
	rm -f any/ran
	: >err
	env --default-signal=INT,QUIT "$DLT" start -q --collectors none --probes $probed --min-free 0 -o "$t" "$@" 2>err &
	dlt=$!
}
waits() { await grep -q "warning: .*$1.*does not answer; waiting for it; ^C or TERM ends the wait" err; }
# interrupt STATUS WHAT: by one signal.
interrupt() {
	kill -INT $dlt
	join
	equal "$2: status ($(cat err))" $rc "$1"
	[ ! -e any/ran ] || fail "$2: the workload has run"
}

# --- a start -----------------------------------------------------------------------------------------

server
hang
begin -- sh -c ': >any/ran'
waits far/t
interrupt 130 "before the folder"

begin --background -- sh -c ': >any/ran'
waits far/t
behind=$(tracer)
interrupt 130 "in the background"
answer
await gone "$behind"
[ ! -e any/ran ] || fail "in the background: the workload has run"

hang
begin -- sh -c ': >any/ran; exit 3'
waits far/t
answer
join
equal "answered: status ($(cat err))" $rc 3
[ -e any/ran ] || fail "answered: nothing has run"
check whole

# The folder exists by then. A start that was too fast for that is tried again.
said_or_ran() { grep -q 'does not answer; waiting' err || [ -e any/ran ]; }
for way in front background killed; do
	options=''
	[ $way != background ] || options=--background
	for try in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf "$t"
		# a change of ids takes away the signal that comes when a parent dies
		# shellcheck disable=SC2086 # perhaps nothing
		begin $options --user daemon -- sh -c ': >any/ran'
		await test -d "$t"
		hang
		await said_or_ran
		behind=$(tracer)
		[ -e any/ran ] || break
		answer
		kill -9 $dlt
		join 2>err.join
		[ $try != 10 ] || fail "$way: it is always faster"
	done
	if [ $way = killed ]; then
		kill -9 $dlt
		join 2>err.join
		equal "killed: status" $rc 137
	else
		interrupt 130 "$way: in the start"
	fi
	answer
	await gone "$behind" # FUSE blocks it until then
	[ ! -e any/ran ] || fail "$way: the workload has run"
done

# --- report ------------------------------------------------------------------------------------------

rm -rf "$t"
trace -- cat /etc/hostname >out || fail "status $?"
hang
for end in killed answered; do
	: >err
	env --default-signal=INT "$DLT" report --full "$t" >report 2>err &
	dlt=$!
	waits far/t
	if [ $end = killed ]; then
		interrupt 130 "report"
	else
		answer
		join
		equal "report: status" $rc 0
		grep -q '^files  *complete' report || fail "report: $(cat report)"
	fi
done

# --- --collect and the archive ---------------------------------------------------------------------------

echo x >far/x1
rm -rf "$t"
t=$TMPDIR/near
begin --collect 'far/x*' -- sh -c "kill -USR1 $server; exit 5"
waits --collect
interrupt 5 "--collect"
grep -q 'warning: --collect: ended by a signal' err || fail "--collect: $(cat err)"
check whole
answer

t=$TMPDIR/far/t
tar=$(command -v tar)
printf '#!/bin/sh\nkill -USR1 %s\nexec %s "$@"\n' $server "$tar" >helpers/tar
chmod 755 helpers/tar
begin -o "$t.tar.gz" -- sh -c 'exit 6'
waits "the archive"
interrupt 6 "the archive"
grep -q 'warning: the archive: ended by a signal' err || fail "the archive: $(cat err)"
answer
check whole
