#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The views of `dltraced probes --duckdb' on traces with the hardest names, in segments, packed, of two hosts, and on
# rows with the largest numbers: every row that the manifest counts is one there, under the file's own columns. The
# lines of docs/traces.md for DuckDB run as they are.
. "${0%/*}/../lib.sh"
need python3
top=$here/../..
export NODE_PATH="$top/build/duckdb/node_modules${NODE_PATH:+:$NODE_PATH}"
if command -v duckdb >/dev/null; then
	run_sql() { duckdb -batch -noheader -separator '	' -list :memory:; }
elif node -e 'require("@duckdb/node-api")' 2>/dev/null; then
	run_sql() { node "$here/checks/duckdb.js"; }
else
	skip "duckdb, or @duckdb/node-api for node"
fi
"$DLT" probes --duckdb >views.sql || fail "probes --duckdb: status $?"

# sql TRACE: runs stdin behind the views. TRACE is an SQL expression; '' means the current folder.
sql() { { [ -z "$1" ] || echo "SET VARIABLE trace = $1;"; cat "$TMPDIR/views.sql" -; } | run_sql; }

# counts: the number of rows in each view of $probes, by TRACE.
counts() {
	for name in $probes; do
		[ "$name" = "${probes%% *}" ] || echo "UNION ALL"
		echo "SELECT '$name', count(*) FROM $name"
	done | { cat; echo 'ORDER BY 1;'; } | sql "$1"
}

probes=$("$DLT" probes --markdown | sed -n 's/^### \([a-z_]*\)\.out$/\1/p' | tr '\n' ' ')
probes=${probes% }
expect_rows() { manifest '"\n".join(p["name"] + "\t" + str(p["rows"] - p["dropped"]) for p in m["probes"])' | sort; }

# --- one folder, the one that it runs in ------------------------------------------------------------

trace -- "$W/names" dir >expected || fail "status $?"
check sums read >wanted
[ -s wanted ] || fail "nothing to be read"
recipe "JOIN paths p USING" >recipe.sql
(cd "$t" && sql '' <"$TMPDIR/recipe.sql") | awk -F '\t' -v OFS='\t' '{ print $3, $1 }' | LC_ALL=C sort >got
cmp wanted got || fail "$(diff wanted got | head)"

(cd "$t" && counts '') | sort >got
for name in $probes; do
	n=$(expect_rows | sed -n "s/^$name	//p")
	printf '%s\t%s\n' "$name" "${n:-0}"
done | sort >wanted
cmp wanted got || fail "rows by the manifest and in the views: $(diff wanted got)"

# columns are those of the file, in order, then the host and the folder
echo "SELECT table_name, string_agg(column_name, ' ' ORDER BY column_index) FROM duckdb_columns() GROUP BY ALL ORDER BY 1;" |
	sql "'$t'" >columns
for file in "$t"/*.out; do
	name=${file##*/}
	name=${name%.out}
	equal "columns of $name" "$(sed -n "s/^$name	//p" columns)" "$(sed -n 2p "$file" | tr '\t' ' ') host folder"
done

equal "TIME and MODE" "$(echo "SELECT strftime(TIME, '%Y-%m-%dT%H:%M:%S.%n') || 'Z', MODE FROM open
	WHERE MODE IS NOT NULL ORDER BY \"TIMESTAMP\", TID;" | sql "'$t'" | LC_ALL=C sort)" \
	"$(col open 'TIME "\t" MODE' 'MODE != "-" && MODE != "?"' | LC_ALL=C sort)"

# names are unchanged, except bytes that are not text
echo 'SELECT DISTINCT to_json(FILE), to_json(dlt_text(FILE)) FROM files JOIN open USING (folder, FID);' | sql "'$t'" >texts
python3 - <<'END' || fail "dlt_text()"
import json, re
rows = [[json.loads(x) for x in line.rstrip("\n").split("\t")] for line in open("texts")]
assert sum("\\" in a for a, b in rows) > 5, rows
for escaped, text in rows:
    wanted = escaped and re.sub(r"\\([01][0-7]{2})", lambda m: chr(int(m[1], 8)), escaped)
    assert text == wanted, (escaped, text, wanted)
END

# --- two hosts, one of them in packed segments -----------------------------------------------------

mkdir job
mv "$t" job/one
"$DLT" start -q --collectors cpu --probes -bio --min-free 0 --rotate 64K --compress gzip -o "$t" -- \
	"$W/storm" -n 20000 -w 0 >out || fail "status $?"
[ -e "$t/vfs_rw.000002.out.gz" ] || fail "no segments: $(ls "$t")"
gzip -dk "$t/vfs_rw.000002.out.gz" # as after a crash: the segment is there twice
second=$(expect_rows)
sed -i 's/^\( *"host": \).*/\1"other",/' "$t/manifest.json"
mv "$t" job/two
{ echo "$second"; cat wanted; } | awk -F '\t' -v OFS='\t' '{ n[$1] += $2 } END { for (k in n) print k, n[k] }' | sort >both
counts "'job/*'" | sort >got
cmp both got || fail "rows of two folders: $(diff both got)"
counts "['./job/one', 'job/two/', 'job/o*']" | sort >got
cmp both got || fail "rows of two folders by a list: $(diff both got)"
equal "rows of vfs_rw" "$(echo 'SELECT host, folder, count(*) FROM vfs_rw GROUP BY ALL ORDER BY folder;' | sql "'job/*'")" \
	"$(printf '%s\tjob/one\t%s\nother\tjob/two\t%s' "$(uname -n)" "$(sed -n 's/^vfs_rw	//p' wanted)" "$(echo "$second" | sed -n 's/^vfs_rw	//p')")"
equal "rows of cpu" "$(echo 'SELECT count(*) FROM cpu;' | sql "'job/*'")" "$(gzip -dcq job/two/cpu.out.gz | grep -c '^[0-9]')"

# --- the largest numbers, and all kinds of rows ----------------------------------------------------

mkdir golden
for name in $probes; do
	cp "$top/tests/golden/$name.txt" "golden/$name.out" || fail "no golden $name"
	printf '%s\t%s\n' "$name" "$(tail -n +3 "$top/tests/golden/$name.txt" | wc -l)"
done | sort >wanted
for name in $probes; do # whole rows, so that all columns are read
	[ "$name" = "${probes%% *}" ] || echo "UNION ALL"
	echo "SELECT '$name', count(t::VARCHAR) FROM $name t"
done | { cat; echo 'ORDER BY 1;'; } | sql "'golden'" | sort >got
cmp wanted got || fail "golden rows: $(diff wanted got)"
equal "the largest" "$(echo 'SELECT max(ROWS), any_value(host) FROM rollup;' | sql "'golden'")" "18446744073709551615	golden"

# --- damaged and missing files ---------------------------------------------------------------------

n=$(grep -c '^[0-9]' job/one/open.out)
truncate -s -$(($(tail -n 1 job/one/open.out | wc -c) - 30)) job/one/open.out # cuts off 30 bytes of the last row
echo 'SELECT count(FILE) FROM open;' | sql "'job/one'" >got 2>&1 && fail "half a row is a row: $(cat got)"
grep -q 'job/one/open.out' got || fail "the damaged file is not named: $(cat got)"
equal "whole rows" "$({ echo 'SET VARIABLE ignore_damaged = true;'; echo 'SELECT count(*) FROM open;'; } | sql "'job/one'")" $((n - 1))
echo 'SELECT 1;' | sql "'nowhere'" >got 2>&1 && fail "a folder without a trace: $(cat got)"
grep -q 'no trace in \[nowhere\]' got || fail "no trace: $(cat got)"
