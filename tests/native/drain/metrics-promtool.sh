#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Prometheus' own tool accepts a file of --metrics-file, and also two of them together.
. "${0%/*}/../lib.sh"
promtool=$(command -v promtool || echo "$here/../../build/promtool/promtool") # where scripts/install-deps puts it
[ -x "$promtool" ] || skip promtool

for name in one 'two "2" \'; do
	t=$TMPDIR/$name
	trace --metrics-file "$TMPDIR/m$((n = ${n-0} + 1))" -- sh -c 'cat /dev/null; : >made; rm made' || fail "status $?"
done
for file in m1 m2; do
	"$promtool" check metrics <$file >out 2>&1 || fail "$file: $(cat out)"
	equal "what it says of $file" "$(cat out)" ""
done
