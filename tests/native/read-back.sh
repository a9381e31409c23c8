#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Ordinary tools read a trace with the hardest names in it, without surprises: bytes read per file,
# vfs_rw.out joined with files.out by FID, as cut, plain awk and join count them.
. "${0%/*}/lib.sh"

trace -- "$W/names" dir >expected || fail "status $?"
check sums >sums
cd "$t" || exit 1

# Of a file that was renamed the last row has the name that stayed.
awk -F '\t' '
	NR == FNR { path[$3] = $10; next }
	FNR > 2 && $6 == "R" && $10 > 0 { bytes[path[$15]] += $10 }
	END { for (p in bytes) printf "%d\t%s\n", bytes[p], p }
' files.out vfs_rw.out | LC_ALL=C sort >../awk
cmp ../sums ../awk || fail "awk: $(diff ../sums ../awk | head)"

tab=$(printf '\t')
sed 1,2d vfs_rw.out | grep "${tab}R$tab" | cut -f 10,15 | LC_ALL=C sort -k 2,2 >../reads
sed 1,2d files.out | cut -f 3,10 | tac | LC_ALL=C sort -s -u -k 1,1 >../paths
LC_ALL=C command join -t "$tab" -1 2 -2 1 -o 1.1,2.2 ../reads ../paths |
	awk -F '\t' '$1 > 0 { n[$2] += $1 } END { for (p in n) printf "%d\t%s\n", n[p], p }' |
	LC_ALL=C sort >../join
cmp ../sums ../join || fail "join: $(diff ../sums ../join | head)"
