#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The report shows what is missing of a trace beside the answer, as a share of the calls: rows that were removed from a
# file, lost on a full disk, dropped by --keep, or never recorded. If a file is not as the manifest says, an error names
# it. For a whole trace, one line says so.
. "${0%/*}/../lib.sh"
need python3

head -c 400k /dev/urandom >data
cat >job <<'END'
import os
fd = os.open("data", os.O_RDONLY)
for i in range(5000):
    os.pread(fd, 4096, i % 100 * 4096)
END

# reported STATUS: makes the report on $t; it is in text and json, its messages in err.
reported() {
	rc=0
	"$DLT" report --full "$t" >text 2>err || rc=$?
	equal "status" $rc "$1"
	"$DLT" report --json "$t" >json 2>>err
}

# says PATTERN: it is in the first 25 lines of the text, a screen of a terminal.
says() { sed 25q text | grep -q -e "$1" || fail "not on the first screen: '$1': $(sed 25q text)"; }

# share CODE: the missing share in JSON; CODE is one of its reasons.
share() {
	python3 -c 'import json, sys
r = json.load(open("json"))
assert sys.argv[1] in [x["code"] for x in r["missing_reasons"]], r["missing_reasons"]
assert not r["complete"]
print(r["missing_share"])' "$1"
}

# about SHARE WANTED: they differ by less than a thousandth.
about() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 0.001 && b - a < 0.001) }' || fail "a share of $1, not $2"; }

# again: makes $t a fresh copy of the whole trace.
again() {
	rm -rf "$t"
	cp -r whole "$t"
}

# --- whole ----------------------------------------------------------------------------------------

trace -- sh -c "$long" sh python3 job || fail "status $?"
cp -r "$t" whole
reported 0
says '^missing *nothing that dltraced knows of$'
grep -q '^files *complete' text || fail "not complete"
! grep -q 'may be otherwise' text || fail "a caveat of a whole trace: $(head -1 text)"
! grep -q . err || fail "a whole trace: $(cat err)"
all=0
for f in $(of_calls); do all=$((all + $(rows $f | wc -l))); done
rw=$(rows vfs_rw | wc -l)

# --- cut, by a third of vfs_rw.out ------------------------------------------------------------------

again
size=$(stat -c %s whole/vfs_rw.out)
head -c $((size / 3)) whole/vfs_rw.out >"$t/vfs_rw.out"
[ "$(tail -c 1 "$t/vfs_rw.out" | wc -l)" = 0 ] || truncate -s -1 "$t/vfs_rw.out" # within a line
left=$(($(wc -l <"$t/vfs_rw.out") - 2))
gone=$((rw - left))
reported 1
says "^missing *vfs_rw.out: $gone of $rw rows are not in the file: it was cut off$"
grep -q '^files *NOT complete' text || fail "complete"
head -1 text | grep -q '% of the calls are missing: this may be otherwise)$' || fail "not in the answer: $(head -1 text)"
grep -q "error: $t/vfs_rw.out: $gone of $rw rows are not in the file: it was cut off$" err || fail "$(cat err)"
about "$(share cut)" "$(awk -v a=$gone -v b="$all" 'BEGIN { print a / b }')"
"$DLT" report --html page.html "$t" 2>err && fail "the page: status 0"
grep -q 'rows are not in the file: it was cut off' page.html || fail "not on the page"

# --- lines missing in the middle, and lines too many --------------------------------------------------

again
sed -i 100,1099d "$t/vfs_rw.out"
reported 1
says "^missing *vfs_rw.out: 1000 of $rw rows are not in the file"
about "$(share cut)" "$(awk -v a=1000 -v b="$all" 'BEGIN { print a / b }')"
again
tail -n 500 whole/vfs_rw.out >>"$t/vfs_rw.out"
reported 1
says "^missing *vfs_rw.out: 500 of $((rw + 500)) rows are more than dltraced has written"
again
rm "$t/open.out"
reported 1
says '^missing *open.out: \([0-9]*\) of \1 rows are not in the file: the file is missing'

# --- nothing recorded ---------------------------------------------------------------------------------

trace -P -open -- sh -c "$long" sh python3 job || fail "status $?"
reported 0
says '^missing *calls of open were not recorded'
head -1 text | grep -q 'calls of open were not recorded: this may be otherwise' || fail "not in the answer: $(head -1 text)"

# --- the report knows segments that --keep has dropped, and misses segments that were removed otherwise --

trace --rotate 64K --keep 1M -- python3 -c 'import os
fd = os.open("data", os.O_RDONLY)
for i in range(20000):
    os.pread(fd, 4096, 0)' || fail "status $?"
