#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The export of NFS on which a trace lies is withdrawn in the middle (exportfs -u): that is said, nothing
# hangs, and the workload goes on. Comes it back, so does the trace, and its rows are there, lost or unsure; does it
# not, the trace ends with the workload, and the report of what is there says so. As withdrawn of tests/native does it
# with FUSE.
. "${0%/*}/nfs.inc"

count() { manifest "next(p for p in m['probes'] if p['name'] == 'vfs_rw')['$1']"; }
# rows in all segments
in_files() { cat "$t"/vfs_rw*.out | grep -c '^[0-9]'; }
made=30256 more=11000 # storm warms up, and reads the whole file once
cp "$srv/home/data" home/data
cat >home/job <<'END'
read _ <gate
"$1" -n 20000 home/data
: >home/state
until [ -e home/more ]; do sleep 0.2; done
"$1" -n 1000 home/data
: >home/done
until [ -e home/go ]; do sleep 0.2; done
exit 7
END

withdrawn() {
	rm -f home/state home/more home/done home/go
	begin -v "$@" -- sh home/job "$W/storm" >out
	await grep -qs '	sh	' "$t/vfs_rw.out"
	withdraw_it
	await grep -q 'warning: the server refuses .*/t: Stale file handle' err
	echo >&9
	await test -e home/state # the workload does not wait for it
	gone "$dlt" && fail "it has ended: $(cat err)"
}

for option in '' '--rotate 256K'; do
	# shellcheck disable=SC2086 # an option and its value
	withdrawn $option
	export_it
	await grep -q 'the server accepts .*/t again' err
	: >home/more
	await test -e home/done
	: >home/go
	join
	what="back${option:+, $option}"
	sed "s,^,| ," err
	equal "$what: status ($(cat err))" $rc 7
	equal "$what: complete" "$(manifest 'm["complete"]')" True
	equal "$what: rows and lost" $(($(count rows) + $(count lost))) "$(count calls)"
	[ "$(count calls)" -ge $((made + more)) ] || fail "$what: $(count calls) calls"
	echo "$what: $(count rows) rows, $(count lost) lost, $(count unsure) unsure, $(in_files) in files"
	[ $(($(in_files) + $(count unsure))) -ge "$(count rows)" ] || fail "$what: rows are missing that are sure"
	setpriv --reuid nobody --regid "$gid" --clear-groups "$DLT" report --full "$far/home/t" >report || fail "$what: report: status $?"
	echo "ok withdrawn, and $what"
done

withdrawn
: >home/more
: >home/go
join
sed "s,^,| ," err
equal "not back: status ($(cat err))" $rc 7
said=$(awk '$3 == "vfs_rw:" { print $4 + $(NF - 1) }' err)
[ "${said:-0}" -ge $((made + more)) ] || fail "not back: told of ${said:-nothing} of $made calls"
grep -q 'error: .*manifest.json: Stale file handle' err || fail "not back: nothing of the manifest"
export_it
setpriv --reuid nobody --regid "$gid" --clear-groups "$DLT" report --full "$far/home/t" >report || fail "not back: report: status $?"
grep -q 'NOT complete' report || fail "not back: the report says it is complete: $(cat report)"
echo "ok withdrawn, and not back"
