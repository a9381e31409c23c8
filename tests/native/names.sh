#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Files whose names and kinds are easily got wrong (see tests/workloads/names.c): every name comes
# back byte by byte in every column, no name forges a row, each file has a FID of its own with the
# right type, and of each the bytes read and written. A file that was deleted before it was met says so.
. "${0%/*}/lib.sh"

trace -- "$W/names" dir >expected || fail "status $?"
check names expected

exec 5<>gone
rm gone
trace -- sh -c 'echo text >&5' || fail "status $?"
equal "row of a deleted file" "$(rows files 'REALPATH ~ "/gone$"' | cut -f 6,9)" "reg	deleted"
