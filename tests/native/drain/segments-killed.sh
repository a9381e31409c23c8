#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Killed by SIGKILL while it splits, compresses and drops: every file that stays can be read, no row is there twice, and
# a file that was being made is reported. If the disk is full during compression, segments stay plain, and everything is
# counted.
. "${0%/*}/../lib.sh"
need python3 gzip
head -c 1048576 /dev/zero >data

# facts: rows of vfs_rw in the report, rows in sums, and the damage that it reports.
facts() {
	"$DLT" report --json "$t" >json || fail "report: status $?"
	python3 -c '
import json
r = json.load(open("json"))
rows = {p["name"]: p["rows"] for p in r["probes"]}
sums = {s["name"]: s["rows"] for s in r["rollup"]}
print(rows.get("vfs_rw", 0), sums.get("vfs_rw", 0))
for note in r["missing"]:
    if any(word in note for word in ("could not", "damaged", "not there", "not a dltraced")):
        print("bad:", note)'
}

# lines FILE: but not the last one if it was cut off, perhaps within its last field.
lines() { if [ -n "$(tail -c 1 "$1")" ]; then sed '$d' "$1"; else cat "$1"; fi; }

# Every row that a reader may take, once: of a segment that is there twice, the plain one.
stamps() {
	for nr in $(cd "$t" && ls -- vfs_rw.0*.out vfs_rw.0*.out.gz 2>/dev/null | cut -d. -f2 | sort -u) ''; do
		file=$t/vfs_rw${nr:+.$nr}.out
		if [ -e "$file" ]; then lines "$file"; elif [ -e "$file.gz" ]; then gzip -dc "$file.gz"; fi
	done | awk -F'\t' 'NF == 16 && /^[0-9]/ { print $1, $4, $9 }'
}

for segments in 3 17; do
	spawn --rotate 64K --compress gzip --keep 1M -- "$W/storm" -n 1000000 "$TMPDIR/data" >out
	await test -s "$t/vfs_rw.out"
	enough() { [ "$(cd "$t" && ls -- vfs_rw.0* 2>/dev/null | tail -n 1 | cut -d. -f2 | sed 's/^0*//')" -ge $segments ]; }
	await enough 2>/dev/null
	kill -KILL "$dlt"
	join 2>/dev/null
	facts >got
	grep bad: got && fail "after $segments segments: $(ls "$t")"
	stamps >all
	equal "rows in the report" "$(cut -d' ' -f1 <got)" "$(wc -l <all)"
	equal "rows twice" "$(sort all | uniq -d | head -n 3)" ""
	for file in "$t"/*.gz; do
		[ ! -e "$file" ] || gzip -t "$file" || fail "$file cannot be read"
	done
	leftover=$(find "$t" -name '*.tmp' -o -name '*.out.new' | head -n 1)
	if [ -n "$leftover" ]; then
		grep -q "${leftover##*/} is being written by a running trace" json || fail "nothing said of $leftover"
	fi
done

# --- a full disk ----------------------------------------------------------------------------------

mkdir small
mount -t tmpfs -o size=3m none small || skip "to mount tmpfs"
mnt=$TMPDIR/small t=$TMPDIR/small/t
trace --rotate 1M --compress gzip -- "$W/storm" -n 200000 "$TMPDIR/data" >out 2>err || fail "status $?"
vfs() { manifest "next(p['$1'] for p in m['probes'] if p['name'] == 'vfs_rw')"; }
equal "complete" "$(manifest 'm["complete"]')" True
equal "calls" "$(($(vfs rows) + $(vfs lost)))" "$(vfs calls)"
facts >got
grep bad: got && fail "on a full disk: $(ls -l "$t")"
equal "rows in the report" "$(cut -d' ' -f1 <got)" "$(vfs rows)"
equal "rows that are there" "$(stamps | wc -l)" "$(vfs rows)"
equal "temporary files" "$(find "$t" -name '*.tmp' -o -name '*.out.new')" ""
