#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Export as Parquet files and as a database of DuckDB. Without the command duckdb and its package for Python a message says
# so, the status is 1, and the script is printed unless on a terminal. The command gets exactly that script, with each file
# of each host once, and if it fails, dltraced fails. Where Python has DuckDB (build/peers-exports, or the first on PATH),
# that runs the script, and the sums are those of the rows; a duckdb.py in the current folder does not. Needs no root.
. "${0%/*}/../lib.sh"
golden=$here/../golden
cp -r "$golden/trace-small" second
mkdir stand-in
bare=$TMPDIR/stand-in:/usr/sbin:/usr/bin:/sbin:/bin
! PATH=$bare command -v duckdb >/dev/null && ! PATH=$bare python3 -c 'import duckdb' 2>/dev/null || skip "a machine without duckdb"

echo 'open("imported", "w")' >duckdb.py
status=0
PATH=$bare "$DLT" export "$golden/trace-small" second -f parquet -o out >script 2>err || status=$?
equal "status without DuckDB" $status 1
grep -q 'DuckDB is not installed here: pip install duckdb' err || fail "$(cat err)"
[ ! -e imported ] || fail "the folder's duckdb.py was run"
rm duckdb.py
PATH=$bare python3 "$here/terminal.py" /dev/null 200 "$DLT" export second -f parquet -o out >screen && fail "on a terminal: status 0"
equal "lines on a terminal" "$(wc -l <screen)" 1
grep -q 'DuckDB is not installed here' screen || fail "$(cat screen)"
[ ! -e out ] || fail "a folder without duckdb"
equal "files in the script" "$(grep -c '^COPY ' script)" $((2 * $(find "$golden/trace-small" -name '*.out' | wc -l)))
grep -q "TO 'out/host=node1#2/vfs_rw.parquet'" script || fail "no name for the second folder of a host"
"$DLT" probes --duckdb >views
[ "$(grep -cFxf views script)" -ge "$(wc -l <views)" ] || fail "the script lacks views"

printf '#!/bin/sh\ncat >given\n' >stand-in/duckdb
chmod +x stand-in/duckdb
PATH=$bare "$DLT" export "$golden/trace-small" second -f parquet -o out 2>err || fail "with duckdb: $(cat err)"
cmp given script || fail "another script"
[ -d 'out/host=node1#2' ] || fail "no folder for a host"
printf '#!/bin/sh\ncat >given\nexit 1\n' >stand-in/duckdb
! PATH=$bare "$DLT" export second -f duckdb -o db 2>err || fail "a failure of duckdb: status 0"
grep -q 'duckdb failed' err || fail "$(cat err)"
! "$DLT" export second -f parquet -o - 2>err || fail "Parquet on standard output: status 0"

python=$here/../../build/peers-exports/bin/python3
[ -x "$python" ] || python=python3
"$python" -c 'import duckdb' 2>/dev/null || { echo "note: without DuckDB"; exit 0; }
rm stand-in/duckdb
printf '#!/bin/sh\nexec "%s" "$@"\n' "$python" >stand-in/python3
chmod +x stand-in/python3
rm -rf out
PATH=$bare "$DLT" export "$golden/trace-small" second -f parquet -o out 2>err || fail "DuckDB: $(cat err)"
PATH=$bare "$DLT" export "$golden/trace-small" second -f duckdb -o out.duckdb 2>err || fail "DuckDB: $(cat err)"
wanted=$(awk -F'\t' 'NR > 2 { n++; sum += $8 } END { printf "%d %.0f", 2 * n, 2 * sum }' "$golden/trace-small/vfs_rw.out")
for from in "read_parquet('out/host=*/vfs_rw.parquet')" db.vfs_rw; do
	equal "rows and ns of $from" "$("$python" -c '
import duckdb, sys
c = duckdb.connect()
c.execute("ATTACH '\''out.duckdb'\'' AS db")
print(*c.execute("SELECT count(*), sum(LAT_NS) FROM " + sys.argv[1]).fetchone())' "$from")" "$wanted"
done

# Columns that an older version did not write are NULL, beside a trace of this version; a partial row is skipped.
PATH=$bare "$DLT" export "$golden/trace-panels" "$golden/trace-small" -f duckdb -o older.duckdb 2>err || fail "an older trace: $(cat err)"
summed() {
	awk -F'\t' 'FNR == 2 { for (i = 1; i <= NF; i++) if ($i == "LAT_NS") at = i } FNR > 2 { n++; sum += $at } END { printf "%d %.0f\n", n, sum }' "$@"
}
"$python" -c '
import duckdb
c = duckdb.connect("older.duckdb", read_only=True)
for row in c.execute("SELECT count(*), sum(LAT_NS), count(KIND) > 0 FROM bio GROUP BY folder ORDER BY folder").fetchall():
    print(*row)' >got
{
	echo "$(summed "$golden/trace-panels/bio.out") False"
	echo "$(summed "$golden/trace-small/bio.out") True"
} >older
cmp older got || fail "requests of an older trace and of one of today: $(diff older got)"
cp -r "$golden/trace-panels" short
truncate -s -20 short/bio.out
! PATH=$bare "$DLT" export short -f parquet -o short.of 2>err || fail "half a row of an older trace: status 0"
grep -q 'Expected Number of Columns' err || fail "$(cat err)"
