#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The service's own traces: started as the config says, started again when one dies, ended when the config no longer has
# them; old ones are removed; a config with mistakes is not used. Also what systemd is notified of.
. "${0%/*}/../service.inc"

cat >listen <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind("notify")
while True:
    for line in s.recv(4096).decode().split("\n"):
        print(line.split("=")[0] if line.startswith(("STATUS", "MONOTONIC")) else line, flush=True)
END
python3 listen >notified &
listener=$!
await test -S notify
for n in 1 2; do
	mkdir -p "state/own/old$n"
	head -c 1M /dev/zero >"state/own/old$n/open.out"
	echo '{}' >"state/own/old$n/manifest.json"
	touch -d "$((10 - n)) days ago" "state/own/old$n/manifest.json"
done

# folders: number of traces, without the old ones.
folders() { find state/own -mindepth 1 -maxdepth 1 ! -name 'old*' | wc -l; }
count() { [ "$(folders)" = "$1" ]; }
told() { grep -q "$1" daemon.err; }
notified() { [ "$(grep -c "^$1\$" notified)" -ge "$2" ]; }

export NOTIFY_SOCKET="$TMPDIR/notify" WATCHDOG_USEC=400000
always="[trace own]
cgroup = dltraced-test-$$
probes = open
collectors = none
min-free = 0"
daemon "keep-bytes = 1500K" "$always"
unset NOTIFY_SOCKET WATCHDOG_USEC
await notified READY=1 1
await told '^dltraced: \[trace own\] started as process'
await notified WATCHDOG=1 3
await count 1
await test ! -e state/own/old1
[ -e state/own/old2 ] || fail "more was removed than had to be"
told 'removed the trace own/old1, 1 MiB' || fail "nothing said: $(cat daemon.err)"
# runs N: the Nth start of the trace has succeeded, as process $trace, which answers.
runs() {
	trace=$(sed -n 's/.*\[trace own\] started as process \([0-9]*\),.*/\1/p' daemon.err | sed -n "$1p")
	[ "$trace" ] && [ -S "/run/dltraced/$trace.sock" ]
}
await runs 1

kill -9 "$trace"
await told 'trace own\] killed by signal 9: started again in 1 s'
await runs 2
await count 2

cp daemon.conf good.conf
sed -i 's/^probes = open/probes = opne/' daemon.conf
kill -HUP "$daemon"
await told "daemon.conf:[0-9]*: probes = opne: no such probe: 'opne'"
await told 'is not used: the previous config stays in force'
await notified RELOADING=1 1
await notified READY=1 2
# nor does the service accept a group that does not exist; clients are still served
sed 's/^group = .*/group = nosuchgroup/' good.conf >daemon.conf
"$DLT" daemon --check --config daemon.conf 2>err && fail "--check of a group that is not there"
grep -q 'group nosuchgroup does not exist' err || fail "--check: $(cat err)"
kill -HUP "$daemon"
await told 'group nosuchgroup does not exist'
await eval '[ "$(grep -c "is not used: the previous config stays in force" daemon.err)" = 2 ]'
await test -S "$DLTRACED_SOCKET"
sed 's/^probes = open/probes = sync/' good.conf >daemon.conf
kill -HUP "$daemon"
await told 'trace own\] has ended'
await runs 3
await count 3
# An always-on trace is addressed by its name only: neither root's own traces nor a stop without a name affect it.
listed() { "$DLT" status own | grep -q "$TMPDIR/state/own"; }
await listed
"$DLT" status | grep -q '^own  *[0-9]* tracing  *service ' || fail "status: $("$DLT" status)"
"$DLT" stop 2>err && fail "the service's own trace was stopped by nobody's name"
grep -q ' own of the service, process ' err || fail "said: $(cat err)"
equal "mode" "$(find state/own -mindepth 1 -maxdepth 1 ! -name 'old*' ! -perm 700)" ""

kill "$daemon"
wait "$daemon"
equal "status" $? 0
daemon=
await notified STOPPING=1 1
kill "$listener"
for folder in state/own/2*; do
	t=$TMPDIR/$folder
	[ ! -e "$t/sync.out" ] || equal "whole at the end" "$(manifest 'm["complete"]')" True
done
[ ! -e "$DLTRACED_SOCKET" ] || fail "its socket is still there"

printf '[service]\ngroup = nosuchgroup\nnonsense = 1\nnothing\n[trace a]\nall = yes\nkeep = sums\nrotate = 1h\n' >bad.conf
"$DLT" daemon --check --config bad.conf 2>err && fail "--check of four mistakes"
equal "mistakes that --check has found" "$(wc -l <err)" 4
"$DLT" daemon --check --config good.conf || fail "--check of a good one"
printf '[service]\nnonsense = 1\n' >bad.conf
"$DLT" daemon --config bad.conf 2>err && fail "a bad config is taken"
grep -q "bad.conf:2: no such key in \[service\]: 'nonsense'" err || fail "$(cat err)"
unit=$here/../../scripts/dltraced.service # a guest has no scripts/
! command -v systemd-analyze >/dev/null || [ ! -e "$unit" ] || {
	sed "s,/usr/bin/dltraced,$DLT,; /^Documentation/d" "$unit" >dltraced.service
	systemd-analyze verify ./dltraced.service >err 2>&1 || fail "systemd-analyze verify: $(cat err)"
	equal "systemd-analyze verify" "$(cat err)" ""
}
