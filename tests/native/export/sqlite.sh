#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# export -f sqlite: a row in runs for each folder, with its times, status and losses, and its seed and order where the
# recipe matrix has made it; a row in allocs for each block, with both its ends. Their sums are those of alloc.out, by
# queries of the form that Heimdallr's programs have. A collector without a sample takes nothing from other folders.
. "${0%/*}/../lib.sh"
preloadable
python sqlite3
golden=$here/../golden

# --- all kinds of ends, and none -------------------------------------------------------------------

mkdir small
cp "$golden/alloc.txt" small/alloc.out
if ! "$DLT" export small -f sqlite -o small.db 2>err; then
	grep -q 'libsqlite3.so.0 is not installed: install it' err || fail "small: $(cat err)"
	skip "libsqlite3.so.0"
fi
python3 - <<'END' || exit 1
import sqlite3
rows = sqlite3.connect("small.db").execute("SELECT from_ns, to_ns, base, size, tid, free_tid, func, site_id, state FROM allocs ORDER BY id").fetchall()
assert rows == [
    (0, 30, 0x1000, 5000, 5000000, 5000001, "malloc", 2, "freed"),
    (None, 40, 0x9000, None, None, 5000001, None, None, "before"),
    (50, 65, 0x2000, 8000, 5000000, 5000000, "calloc", None, "resized"),
    # a realloc that fails, in between, ends nothing
    (65, 930, 0x3000, 9000, 5000000, None, "realloc", 2, "end"),
    # another process has the same address
    (100, 111, 0x3000, 6000, 5000005, 5000005, "malloc", 2, "resized"),
], rows
END
# without its last row nothing ends the block
sed -i '$d' small/alloc.out
"$DLT" export small -f sqlite -o small.db || fail "small: status $?"
python3 -c '
import sqlite3
rows = sqlite3.connect("small.db").execute("SELECT from_ns, to_ns, size FROM allocs WHERE state = ?", ("live",)).fetchall()
assert rows == [(65, None, 9000)], rows' || exit 1
"$DLT" export small -f sqlite -P marks -o small.db 2>err || fail "without alloc: $(cat err)"
python3 -c '
import sqlite3
db = sqlite3.connect("small.db")
assert db.execute("SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM allocs)").fetchone() == (1, 0)' || exit 1

# --- names of functions ------------------------------------------------------------------------------

cp "$golden/sites.txt" small/sites.out
printf '1000000000013\t2026-11-21T01:02:03.000000013Z\t5000000\t3\tpython\t/a/b\\040c/train.py:12:main;/usr/lib/xy.py:3:f\t-\n' >>small/sites.out
"$DLT" export small -f sqlite -o small.db || fail "sites: status $?"
python3 - <<'END' || exit 1
import sqlite3
rows = sqlite3.connect("small.db").execute("SELECT SITE, FUNCTIONS FROM sites ORDER BY SITE").fetchall()
# the file of module 1 is not there, so its frames have its name and their addresses
assert [r for r in rows if r[0] in (1, 2, 3)] == [
    (1, None),
    (2, "python3 (x)+0x1234;python3 (x)+0x5678;0x7f00"),
    (3, "train.py:12:main;xy.py:3:f"),
], rows
END

# --- accesses ---------------------------------------------------------------------------------------

python3 -B "$here/checks/memory_map.py" --make touched || fail "no trace of accesses"
mkdir faults
cp "$golden/access.txt" faults/access.out
"$DLT" export touched faults -f sqlite -o access.db || fail "accesses: status $?"
python3 -B "$here/checks/sqlite_access.py" access.db touched faults || fail "accesses"

# --- traces ----------------------------------------------------------------------------------------

mkdir runs
for rep in 1 2; do
	t=$TMPDIR/runs/alloc.all.$rep
	trace --probes alloc,time_align --alloc min=$((rep - 1))K -- "$W/alloc" 6 2 100 >out || fail "status $?"
