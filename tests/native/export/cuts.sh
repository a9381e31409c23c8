#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --from, --to and --phase select the rows whose TIMESTAMP is in these times, in every format, for each host by its own
# clock; rows of files, processes and clocks stay. The same holds for Parquet and DuckDB, with --pid, --path and
# --probes, too, where Python has DuckDB (build/peers-exports, or the first on PATH). Needs no root.
. "${0%/*}/../lib.sh"
python
golden=$here/../golden
gen=$W/../tests/gen_trace
"$gen" -r 5000 -g 2 -w 4 -c 2 -s 8 -f 500 made >/dev/null || fail "gen_trace: status $?"

# A second host, whose CLOCK_MONOTONIC is 6 minutes behind the first one's, and whose output shows no phases.
mkdir other
for file in made/*.out; do
	awk -F'\t' -v OFS='\t' 'NR > 2 { $1 = sprintf("%.0f", $1 - 360000000000) } { print }' "$file" >"other/${file##*/}"
done
sed '3,$d' made/marks.out >other/marks.out
python3 - <<-END || fail "manifest"
	import json
	m = json.load(open("made/manifest.json"))
	m["host"], m["start"]["monotonic_ns"], m["end"]["monotonic_ns"] = "node2", 0, 0
	for probe in m["probes"]:
	    if probe["name"] == "marks":
	        probe["rows"] = 0
	json.dump(m, open("other/manifest.json", "w"))
END

interpreter=$here/../../build/peers-exports/bin/python3
[ -x "$interpreter" ] || interpreter=python3
if "$interpreter" -c 'import duckdb' 2>/dev/null; then
	mkdir -p stand-in
	printf '#!/bin/sh\nexec "%s" -c "import sys, duckdb; duckdb.connect().execute(sys.stdin.read())"\n' "$interpreter" >stand-in/duckdb
	chmod +x stand-in/duckdb
	export PATH="$TMPDIR/stand-in:$PATH"
else
	interpreter=''
	echo "note: without DuckDB"
fi

# cut INTERVALS OPTION...: INTERVALS is a Python expression, a list of (begin, end) in ns from the begin.
cut() {
	intervals=$1
	shift
	rm -rf csv parquet db.duckdb
	for of in ndjson:rows.ndjson csv:csv sqlite:trace.db perfetto:trace.pftrace pfw:trace.pfw folded:stacks \
		${interpreter:+parquet:parquet duckdb:db.duckdb}; do
		"$DLT" export made other -f "${of%%:*}" -o "${of#*:}" "$@" 2>err || fail "${of%%:*} $*: $(cat err)"
	done
	"${interpreter:-python3}" -B "$here/checks/export_cuts.py" "$intervals" "$@" made other >out 2>&1 || fail "$*: $(cat out)"
}

cut '[(2e9, 3.5e9)]' --from 2s --to 3500ms
cut '[(6e9, 1e18)]' --from 6
cut '[(0, 560000000)]' --to 560ms
cut '[(560000000, 2640000000), (3040000000, 5120000000), (5520000000, 7600000000)]' --phase epoch
cut '[(3040000000, 3100000000)]' --phase epoch --from 2800ms --to 3100ms
cut '[(2800000000, 3040000000), (5280000000, 5520000000), (7760000000, 8000000000)]' --phase checkpoint --pid 1000 --path /out
cut '[(0, 1e18)]' --pid 1000,1003 --probes vfs_rw,pids,cpu
cut '[(1e9, 1e18)]' --path /data/train/ --probes files,open,vfs_rw --from 1s

! "$DLT" export made -f csv -o x --phase lunch 2>err || fail "no such phase: status 0"
grep -q "no phase 'lunch'; there are: init, epoch, eval, checkpoint" err || fail "$(cat err)"
! "$DLT" export other -f csv -o x --phase epoch 2>err || fail "no phases: status 0"
grep -q 'the trace shows no phases' err || fail "$(cat err)"
! "$DLT" export made -f csv -o x --from 3 --to 2 2>err || fail "--to before --from: status 0"
for times in '--from 9' '--from 2026-11-22T01:00:00Z' '--phase epoch --to 100ms'; do
	for of in ndjson csv sqlite perfetto pfw folded ${interpreter:+parquet duckdb}; do
		"$DLT" export made -f "$of" -o x $times 2>err
		equal "$of $times: status" $? 125
		grep -q 'made: the trace has no time from' err || fail "$of $times: $(cat err)"
	done
done
# the trace of the second host has no known end
"$DLT" export made other -f csv -o late --from 9 2>err || fail "one host of two: $(cat err)"
! "$DLT" export "$golden/trace-hostile" -f csv -o x --from 1 2>err || fail "without time_align.out: status 0"
grep -q 'does not say when it began' err || fail "$(cat err)"
[ ! -e x ] || fail "a folder of nothing"
