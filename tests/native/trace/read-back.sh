#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The lines of docs/traces.md for cut, awk, a shell and Python, run as they are on a trace with the hardest names: they
# count and show what is there.
#
# smoke
. "${0%/*}/../lib.sh"

trace -- "$W/names" dir >expected || fail "status $?"

# prints WHAT TEXT: the block with TEXT prints the output of checks/sums.py.
prints() {
	check sums "$1" >sums
	LC_ALL=C sort sums >wanted
	[ -s wanted ] || fail "$1: nothing to be printed"
	recipe "$2" >recipe.sh
	(cd "$t" && LC_ALL=C sh ../recipe.sh) | LC_ALL=C sort >got
	cmp wanted got || fail "$2: $(diff wanted got | head)"
}

prints read 'type[$15] == "reg"'
prints comm 'n[$c["COMM"]]'
prints names "printf '%b"

recipe 'cut -f 5,8,10,16' >recipe.sh
(cd "$t" && sh ../recipe.sh) >got
grep -q '^ *10.RETURNED$' got || fail "columns: $(cat got)"
equal "rows of four columns" "$(tail -n 10 got | awk -F '\t' 'NF == 4' | wc -l)" 10

recipe 'FILENAME "' | sed "s/from=[^ ]*/from=2000/; s/to=[^ ]*/to=3000/" >recipe.sh
equal "rows of this millennium" "$(cd "$t" && sh ../recipe.sh | wc -l)" \
	"$(tail -q -n +3 "$t"/*.out | wc -l)"

recipe 'def unescape' >recipe.py
slowest=$(each open 'if (LAT_NS + 0 > max) max = LAT_NS + 0; print max' | tail -n 1)
equal "slowest open" "$(cd "$t" && python3 ../recipe.py | cut -d ' ' -f 1)" "$slowest"
