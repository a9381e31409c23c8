#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Root sees and ends all traces of the machine by status and stop: the service's own, those of its users, and those that
# were started by sudo. Each has its name, whole or visibly cut, and its user. No line is longer than COLUMNS.
. "${0%/*}/../service.inc"
install -d -o nobody -m 700 home
gate
chmod 644 gate
long=a_name_that_is_longer_than_the_column_for_names_20261129T040000Z_12345

daemon "[trace node]
cgroup = dltraced-test-$$/$(printf 'x%.0s' $(seq 150))
probes = open
collectors = none
min-free = 0"
background() {
	"$@" "$DLT" start -q --background --collectors none --probes -bio --min-free 0 -o "$dir" -- sh -c 'read -r _ <gate' 2>err 9>&- ||
		fail "start in $dir: $(cat err)"
}
by_sudo() { SUDO_UID=$uid SUDO_GID=$gid "$@"; }
dir=$TMPDIR/home/of_user background as
dir=$TMPDIR/$long background by_sudo
dir=$TMPDIR/of_root background env
await sh -c '"$1" status | grep -q "^node "' - "$DLT"

# --- what root sees -----------------------------------------------------------------------------------

unset COLUMNS
"$DLT" status >table || fail "status: $?"
equal "names and users" "$(grep -E '^[^ ]' table | awk 'NR > 1 { print $1, $4 }' | sort)" "$(printf '%s\n' "$long " \
	"node service" "of_root root" "of_user nobody" | sort)"
equal "user of a long name" "$(awk -v n="$long" '$0 == n { getline; print $3 }' table)" nobody
equal "longest line, but for folders" "$(grep -v '^  folder ' table | awk 'length > 80' | head -n 1)" ""
grep -qx "  folder $TMPDIR/home/of_user" table || fail "no folder in one line: $(cat table)"
for width in 20 33 60 200; do
	COLUMNS=$width "$DLT" status >table || fail "status in $width columns: $?"
	equal "lines of more than $width" "$(awk -v w="$width" 'length > w' table | head -n 1)" ""
	tr -d '\n' <table | grep -q "$long" || fail "the name is not whole in $width columns: $(cat table)"
done
# a terminal's own size counts, too
stty_of() { python3 "$here/terminal.py" /dev/null "$@"; }
COLUMNS=200 stty_of 40 "$DLT" status | tr -d '\r' >table
equal "lines of more than 40 on such a terminal" "$(awk 'length > 40' table | head -n 1)" ""
grep -q '^node ' table || fail "on a terminal: $(cat table)"
COLUMNS=30 "$DLT" status --watch -i 100ms "$long" >watched 9>&- &
watcher=$!
await grep -q PID watched
kill -INT $watcher
wait $watcher || fail "status --watch: $?"
equal "lines of more than 30, watched" "$(awk 'length > 30' watched | grep -vx "$long" | head -n 1)" ""

# --- stop ---------------------------------------------------------------------------------------------

SUDO_UID=2 "$DLT" stop 2>err && fail "stop without a name ended a trace of somebody else"
for line in 'node of the service, process' 'of_user of user nobody, ' "$long of user nobody, " 'of_root of user root, '; do
	grep -q "error:   $line" err || fail "not listed: $line: $(cat err)"
done
for name in of_user "$long" node; do
	"$DLT" stop "$name" 2>err || fail "stop $name: $(cat err)"
done
grep -q "the service starts this trace again: .*enabled = no.*\[trace node\]" err || fail "no word about the restart: $(cat err)"
await grep -q '\[trace node\] exited with 125: started again' daemon.err
"$DLT" stop 2>err || fail "stop of root's own: $(cat err)"
equal "manifests of ended traces" "$(cat of_root/manifest.json "$long/manifest.json" home/of_user/manifest.json | grep -c '"complete": true')" 3
printf '\n\n\n\n' >&9