done
echo dry dry >modes
DLTRACED=$DLT "$here/../../scripts/recipes/matrix" -p 0 -w 0 modes made 1 "$W/alloc 1 1 1" >out || fail "dry: status $?"
mv made/alloc.dry.1 runs
t=$TMPDIR/other
trace --probes alloc -- "$W/alloc" 1 1 10 >out || fail "status $?"
printf '%s\n' "ORDER PROGRAM MODE REP DRY MEM CPU STATUS LOST WALL_NS USER_NS SYSTEM_NS MAX_RSS_BYTES MINOR_FAULTS MAJOR_FAULTS \
VOLUNTARY_SWITCHES INVOLUNTARY_SWITCHES SEED COMMAND" '7 alloc all 2 no - - 0 0 1 1 1 1 1 1 1 1 4711 alloc' | tr -s ' ' '\t' >runs/matrix.tsv
"$DLT" export runs/*/ other -f sqlite -o runs.db || fail "status $?"
n=$(python3 -B "$here/checks/sqlite_runs.py" runs.db runs/*/ other) || fail "$n"
[ "$n" -gt 1000 ] || fail "only $n allocations"
python3 -c '
import sqlite3
db = sqlite3.connect("runs.db")
rows = db.execute("SELECT prog, mode, run, seed, ord FROM runs ORDER BY id").fetchall()
assert rows == [("alloc", "all", 1, None, None), ("alloc", "all", 2, 4711, 7), ("alloc", "dry", 1, None, None), ("other", "trace", 1, None, None)], rows
assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
# the workload leaves 192 KiB by one function
join = "FROM allocs a JOIN runs r ON r.id = a.run_id JOIN sites s ON s.host = r.host AND s.SITE = site_id "
left = db.execute(f"SELECT prog, sum(size) {join} WHERE FUNCTIONS LIKE ? GROUP BY prog ORDER BY prog", ("get;leave;main;%",)).fetchall()
assert ("other", 196608) in left, left
assert db.execute(f"SELECT count(*) {join} WHERE FUNCTIONS IS NULL OR "
                  "length(FUNCTIONS) - length(replace(FUNCTIONS, ?1, ?2)) <> length(FRAMES) - length(replace(FRAMES, ?1, ?2))", (";", "")).fetchone() == (0,)' || exit 1

# a damaged list of runs: the rest is exported
cp runs/matrix.tsv whole.tsv
printf '8 alloc all 1 no - - 0\n' | tr ' ' '\t' >>runs/matrix.tsv
"$DLT" export runs/*/ other -f sqlite -o damaged.db 2>err
equal "status with a damaged list of runs" $? 1
equal "messages about it" "$(grep -c 'runs/matrix.tsv: a line is damaged' err)" 1
equal "runs" "$(python3 -c 'import sqlite3; print(sqlite3.connect("damaged.db").execute("SELECT count(*), count(seed) FROM runs").fetchone())')" "(4, 0)"
# beside folders that no recipe has made it may be any file
cp runs/matrix.tsv .
"$DLT" export other -f sqlite -o beside.db || fail "a file matrix.tsv beside a trace: status $?"
rm matrix.tsv
mv whole.tsv runs/matrix.tsv

# one name twice: the second run gets another number
cp -r runs/alloc.dry.1 alloc.dry.1
"$DLT" export runs/alloc.dry.1 alloc.dry.1 -f sqlite -o twice.db || fail "status $?"
equal "runs of one name" "$(python3 -c 'import sqlite3; print(sqlite3.connect("twice.db").execute("SELECT prog, mode, run FROM runs").fetchall())')" \
	"[('alloc', 'dry', 1), ('alloc', 'dry', 2)]"

# --- a collector without a sample -------------------------------------------------------------------

cp -r "$golden/trace-panels" without
printf '%s\n' '# dltraced cpu 1 command="mpstat -P ALL 1"' '# Linux' '# no sample' >without/cpu.out
for format in csv sqlite; do
	"$DLT" export without "$golden/trace-panels" -f $format -o cpu.$format 2>err || fail "without a sample, $format: $(cat err)"
done
rows=$(grep -vc '^#' "$golden/trace-panels/cpu.out")
[ "$rows" -gt 2 ] || fail "a trace without samples"
equal "rows of cpu in CSV" "$(wc -l <cpu.csv/cpu.csv)" "$rows"
equal "and in SQLite" "$(python3 -c 'import sqlite3; print(sqlite3.connect("cpu.sqlite").execute("SELECT 1 + count(CPU) FROM cpu").fetchone()[0])')" "$rows"
