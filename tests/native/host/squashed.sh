#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The trace is in a user's home on a server that treats root as nobody (hungfs.py squash): every file is made as the
# user, from the first one on.
. "${0%/*}/../lib.sh"
need python3
[ -c /dev/fuse ] || skip "/dev/fuse"
mkdir far
python3 -B "$here/hungfs.py" far squash >server.out 2>&1 &
server=$!
trap 'kill $server; umount -l far; cleanup' EXIT
until grep -q mounted server.out; do
	gone $server && skip "to mount FUSE: $(cat server.out)"
	sleep 0.05
done
chmod 755 "$TMPDIR"
setpriv --reuid daemon --regid daemon --clear-groups mkdir -m 700 far/home || skip "a folder of a user"
mkdir far/home/root 2>/dev/null && fail "root is not nobody there"

t=$TMPDIR/far/home/t
# complete: seen by the user; root has no access.
complete() {
	setpriv --reuid daemon --regid daemon --clear-groups grep -qs '"complete": *true' "$t/manifest.json"
}
for options in '' '--log --rotate 64K --compress gzip --collectors cpu' '--background --delay 1s'; do
	# shellcheck disable=SC2086 # options
	"$DLT" start -q --probes -bio --min-free 0 --collectors none $options --force -o "$t" --user daemon -- \
		sh -c 'echo hello; sleep 2' >out 2>err || fail "${options:-no option}: status $?: $(cat err)"
	case $options in *background*) await complete ;; esac
	grep -v 'warning: writing to .* has stalled' err && fail "${options:-no option}: said: $(cat err)"
done
kill -HUP $server
equal "owners" "$(stat -c %U "$t" "$t"/* | sort -u)" daemon
equal "complete" "$(manifest 'm["complete"]')" True
"$DLT" report --full "$t" >/dev/null || fail "report: $?"
