#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Files whose names and kinds are easily got wrong (see tests/workloads/names.c): every name comes
# back byte by byte in every column, no name forges a row, each file has a FID of its own with the
# right type, and of each the bytes read and written. A file that was deleted before it was met says so.
#
# smoke
. "${0%/*}/../lib.sh"

trace -- "$W/names" dir >expected || fail "status $?"
check names expected

exec 5<>gone
rm gone
trace -- sh -c 'echo text >&5' || fail "status $?"
equal "row of a deleted file" "$(rows files 'REALPATH ~ "/gone$"' | cut -f 6,9)" "reg	deleted"

# A link's text is no path: it is not made absolute or shorter.
for text in a//b/./.. //a/./b/; do
	[ -z "$slow" ] || break
	trace -- ln -sf "$text" link || fail "status $?"
	equal "text of a link" "$(col create_del PATH2 'FUNC ~ /^symlink/ && RET == 0')" "$text"
done
