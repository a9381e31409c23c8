#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Without a name, stop and mark are about traces that the user has started, also by sudo: if there are several, the one
# of this terminal, otherwise the only one. A trace of another user needs its name, which status prints: it lists all
# traces that the user has access to, the user's own first.
. "${0%/*}/../lib.sh"
need python3 setsid
# A folder of sockets for this script: other traces may run on this machine.
if [ -z "${ALONE-}" ]; then
	unshare -m true 2>/dev/null || skip "mount namespaces"
	ALONE=1 exec unshare -m --propagation private sh "$0"
fi
mkdir -p /run/dltraced && mount -t tmpfs none /run/dltraced || skip "to mount tmpfs"
getent passwd nobody >nobody || skip "a user nobody"
uid=$(cut -d: -f3 nobody) gid=$(cut -d: -f4 nobody)
install -d -o "$uid" "their home" # messages show the blank as it is
gate

# begin DIR [CMD...]: a trace in the background, started by CMD, which runs until the gate opens.
#
# theirs CMD...: as root, by the sudo of another user.
begin() {
	dir=$1
	shift
	"$@" "$DLT" start -q --background --collectors none --probes -bio --min-free 0 -o "$dir" -- sh -c 'read -r _ <gate' 2>err 9>&- ||
		fail "start in $dir: $(cat err)"
}
theirs() { SUDO_UID=$uid SUDO_GID=$gid "$@"; }
phase() {
	"$DLT" status --json | python3 -c '
import json, sys
for t in json.load(sys.stdin):
    if t["dir"] == sys.argv[1]: print(t["phase"])' "$TMPDIR/$1"
}
# refused TEXT CMD...
refused() {
	text=$1
	shift
	"$@" 2>err && fail "not refused: $*"
	grep -q "$text" err || fail "$* said: $(cat err)"
}

# --- users ----------------------------------------------------------------------------------------

begin mine
theirs begin "their home/theirs"
"$DLT" status >table
sed -n 2p table | grep -q '^mine ' || fail "not mine: $(cat table)"
sed 1,2d table | grep -q '^theirs  *[0-9]* tracing  *nobody ' || fail "nothing of theirs: $(cat table)"
theirs "$DLT" status | sed -n 2p | grep -q '^theirs ' || fail "not theirs: $(theirs "$DLT" status)"
equal "users in JSON" "$("$DLT" status --json | python3 -c 'import json, sys
print(sorted((t["uid"], t["by_service"]) for t in json.load(sys.stdin)))')" "[(0, False), ($uid, False)]"
"$DLT" mark "one of mine" 2>err || fail "mark: $(cat err)"
"$DLT" stop 2>err || fail "stop: $(cat err)"
equal "phase of mine" "$(phase mine)" untraced
equal "phase of theirs" "$(phase "their home/theirs")" tracing
equal "marks" "$(sed 1,2d mine/marks.out | cut -f 4)$(sed 1,2d "their home/theirs/marks.out")" 'one\040of\040mine'
refused 'no trace of yours is running; name a trace of another user' "$DLT" stop
grep -q "  theirs of user nobody, experiment sh, process [0-9]*, folder $TMPDIR/their home/theirs\$" err || fail "not listed: $(cat err)"
refused 'no trace of yours is running; name a trace of another user' "$DLT" mark x
equal "phase of theirs" "$(phase "their home/theirs")" tracing
"$DLT" mark -t theirs "by its name" 2>err || fail "mark by name: $(cat err)"
theirs "$DLT" stop 2>err || fail "their stop: $(cat err)"
equal "phase of theirs after their stop" "$(phase "their home/theirs")" untraced

# --- terminals ------------------------------------------------------------------------------------

cat >on-one <<'END'
"$DLT" start -q --background --collectors none --probes -bio --min-free 0 -o one -- sh -c 'read -r _ <gate' || exit
: >started
until [ -e go-on ]; do sleep 0.05; done
"$DLT" mark "on this terminal" && "$DLT" stop
END
export DLT
python3 "$here/terminal.py" /dev/null 80 sh on-one >screen 9>&- &
await test -e started
begin two setsid -w
refused '2 traces are running: name one' "$DLT" stop 9>&-
begin three setsid -w
: >go-on
wait $! || fail "on a terminal: $(cat screen)"
equal "phases" "$(phase one) $(phase two) $(phase three)" "untraced tracing tracing"
equal "marks" "$(sed 1,2d one/marks.out | cut -f 4)" 'on\040this\040terminal'

# the only trace left is stopped from any session
"$DLT" stop three 2>err || fail "stop three: $(cat err)"
setsid -w "$DLT" stop 2>err || fail "the only one, from another session: $(cat err)"
equal "phase" "$(phase two)" untraced
printf '\n\n\n\n\n' >&9
