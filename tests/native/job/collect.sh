#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --collect copies the workload's files into the trace folder and -o DIR.tar.gz packs it, both as the workload's user, who
# can read all of the archive and gets nothing that was not readable before.
. "${0%/*}/../lib.sh"
need setpriv tar

as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

install -d -o 65534 theirs
echo secret >secret
chmod 600 secret
cd theirs || exit 1
t=$TMPDIR/theirs/t
trace --user nobody --collect 'out/*.csv' --collect ../secret -o "$t.tar.gz" -- \
	sh -c 'mkdir out; echo 1 >out/a.csv; ln -s a.csv out/b.csv; echo 2 >out/c' 2>../err ||
	fail "status $?: $(cat ../err)"

equal "collected" "$(cd t/collected && find . -type f)" ./out/a.csv
equal "out/a.csv" "$(cat t/collected/out/a.csv)" 1
grep -q '1 skipped.*out/b.csv' ../err || fail "said nothing of the link: $(cat ../err)"
grep -q '1 failed.*secret: Permission denied' ../err || fail "said nothing of secret: $(cat ../err)"

as_nobody mkdir unpacked
as_nobody tar -xzf t.tar.gz -C unpacked || fail "t.tar.gz"
diff -r t unpacked/t || fail "the archive is not the folder"
equal "owners" "$(stat -c %u t.tar.gz t t/* | sort -u)" 65534
