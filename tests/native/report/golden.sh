#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A trace of one architecture is read on the other to the byte: the reports of the golden traces, two written by hand on
# x86-64 and one traced and reported on arm64, are those that lie beside them. The latter is of a guest with Linux 6.12:
# start --disk vda -P bio,close,create_del,fault,sync,vfs_rw -- sh -c "cat input >/dev/null; sh -e prepare.sh". Needs no
# root.
. "${0%/*}/../lib.sh"
cd "$here/../.." || exit
for name in small panels arm64; do
	"$DLT" report --full "tests/golden/trace-$name" >"$TMPDIR/text" || fail "trace-$name: status $?"
	diff "tests/golden/trace-$name.report" "$TMPDIR/text" >"$TMPDIR/differ" || fail "trace-$name: $(head -n 20 "$TMPDIR/differ")"
done
