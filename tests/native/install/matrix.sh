#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The recipe matrix: every mode, repetition and command is run once, in an order that its seed repeats; options reach
# the runs, and dry ones are as without dltraced; a run that fails is in no sum; the numbers of report --matrix are those of Python's statistics.
. "${0%/*}/../lib.sh"
preloadable
need python3
matrix=$(realpath "$here/../../scripts/recipes/matrix")
export DLTRACED=$DLT
plain=(-p 0 -w 0 -x --min-free -x 0 -x --collectors -x none)

"$matrix" --help >help || fail "--help: status $?"
head -n 1 help | grep -q '^matrix \[OPTION...\] ' || fail "--help: $(cat help)"
"$matrix" >out 2>&1
equal "without arguments: status" $? 125

# --- the order, and what is run --------------------------------------------------------------------

cat >dry.modes <<'END'
# two that differ in their names alone
one dry
two dry   # so this is a mode, too
END
printf '#!/bin/sh\necho "$1" >>ran\n' >'a job'
chmod +x 'a job'
"$matrix" --seed 11 "${plain[@]}" -w 1 dry.modes d1 4 "'./a job' first" "'./a job' second" >out || fail "status $?: $(cat out)"
head -n 1 out | grep -qx "seed 11: 16 runs in $TMPDIR/d1" || fail "its seed: $(head -n 1 out)"
equal "runs, with a warm-up" "$(sort ran | uniq -c | xargs)" "9 first 9 second"
equal "rows" "$(cut -f 2-4 d1/matrix.tsv | tail -n +2 | sort -u | wc -l)" 16
equal "folders" "$(find d1 -mindepth 1 -maxdepth 1 -type d | wc -l)" 16
for run in $(awk 'NR > 1 { print $2 "." $3 "." $4 }' d1/matrix.tsv); do
	t=$TMPDIR/d1/$run
	equal "$run" "$(manifest '[m["dry"], m["complete"], m["workload"]["exit_code"]]')" "[True, True, 0]"
done
equal "the order of the rows" "$(cut -f 19 d1/matrix.tsv | sed -n "s/.* //; 2,\$p" | xargs)" "$(tail -n +3 ran | xargs)"
order() { cut -f 1-4 "$1/matrix.tsv"; }
"$matrix" -s 11 "${plain[@]}" dry.modes d2 4 "'./a job' first" "'./a job' second" >out || fail "status $?"
equal "the order with the same seed" "$(order d2)" "$(order d1)"
"$matrix" --seed=12 "${plain[@]}" dry.modes d3 4 "'./a job' first" "'./a job' second" >out || fail "status $?"
[ "$(order d3)" != "$(order d1)" ] || fail "two seeds have one order"
"$matrix" "${plain[@]}" dry.modes d3 1 true >out 2>&1
equal "a folder that is there: status" $? 125

# --- traced beside dry, and a mode that fails ------------------------------------------------------

cat >modes <<'END'
plain dry
files x="--probes -bio" x="--interval 7"
alloc alloc=64K access=faults
fails x="--user no-such-user"
END
cat >job.py <<'END'
import os, sys
blocks = [bytearray(100000) for _ in range(50)]
open("/dev/null", "w").close()
if os.path.exists(sys.argv[1]):
    sys.exit(3)
END
"$matrix" -s 5 "${plain[@]}" modes d4 2 "python3 job.py no" >out 2>err
equal "status, as a mode fails" $? 1
grep -q 'no-such-user' err || fail "why it fails: $(cat err)"
alloc='"alloc" in [p["name"] for p in m["probes"]]'
for rep in 1 2; do
	t=$TMPDIR/d4/job.py.alloc.$rep
	equal "alloc" "$(manifest "[$alloc, m['alloc']['min_bytes'], 'dry' in m]")" "[True, 65536, False]"
	equal "access" "$(manifest '["access" in [p["name"] for p in m["probes"]], m["cmdline"].count("faults")]')" "[True, 1]"
	[ "$(rows alloc 'FUNC != "free" && SIZE >= 100000' | wc -l)" -ge 50 ] || fail "alloc: $(cat "$t/alloc.out")"
	t=$TMPDIR/d4/job.py.files.$rep
	equal "files" "$(manifest "[$alloc, '--interval' in m['cmdline'], 'bio' in [p['name'] for p in m['probes']]]")" "[False, True, False]"
	t=$TMPDIR/d4/job.py.plain.$rep
	equal "plain" "$(manifest 'm["dry"]')" True
	[ ! -e "d4/job.py.fails.$rep" ] || fail "a trace without a user"
