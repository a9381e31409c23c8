#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The lines of docs/traces.md for DuckDB, run as they stand on a trace with the hardest names in it;
# and what is said there of TIME and MODE.
. "${0%/*}/../lib.sh"
need python3
export NODE_PATH="$here/../../build/duckdb/node_modules${NODE_PATH:+:$NODE_PATH}"
if command -v duckdb >/dev/null; then
	sql() { duckdb -batch -noheader -separator '	' -list :memory:; }
elif node -e 'require("@duckdb/node-api")' 2>/dev/null; then
	sql() { node "$here/checks/duckdb.js"; }
else
	skip "duckdb, or @duckdb/node-api for node"
fi

trace -- "$W/names" dir >expected || fail "status $?"
check sums read >wanted
[ -s wanted ] || fail "nothing to be read"
recipe "read_csv('vfs_rw.out'" >recipe.sql
(cd "$t" && sql) <recipe.sql | awk -F '\t' -v OFS='\t' '{ print $3, $1 }' | LC_ALL=C sort >got
cmp wanted got || fail "$(diff wanted got | head)"

# every row of every file is one
options=$(sed -n "s/.*\(delim=.*\)/\1/p" recipe.sql | head -n 1)
for file in "$t"/*.out; do
	name=${file##*/}
	equal "rows of $name" "$(cd "$t" && echo "SELECT count(*) FROM read_csv('$name', $options
		nullstr=['-', '?'], sample_size=-1)" | sql)" "$(rows "${name%.out}" | wc -l)"
done

equal "TIME and MODE" "$(cd "$t" && echo "SELECT TIME, MODE FROM read_csv('open.out', $options
	nullstr=['-', '?'], sample_size=-1, types={'TIME': 'VARCHAR', 'MODE': 'VARCHAR'})
	WHERE MODE IS NOT NULL ORDER BY \"TIMESTAMP\"" | sql)" \
	"$(col open 'TIME "\t" MODE' 'MODE != "-" && MODE != "?"')"
