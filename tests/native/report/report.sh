#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `dltraced report` on a trace as it is, on one that was cut off within a row, and on one that is still growing: its
# sums are those of the whole rows, and it reports what is missing. Needs no root.
#
# smoke
. "${0%/*}/../lib.sh"
need python3 setpriv
gate

head -c 6553600 /dev/urandom >data
cat >job <<'END'
dd if=data of=copy bs=64k conv=fsync 2>dd.err
od data >/dev/null
rm copy no-such-file 2>/dev/null
mkdir folder
mv data folder/moved
dd if=folder/moved of=/dev/null bs=1000 count=100 2>dd.err
mv folder/moved data
rmdir folder
read _ <gate
END

# reported [STATUS]: text and JSON of a report on $t.
reported() {
	rc=0
	"$DLT" report --json "$t" >json 2>err || rc=$?
	equal "report --json: status" $rc "${1:-0}"
	rc=0
	"$DLT" report --full "$t" >text 2>err || rc=$?
	equal "report: status" $rc "${1:-0}"
	check report json
}

# told PATTERN: the report has a line with it.
told() { grep -q -e "$1" text || fail "the report does not say '$1': $(cat text)"; }

# --- still growing --------------------------------------------------------------------------------

# Every second all files are flushed, one by one, and time_align.out gets a row; so at its second new row, everything is
# there that the first flush may have missed.
lines() { [ "$(wc -l <"$t/time_align.out")" -ge "$1" ]; }

spawn -- sh job
await grep -qs '	rmdir	' "$t/create_del.out"
await lines $(($(wc -l <"$t/time_align.out") + 2))
reported
told '^files *NOT complete'
echo >&9
join
equal "status" $rc 0

# --- whole ----------------------------------------------------------------------------------------

check whole
reported
told '^files *complete'
told '^missing *nothing that dltraced knows of$'
told '^ended *exit status 0'
told '^nothing that dltraced knows of'
told "^ *0 B *6.25 MiB .* $TMPDIR/copy\$"
told "^ *12.6 MiB *0 B .* $TMPDIR/data\$"
install -m 755 "$DLT" dltraced
chmod -R go+rX "$t"
setpriv --reuid 65534 --regid 65534 --clear-groups ./dltraced report --full "$t" >other || fail "not as root"
cmp text other || fail "another report for another user"
cp -r "$t" copied
"$DLT" report --full "$t" copied >two || fail "two folders: status $?"
equal "two folders" "$(grep -c '^trace  ' two)" 2

# --- the page -------------------------------------------------------------------------------------

(umask 022 && exec "$DLT" report --html page.html "$t") || fail "report --html: status $?"
"$DLT" report --html - "$t" >page || fail "report --html -: status $?"
cmp page page.html || fail "another page on standard output"
equal "mode" "$(stat -c %a page.html)" 644
"$DLT" report --json "$t" >json
python3 - page.html json <<'END' || fail "the page does not hold what --json says"
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
inside = re.search(r'<script type="application/json" id="report">(.*?)</script>', page, re.S).group(1)
sys.exit(json.loads(inside) != json.load(open(sys.argv[2], encoding="utf-8")))
END
"$DLT" report --html two.html "$t" copied || fail "one page for two folders: status $?"
ln -s copied/page.html planted
! "$DLT" report --html planted "$t" 2>err || fail "a link was followed"
grep -q 'planted is a symbolic link: name the file itself' err || fail "a link: $(cat err)"
[ ! -e copied/page.html ] || fail "a link was followed"
! "$DLT" report --html . "$t" 2>err || fail "a folder as the page"
! "$DLT" report --html full/page.html "$t" 2>err || fail "a page in no folder"
! "$DLT" report --html - "$t" >/dev/full 2>err || fail "a full disk was not noticed"

# --- cut off --------------------------------------------------------------------------------------

for file in close create_del files mmap open pids vfs_rw; do
	rm -rf "$t"
	cp -r copied "$t"
	truncate -s -5 "$t/$file.out"
	reported 1
	grep -q "error: $t/$file.out: 1 of [0-9]* rows is not in the file: it was cut off" err || fail "$file: $(cat err)"
	told "^- $file.out: the last row is cut off and is left out"
done
rm "$t/manifest.json"
reported
told 'manifest.json'
: >"$t/vfs_rw.out"
"$DLT" report --full "$t" >text || fail "an empty file: status $?"
told 'vfs_rw.out'

# --- calls in flight at the end -------------------------------------------------------------------

# The second TERM ends the trace, and the workload goes on.
ended() { gone $dlt || ! kill -TERM $dlt; }
spawn -- sh -c 'trap "" TERM; echo $$ >pid; read _ <gate'
await [ -s pid ] && await at_gate "$(cat pid)"
await ended
join
equal "status after TERM" $rc 143
reported
equal "rows that had not ended" "$(rows vfs_rw 'RETURNED == "?"' | wc -l)" 1
told '^Still waiting at the end'
told 'read .*gate'
echo >&9
await gone "$(cat pid)"
