#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The lines of docs/traces.md for SQLite and jq, run on a trace with the hardest names.
. "${0%/*}/../lib.sh"
need jq sqlite3

trace -- "$W/names" dir >expected || fail "status $?"
check sums read >wanted
recipe 'sqlite3' >recipe.sh
(cd "$t" && sh ../recipe.sh) | awk -F '\t' -v OFS='\t' '{ print $3, $1 }' | LC_ALL=C sort >got
cmp wanted got || fail "$(diff wanted got | head)"

recipe 'jq -r' >recipe.sh
equal "counters" "$(cd "$t" && sh ../recipe.sh | awk -F '\t' '$1 == "vfs_rw" { print $3, $4 }')" \
	"$(rows vfs_rw | wc -l) 0"
