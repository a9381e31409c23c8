#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Files whose names and kinds are easily got wrong (see tests/workloads/names.c): every name is in every column byte by
# byte, no name forges a row, each file has its own FID with the right type, and the bytes read from it and written to
# it. A file that was deleted before the trace met it is marked so.
#
# smoke
. "${0%/*}/../lib.sh"
need python3

trace -- "$W/names" dir >expected || fail "status $?"
check names expected

# The name of a thread may contain any byte but NUL, 15 of them: in the row of the rename, in rows of calls, and as the
# old name.
cat >comms.py <<'END'
import ctypes, re, sys

groups = [bytes(range(first, min(first + 15, 256))) for first in range(1, 256, 15)]
if len(sys.argv) == 1:
    for group in groups:
        ctypes.CDLL(None).prctl(15, group, 0, 0, 0)  # PR_SET_NAME
        open("named", "w").close()
    sys.exit()

def column(file, name, which):
    with open(f"{sys.argv[1]}/{file}.out", "rb") as f:
        lines = [line.rstrip(b"\n").split(b"\t") for line in f if not line.startswith(b"#")]
    rows = [dict(zip(lines[0], line)) for line in lines[1:]]
    return [re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), row[name]) for row in rows if which(row)]

renamed = lambda row: row[b"EVENT"] == b"rename"
got = column("pids", b"COMM", renamed)
for what, names in ("rename", got), ("open", column("open", b"COMM", lambda row: row[b"PATH"] == b"named")):
    if names != groups:
        sys.exit(f"{what}: {[n for n in names if n not in groups]}, {[n for n in groups if n not in names]} missing")
old = column("pids", b"ARGS", renamed)
if old[1:] != groups[:-1]:
    sys.exit(f"old names: {old}")
END
trace -- python3 comms.py || fail "status $?"
python3 comms.py "$t" || fail "names of threads"
check whole

exec 5<>gone
rm gone
trace -- sh -c 'echo text >&5' || fail "status $?"
equal "row of a deleted file" "$(rows files 'REALPATH ~ "/gone$"' | cut -f 6,9)" "reg	deleted"

# The text of a link is not a path: it is neither made absolute nor shortened.
for text in a//b/./.. //a/./b/; do
	[ -z "$slow" ] || break
	trace -- ln -sf "$text" link || fail "status $?"
	equal "text of a link" "$(col create_del PATH2 'FUNC ~ /^symlink/ && RET == 0')" "$text"
done
