#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The lines of docs/traces.md for pandas, run on a trace with the hardest names.
. "${0%/*}/../lib.sh"
/usr/bin/python3 -c 'import pandas' 2>/dev/null || skip "pandas for /usr/bin/python3 (python3-pandas)"

trace -- "$W/names" dir >expected || fail "status $?"
check sums read >wanted
{
	recipe 'import pandas' | sed 's/^print(\(.*\))$/top = \1/'
	echo 'for path, n in top.items(): print(n, path, sep="\t")'
} >recipe.py
(cd "$t" && /usr/bin/python3 ../recipe.py) | LC_ALL=C sort >got
cmp wanted got || fail "$(diff wanted got | head)"