dropped=$(manifest '[p["dropped"] for p in m["probes"] if p["name"] == "vfs_rw"][0]')
[ "$dropped" -gt 0 ] || fail "--keep has dropped nothing"
reported 0
says "^missing *[0-9]* of [0-9]* calls (.*$dropped vfs_rw) were dropped by --keep"
grep -q '^files *NOT complete' text || fail "complete"
rm "$(find "$t" -name 'vfs_rw.0*.out' | sort | tail -1)"
reported 1
says '^missing *vfs_rw.out: [0-9]* of [0-9]* rows are not in the file: '
says "^missing .*$dropped vfs_rw) were dropped by --keep"

# --- no space -----------------------------------------------------------------------------------------

if mkdir full && mount -t tmpfs -o size=256k none full; then
	mnt=$TMPDIR/full
	trace -o full/t -- sh -c "$long" sh python3 job 2>err || fail "status $?"
	cp -r full/t "$t"
	reported 0
	says '^missing *[0-9]* of [0-9]* calls (.* vfs_rw.*) were lost while tracing: the disk was full'
	equal "lost for the disk" "$(manifest 'sum(p["lost_by"]["disk"] for p in m["probes"] if p["lost"])')" "$(manifest 'sum(p["lost"] for p in m["probes"])')"
	grep -q '^files *NOT complete' text || fail "complete"
	head -1 text | grep -q '% of the calls are missing[:,].* this may be otherwise' || fail "not in the answer: $(head -1 text)"
	share lost >/dev/null
fi

# --- CPU scheduling, cut --------------------------------------------------------------------------------

again
size=$(stat -c %s "$t/sched.out")
truncate -s $((size - 30)) "$t/sched.out"
reported 1
says '^missing *sched.out: 30 B of .* are not in the file: it was cut off$'
rc=0
"$DLT" report --cpu "$t" >text 2>err || rc=$?
equal "report --cpu: status" $rc 1
grep -q '^- sched.out: 30 B of .* are not in the file' text || fail "report --cpu: $(cat text)"

# --- 32-bit calls, which are only counted --------------------------------------------------------------

cat >calls.S <<'END'
.globl _start
_start:	mov $0, %esi
again:	mov $20, %eax
	int $0x80
	inc %esi
	cmp $300, %esi
	jne again
	mov $1, %eax
	xor %ebx, %ebx
	int $0x80
END
if gcc -m32 -nostdlib -static -o calls calls.S 2>err && ./calls 2>err; then
	trace -- sh -c './calls; cat data >/dev/null' || fail "status $?"
	equal "32-bit calls" "$(manifest 'm["compat_calls"]')" 301
	all=0
	for f in $(of_calls); do all=$((all + $(rows $f | wc -l))); done
	reported 0
	says "^missing *301 32-bit calls of the job were counted and have no rows: $(awk -v a="$all" 'BEGIN {
		printf "%.1f", 30100 / (301 + a) }') % of the calls at most"
fi

# --- a child that outlives the job ---------------------------------------------------------------------

trace -- sh -c 'sleep 600 & echo $! >child; cat data >/dev/null; exec sleep 0.6' || fail "status $?"
equal "left running" "$(manifest 'm["job"]["left_running"], m["job"]["processes"][0]["pid"], m["job"]["processes"][0]["comm"]')" \
	"(1, $(cat child), 'sleep')"
reported 0
kill "$(cat child)"
says "^missing *1 of the job's 3 processes was still running when the trace ended (sleep; .*); --wait-all traces it\$"
grep -q '^files *NOT complete' text || fail "complete"
head -1 text | grep -q "1 of the job's 3 processes went on: this may be otherwise)" || fail "not in the answer: $(head -1 text)"
share left-running >/dev/null
trace --wait-all -- sh -c 'sleep 0.2 & cat data >/dev/null' || fail "--wait-all: status $?"
equal "left with --wait-all" "$(manifest 'm["job"]["left_running"]')" 0
reported 0
says '^missing *nothing that dltraced knows of$'

# --- killed -------------------------------------------------------------------------------------------

gate
spawn -- sh -c 'python3 job; read _ <gate'
await grep -qs '"complete"' "$t/manifest.json"
await [ -s "$t/pids.out" ]
kill -9 $dlt
join
echo >&9
reported 0
says '^missing *the trace has no end: it is still running, or dltraced was killed'
grep -q '^files *NOT complete' text || fail "complete"
share no-end >/dev/null
