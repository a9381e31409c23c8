#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# ndjson and csv have each row of a trace, with its values, and no other: for golden traces, some with hostile names or
# cut files, for packed segments, several hosts, a generated trace, and one file to standard output. Damage is reported
# on standard error, and the status is 1. Needs no root.
#
# smoke
. "${0%/*}/../lib.sh"
python
golden=$here/../golden
gen=$W/../tests/gen_trace
"$DLT" probes --duckdb >views

# whole STATUS FOLDER...: both exports of the folders have all rows.
whole() {
	status=$1
	shift
	rm -rf csv
	"$DLT" export "$@" -f ndjson -o rows.ndjson 2>err
	equal "status of ndjson of $*" $? "$status"
	"$DLT" export "$@" -f csv -o csv 2>>err
	equal "status of csv of $*" $? "$status"
	python3 -B "$here/checks/export_rows.py" rows.ndjson csv views "$@" >count || fail "$*: $(cat count)"
}

for name in cpu gpus hostile other panels small switches; do
	whole 0 "$golden/trace-$name"
done
whole 1 "$golden/trace-cut"
grep -q 'vfs_rw.out: the last row is cut off and is left out; the rest is exported' err || fail "cut: $(cat err)"
whole 0 "$golden/trace-small" "$golden/trace-other" "$golden/trace-hostile"

"$gen" -r 5000 -g 2 -w 4 -c 2 -s 8 made >/dev/null || fail "gen_trace: status $?"
whole 0 made
"$DLT" report --json made >json || fail "report: status $?"
python3 -c '
import json, sys
rows = [r for r in map(json.loads, open("rows.ndjson")) if r["probe"] == "vfs_rw"]
report = json.load(open("json"))
moved = sum(r["RETURNED"] for r in rows if r["RETURNED"] > 0)
probe = next(p for p in report["probes"] if p["name"] == "vfs_rw")
if (len(rows), moved, sum(r["LAT_NS"] for r in rows)) != (probe["rows"], probe["bytes"], probe["time_ns"]):
    sys.exit(f"{len(rows)} rows, {moved} bytes; the report has {probe}")' || fail "the report has other sums"

# one of the segments packed, as --rotate --compress leaves them
head -n 2 made/vfs_rw.out >made/vfs_rw.000001.out
sed -n '3,1000p' made/vfs_rw.out >>made/vfs_rw.000001.out
sed '3,1000d' made/vfs_rw.out >rest && mv rest made/vfs_rw.out && gzip made/vfs_rw.000001.out
lines=$(wc -l <rows.ndjson)
whole 0 made
equal "rows with a packed segment" "$(wc -l <rows.ndjson)" "$lines"

"$DLT" export made -f csv -P vfs_rw -o - >one.csv || fail "csv to stdout: status $?"
cmp one.csv csv/vfs_rw.csv || fail "csv to stdout is another one"
! "$DLT" export made -f csv -o - >out 2>err || fail "csv of all files to stdout: status 0"
grep -q 'name it with --probes' err || fail "$(cat err)"
"$DLT" export made -f ndjson -o rows.ndjson.gz || fail "gz: status $?"
gzip -dc rows.ndjson.gz | cmp - rows.ndjson || fail "gz: other rows"

# cuts
pid=$(awk 'NR == 3 { print $3 }' made/vfs_rw.out)
"$DLT" export made -f ndjson -P vfs_rw,open -p "$pid" -o - >cut || fail "--pid: status $?"
equal "rows of process $pid" "$(wc -l <cut)" "$(grep -E '"probe":"(vfs_rw|open)"' rows.ndjson | grep -c "\"PID\":$pid,")"
"$DLT" export "$golden/trace-small" -f ndjson -P vfs_rw --path /mnt/nfs -o - >cut || fail "--path: status $?"
equal "rows below /mnt/nfs" "$(wc -l <cut)" "$("$DLT" report --json --path /mnt/nfs "$golden/trace-small" | python3 -c '
import json, sys
print(next(p["rows"] for p in json.load(sys.stdin)["probes"] if p["name"] == "vfs_rw"))')"

# impossible outputs
before=$(cksum made/vfs_rw.out)
for format in csv folded ndjson perfetto pfw sqlite; do
	! "$DLT" export made -f $format -o made/vfs_rw.out 2>err || fail "$format replaced the trace's own file"
	grep -q "is a name of the trace's own files" err || fail "$format: $(cat err)"
	equal "vfs_rw.out after -f $format" "$(cksum made/vfs_rw.out)" "$before"
done
! "$DLT" export . -f ndjson -o x 2>err || fail "no trace: status 0"
grep -q 'is not a trace folder' err || fail "$(cat err)"
[ ! -e x ] || fail "a file of no trace"
! "$DLT" export made made/. -f ndjson -o x 2>err || fail "a folder twice: status 0"
! [ -e /dev/full ] || { ! "$DLT" export made -f ndjson -o - >/dev/full 2>err || fail "a full disk: status 0"; }
