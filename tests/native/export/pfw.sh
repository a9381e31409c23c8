#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A .pfw file of each dialect follows the format and has each call once, with its file, also with hostile names; if it
# is packed, members end where lines end. In an SQLite database and in folded stacks the sums are those of the rows.
# Needs no root.
. "${0%/*}/../lib.sh"
python
golden=$here/../golden
gen=$W/../tests/gen_trace
"$gen" -r 5000 -g 2 -w 4 -c 2 -s 8 made >/dev/null || fail "gen_trace: status $?"

for dialect in 1 2 3; do
	for of in made "$golden/trace-small" "$golden/trace-panels" "$golden/trace-switches"; do
		"$DLT" export "$of" -f pfw --dialect $dialect -o of.pfw || fail "$of: status $?"
		python3 -B "$here/checks/pfw.py" $dialect of.pfw "$of" >out || fail "$of, dialect $dialect: $(cat out)"
	done
	"$DLT" export "$golden/trace-hostile" -f pfw --dialect $dialect -o of.pfw || fail "hostile: status $?"
	python3 -B "$here/checks/pfw.py" $dialect of.pfw >out || fail "hostile, dialect $dialect: $(cat out)"
done
"$DLT" export made -f pfw -o default.pfw.gz || fail "packed: status $?"
python3 -B "$here/checks/pfw.py" 2 default.pfw.gz made >out || fail "packed: $(cat out)"
! "$DLT" export made -f pfw --dialect 4 -o x 2>err || fail "dialect 4: status 0"
"$DLT" export "$golden/trace-cut" -f pfw -o cut.pfw 2>err
equal "status of a damaged trace" $? 1
python3 -B "$here/checks/pfw.py" 2 cut.pfw >out || fail "cut: $(cat out)"

# stacks: the time of all calls, each counted once
"$DLT" export made -f folded -o - >stacks || fail "folded: status $?"
equal "ns in stacks" "$(python3 -c 'print(sum(int(line.rsplit(" ", 1)[1]) for line in open("stacks")))')" "$(python3 -c '
import glob
total = 0
for path in glob.glob("made/*.out"):
    lines = open(path).read().split("\n")[1:-1]
    columns = lines[0].split("\t")
    if "FUNC" in columns and "LAT_NS" in columns:
        calls = {(r["TIMESTAMP"], r["TID"]): int(r["LAT_NS"]) for r in (dict(zip(columns, l.split("\t"))) for l in lines[1:])}
        total += sum(calls.values())
print(total)')"

if "$DLT" export made "$golden/trace-small" -f sqlite -o trace.db 2>err; then
	"$DLT" export made "$golden/trace-small" -f csv -o csv || fail "csv: status $?"
	python3 -c '
import csv, os, sqlite3, sys
db = sqlite3.connect("trace.db")
for name in os.listdir("csv"):
    table = name[:-4]
    rows = list(csv.DictReader(open(f"csv/{name}", newline="")))
    for column in rows[0]:
        got = db.execute(f"SELECT count(\"{column}\"), total(\"{column}\") FROM \"{table}\"").fetchone()
        cells = [r[column] for r in rows if r[column] != ""]
        if got[0] != len(cells) or (column.endswith(("_NS", "BYTES")) and got[1] != float(sum(map(int, cells)))):
            sys.exit(f"{table}.{column}: {got}, in CSV {len(cells)}")
lacking = db.execute("SELECT count(*) FROM vfs_rw_paths WHERE FID IS NOT NULL AND FID_PATH IS NULL").fetchone()[0]
wanted = db.execute("SELECT count(*) FROM vfs_rw v LEFT JOIN (SELECT DISTINCT host, FID FROM files) f USING (host, FID) "
                    "WHERE v.FID IS NOT NULL AND f.FID IS NULL").fetchone()[0]
if lacking != wanted:
    sys.exit(f"{lacking} rows without a path, {wanted} without a file")' || fail "sqlite"
	[ -z "$(find . -name '*.tmp')" ] || fail "a file was left: $(find . -name '*.tmp')"
else
	grep -q 'libsqlite3.so.0 is not installed: install it' err || fail "sqlite: $(cat err)"
	echo "note: without libsqlite3.so.0"
fi
