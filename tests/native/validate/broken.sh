#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# dltraced validate accepts a trace that Python's own reader (checks/tracefolder.py) accepts, split and packed or not,
# and finds each of these kinds of damage, one at a time, with the file, the line and the number.
. "${0%/*}/../lib.sh"
python
touch 'a file' 'ü #1'

trace --workload "cat 'a file' 'ü #1' /etc/passwd" >/dev/null || fail "start: status $?"
check whole
"$DLT" validate "$t" >out || fail "valid: status $?: $(cat out)"
grep -q ': valid: ' out || fail "valid: $(cat out)"

# broken WHAT FILE EXPECTED COMMAND...: COMMAND makes another FILE of the one on stdin; validate then prints a line with
# the path of FILE and EXPECTED.
broken() {
	what=$1 file=$2 expected=$3
	shift 3
	rm -rf copy
	cp -r "$t" copy
	"$@" <"$t/$file" >"copy/$file" || fail "$what: $1"
	cmp -s "$t/$file" "copy/$file" && fail "$what: nothing is changed"
	"$DLT" validate copy >out
	equal "$what: status" $? 1
	grep -qxF "copy/$file$expected" out || fail "$what: $(cat out)"
}
row() { awk -F'\t' -v OFS='\t' "NR == 4 { $1 } { print }"; }

broken fields open.out ':4: the row has too few or too many fields, or is damaged' row '$0 = $1 "\t" $2'
broken more open.out ':4: the row has too few or too many fields, or is damaged' row '$0 = $0 "\tx"'
broken number open.out ':4: a field does not have the form of its column' row '$3 = "0" $3'
broken escape open.out ':4: a field is not escaped correctly' row '$5 = "\\141"'
broken clock open.out ':4: TIME and TIMESTAMP differ by more or less than the clocks in time_align.out' row '$2 = "2001" substr($2, 5)'
broken pid open.out ":4: the row's PID is not in pids.out" row '$3 = 4194303'
broken span open.out ":4: the row's TIMESTAMP is not within the trace" row '$1 = 1'
broken order open.out ':4: the row is earlier than the one before it' row '$1 = 1'
broken cut open.out ":$(wc -l <"$t/open.out"): the last row is incomplete" head -c -1
broken rows open.out ": the number of rows differs from the manifest's" sed 4d
broken header open.out ":1: line 1 names another file" sed '1s/open/close/'
broken columns open.out ':2: line 2 has unknown columns, or columns in another order' sed '2s/COMM/NAME/'
rows=$(awk -F'\t' 'NR > 2 && $2' "$t/open.out" | wc -l)
broken many open.out ":3: a field does not have the form of its column (the first of $rows)" sed 's/^\([0-9]*\t[^\t]*\t\)/\10/'
broken manifest manifest.json ': the trace has not ended, or was cut off' sed 's/"complete": *true/"complete": false/'

fid=$(awk -F'\t' 'NR == 2 { for (i = 1; i <= NF; i++) if ($i == "FID") print i }' "$t/open.out")
last=$(awk -F'\t' -v at="$fid" 'NR > 2 && $at != "-" && $at != "?" { print NR; exit }' "$t/open.out")
broken fid open.out ":$last: the row's FID is not in files.out" awk -F'\t' -v OFS='\t' -v at="$fid" -v nr="$last" 'NR == nr { $at = 99999 } { print }'

word=$(awk -F'\t' 'NR == 2 { for (i = 1; i <= NF; i++) if ($i == "FUNC") print i }' "$t/open.out")
broken word open.out ':4: a field is none of the words of its column' awk -F'\t' -v OFS='\t' -v at="$word" 'NR == 4 { $at = "openat9" } { print }'
event=$(awk -F'\t' 'NR == 2 { for (i = 1; i <= NF; i++) if ($i == "EVENT") print i }' "$t/pids.out")
broken event pids.out ':3: a field is none of the words of its column' awk -F'\t' -v OFS='\t' -v at="$event" 'NR == 3 { $at = "spoon" } { print }'
broken bytes open.out ": the number of bytes differs from the manifest's" sed '$a# a comment'
for probe in open vfs_rw; do
	broken "$probe calls" manifest.json ": the manifest's calls are not its rows, sums, filtered and lost calls" \
		python3 -c 'import json, sys; m = json.load(sys.stdin); p = [p for p in m["probes"] if p["name"] == sys.argv[1]][0]; p["calls"] += 1
json.dump(m, sys.stdout)' "$probe"
done
# more rows than calls are an error where a call is one row
broken rows manifest.json ": the manifest's calls are not its rows, sums, filtered and lost calls" \
	python3 -c 'import json, sys; m = json.load(sys.stdin); p = [p for p in m["probes"] if p["name"] == "open"][0]; p["calls"] -= 1
json.dump(m, sys.stdout)'

whole=$t t=$TMPDIR/split
mkdir data
head -c 400000 /dev/zero >data/file
trace --collectors none --rotate 64K --compress gzip -- "$W/storm" -n 6000 -w 0 "$TMPDIR/data/file" >/dev/null || fail "storm: status $?"
"$DLT" validate "$t" >out || fail "split: $(cat out)"
set -- "$t"/vfs_rw.000*.out.gz
[ $# -gt 3 ] || fail "only $# segments"
# without FILE...: the folder is copied without these segments
without() {
	rm -rf copy
	cp -r "$t" copy
	what=$1
	shift
	for file; do rm "copy/${file##*/}"; done
	"$DLT" validate copy >out
	equal "without $what: status" $? 1
	grep -q "^copy/vfs_rw.out: a segment is damaged, missing, or another file's" out || fail "without $what: $(cat out)"
	! grep -q 'number of bytes' out || [ "$what" != hole ] || fail "bytes of a file with a hole: $(cat out)"
}
without hole "$2"
without first "$1"
without 'two first' "$1" "$2"
without last "$t"/vfs_rw.out*
t=$whole

mkdir empty
"$DLT" validate empty >out 2>&1
equal "empty folder: status" $? 125
"$DLT" validate >out 2>&1
equal "no folder: status" $? 125
