#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# pandas reads a trace with the hardest names in it, without surprises: bytes read per file,
# vfs_rw.out joined with files.out by FID.
. "${0%/*}/lib.sh"
/usr/bin/python3 -c 'import pandas' 2>/dev/null || skip "pandas for /usr/bin/python3 (python3-pandas)"

trace -- "$W/names" dir >expected || fail "status $?"
check sums >sums
cd "$t" || exit 1

/usr/bin/python3 - >../pandas.out <<'EOF' || fail "pandas: status $?"
import pandas

def read(name):
    return pandas.read_csv(name, sep="\t", skiprows=1, quoting=3, na_values=["-", "?"],
                           keep_default_na=False, low_memory=False).convert_dtypes()

rw, files = read("vfs_rw.out"), read("files.out").drop_duplicates("FID", keep="last")
reads = rw[(rw.RW == "R") & (rw.RETURNED > 0)].merge(files[["FID", "REALPATH"]], on="FID")
for path, n in reads.groupby("REALPATH").RETURNED.sum().items():
    print(n, path, sep="\t")
EOF
LC_ALL=C sort ../pandas.out >../pandas
cmp ../sums ../pandas || fail "pandas: $(diff ../sums ../pandas | head)"