done
equal "statuses of the mode that fails" "$(awk '$3 == "fails" { print $8, $9, $10 }' d4/matrix.tsv | sort -u)" "125 - -"

# a run of each kind that does not count
sed -i 's/^\([0-9]*\tjob.py\tfiles\t2\tno\t-\t-\t\)0\t0\t/\10\t9\t/' d4/matrix.tsv
"$DLT" report --matrix d4 >text || fail "report: status $?"
"$DLT" report --matrix d4 --json --svg d4.svg --csv d4.csv >json || fail "report --json: status $?"
python3 - d4 json text <<'END' || fail "$(cat text)"
import csv, json, statistics, sys

runs = list(csv.DictReader(open(sys.argv[1] + "/matrix.tsv"), delimiter="\t", quoting=csv.QUOTE_NONE))
report = json.load(open(sys.argv[2]))
assert len(report["runs"]) == len(runs) == 8
counted = {}
for row, run in zip(runs, report["runs"]):
    assert [run["order"], run["program"], run["mode"], run["rep"]] == [int(row["ORDER"]), row["PROGRAM"], row["MODE"], int(row["REP"])]
    assert run["counted"] == (row["STATUS"] == "0" and row["LOST"] == "0"), run
    assert run["seed"] == 5 and run["mem"] is run["cpu"] is None and run["command"] == "python3 job.py no"
    assert run["wall_ns"] == (None if row["WALL_NS"] == "-" else int(row["WALL_NS"]))
    manifest = f"{sys.argv[1]}/{row['PROGRAM']}.{row['MODE']}.{row['REP']}/manifest.json"
    if row["WALL_NS"] != "-":
        used = json.load(open(manifest))["workload"]["rusage"]
        assert all(run[key] == used[key] for key in used), (run, used)
    if run["counted"]:
        counted[row["MODE"], run["rep"]] = run
assert len(counted) == 5
for key, unit in ("wall", "ns"), ("user", "ns"), ("system", "ns"), ("max_rss", "bytes"):
    assert [m["mode"] for m in report[key]] == ["alloc", "fails", "files", "plain"]
    for m in report[key]:
        v = [r[f"{key}_{unit}"] for (mode, _), r in counted.items() if mode == m["mode"]]
        assert (m["runs"], m["counted"]) == (2, len(v)), m
        wanted = {"median": statistics.median, "min": min, "max": max, "mean": statistics.mean}
        for what in wanted:
            mine = m[f"{what}_{unit}"]
            assert mine is None if not v else abs(mine - wanted[what](v)) <= 1, (m, what)
        stdev = m[f"stdev_{unit}"]
        assert stdev is None if len(v) < 2 else abs(stdev - statistics.stdev(v)) <= 1, m
        ratios = [r[f"{key}_{unit}"] / counted["plain", rep][f"{key}_{unit}"] - 1 for (mode, rep), r in counted.items()
                  if mode == m["mode"] != "plain" and counted["plain", rep][f"{key}_{unit}"]]
        assert m["pairs"] == len(ratios), m
        for what, of in ("overhead", statistics.median), ("overhead_low", min), ("overhead_high", max):
            assert m[what] is None if not ratios else abs(m[what] - of(ratios)) < 1e-5 * max(1, abs(of(ratios))), (m, what)
assert "3 of 8 runs are not counted" in open(sys.argv[3]).read()
END
# 5 runs that count, 3 pairs; the run that lost rows is a cross in both plots; the mode that fails has no times
equal "marks of the picture" "$(python3 -B "$here/checks/matrix_svg.py" json d4.svg)" "10 marks"
equal "CSV files" "$(cd d4.csv && echo *)" "max_rss.csv runs.csv system.csv user.csv wall.csv"

# --- what is refused -------------------------------------------------------------------------------

for wrong in '0' 'x' '-1'; do
	"$matrix" dry.modes no "$wrong" true >out 2>&1
	equal "$wrong repetitions: status" $? 125
done
"$DLT" report --matrix "$TMPDIR" >out 2>&1
equal "no matrix: status" $? 125
grep -q 'holds no matrix.tsv' out || fail "no matrix: $(cat out)"
