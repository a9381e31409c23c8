#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# There is less space than --min-free, and there are segments to compress: compression goes on, as it takes little space
# and frees more. Rows that are lost meanwhile are counted, and writing resumes with the space that was freed. A segment
# for which there is no space at all stays plain. The manifest lists exactly the files that are there, each once, with
# all rows.
. "${0%/*}/../lib.sh"
need python3 gzip
gate
head -c 1048576 /dev/zero >data
mkdir small
mount -t tmpfs -o size=16m none small || skip "to mount tmpfs"
mnt=$TMPDIR/small t=$TMPDIR/small/t

# leave KIB: the job takes all space but this.
cat >leave <<'END'
free=$(df -k --output=avail small | tail -n 1)
head -c $(((free - $1) * 1024)) /dev/zero >>small/fill 2>/dev/null
END
vfs() { manifest "next(p['$1'] for p in m['probes'] if p['name'] == 'vfs_rw')"; }
unpacked() { for f in "$t/vfs_rw".*; do case $f in *.gz) gzip -dc "$f" ;; *) cat "$f" ;; esac; done; }
# accounted: every call is a row or lost, the rows are in the files once, and the manifest lists these files.
accounted() {
	equal "complete" "$(manifest 'm["complete"]')" True
	equal "rows and lost" $(($(vfs rows) + $(vfs lost))) "$(vfs calls)"
	equal "rows that are there" "$(unpacked | grep -c '^[0-9]')" "$(vfs rows)"
	equal "rows twice" "$(unpacked | grep '^[0-9]' | cut -f1,4 | uniq -d | wc -l)" 0
	manifest '"\n".join(s["file"] for s in m["segments"])' | sort >listed
	(cd "$t" && ls -- *.out*) | sort >there
	cmp listed there || fail "listed and there: $(diff listed there)"
	[ "$(vfs lost)" -gt 0 ] || fail "nothing was lost: $(cat err)"
	"$DLT" report --full "$t" >report || fail "report: status $?"
	grep -q "^- vfs_rw: $(vfs lost) lost" report || fail "no loss in the report: $(cat report)"
}

# --- space won by compressing -----------------------------------------------------------------------

cat >job <<'END'
"$W/storm" -n 30000 data
echo read >state
read -r _ <gate
sh leave 3000
echo low >state
read -r _ <gate
"$W/storm" -n 20000 data
echo lost >state
read -r _ <gate
"$W/storm" -n 20000 data
END
export W
spawn -v --min-free 4M --rotate 2s --compress gzip -- sh job >out
# rows that are not yet written would take the space that is left
written() { [ "$(unpacked 2>unpacked.err | grep -c '^[0-9]')" -ge 30000 ]; }
await grep -qs read state
await written
echo >&9
await grep -qs low state
await grep -q 'warning: only .* free in' err
echo >&9
await grep -qs lost state
await grep -q 'space in .* again' err
echo >&9
join
equal "status ($(cat err))" $rc 0
accounted
[ -z "$(find "$t" -name 'vfs_rw*.out')" ] || fail "plain: $(ls "$t")"
rm -r small/*

# --- none at all ------------------------------------------------------------------------------------

cat >job <<'END'
"$W/storm" -n 30000 data
sh leave 0
"$W/storm" -n 20000 data
END
trace --rotate 1h --compress gzip -- sh job >out 2>err || fail "status $?: $(cat err)"
accounted
grep -q 'cannot compress' err || fail "nothing said: $(cat err)"
[ -e "$t/vfs_rw.out" ] || fail "not plain: $(ls -l "$t")"
equal "temporary files" "$(find "$t" -name '*.tmp')" ""
