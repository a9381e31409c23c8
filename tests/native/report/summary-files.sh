#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# smoke
# Summaries of four hosts give the numbers of a report on their folders, as JSON and as text, and name what they lack; what
# awk counts in all rows is in the merged report, too. What is no summary is refused. Needs no root.
. "${0%/*}/../lib.sh"
need python3

gen=$W/../tests/gen_trace
for i in 1 2 3 4; do
	"$gen" -r $((i * 4000)) -g 2 -w "$i" -c 2 -s $((4 + i)) -f 200 "host$i" >/dev/null || fail "gen_trace: status $?"
	sed -i "s/\"host\": \"[^\"]*\"/\"host\": \"node$i\"/; s/\"boot_id\": \"[^\"]*\"/\"boot_id\": \"$i\"/" "host$i/manifest.json"
done
# a row is missing from one of them: its reason, and the share of all, is in both forms
sed -i '$d' host2/vfs_rw.out

report() {
	"$DLT" report "$@" 2>>err
	[ $? -le 1 ] || fail "report $*: $(cat err)"
}

report --summary-only host1 host2 host3 host4
for i in 1 2 3 4; do
	[ "$(wc -c <host$i/summary.json)" -lt 65536 ] || fail "the summary has $(wc -c <host$i/summary.json) bytes"
	cp host$i/summary.json $i.json
done
report --json host1 host2 host3 host4 >folders.json
report --json 1.json 2.json 3.json 4.json >summaries.json
python3 -B "$here/checks/summary_files.py" folders.json summaries.json || fail "the numbers differ"
rows=$(cat host?/vfs_rw.out | grep -vc '^#\|^TIMESTAMP')
equal "rows" "$(python3 -c 'import json; print([p["rows"] for p in json.load(open("summaries.json"))["probes"] if p["name"] == "vfs_rw"][0])')" "$rows"

# the lines that the texts have in common
report host1 host2 host3 host4 | sed -n '/hosts of one job/,/^times of two\|^by how much/p' >folders.txt
report 1.json 2.json 3.json 4.json >all.txt
sed -n '/hosts of one job/,/^times of two\|^by how much/p' all.txt >summaries.txt
[ -s folders.txt ] && cmp folders.txt summaries.txt || fail "texts: $(diff folders.txt summaries.txt)"
grep -q "^vfs_rw " all.txt || fail "no totals: $(cat all.txt)"

refused() {
	wanted=$1
	shift
	"$DLT" report "$@" >out 2>err
	equal "status of report $*" $? 125
	grep -q "$wanted" err || fail "report $*: $(cat err)"
}

head -c 2000 1.json >cut.json
refused 'cut.json: neither a trace folder nor a whole summary' 2.json cut.json
sed 's/"summary": 1/"summary": 2/' 1.json >newer.json
refused 'newer.json: written by a newer dltraced' newer.json
refused 'text and --json only' --html page.html 1.json
refused 'cannot be combined' --summary-only --json host1
