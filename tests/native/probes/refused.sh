#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Calls that a seccomp filter refuses have no begin, and no row: each is counted, by probe, and the report says so; those
# that it lets pass have rows. Calls that a tracer replaces have no number: they are counted, too.
. "${0%/*}/../lib.sh"

python
cat >job.py <<'PY'
import ctypes
import os
import platform
import struct

LOAD, JUMP_EQ, RETURN = 0x20, 0x15, 0x06  # linux/filter.h
ALLOW, ERRNO = 0x7fff0000, 0x00050000  # linux/seccomp.h
NUMBERS = {"x86_64": (83, 21), "aarch64": (34, 48)}[platform.machine()]  # mkdir(at), (f)access(at)
libc = ctypes.CDLL(None, use_errno=True)


def program(*lines):
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    return struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(code)), code


os.mkdir("before")
fprog, _ = program((LOAD, 0, 0, 0), (JUMP_EQ, 1, 0, NUMBERS[0]), (JUMP_EQ, 0, 1, NUMBERS[1]), (RETURN, 0, 0, ERRNO | 1),
                   (RETURN, 0, 0, ALLOW))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, fprog, 0, 0) == 0, os.strerror(ctypes.get_errno())
for n in range(6000):
    try:
        os.mkdir("refused")
        raise SystemExit("not refused")
    except PermissionError:
        pass
for n in range(100):
    assert not os.access("before", os.R_OK)
    os.rename("before", "before")
PY
trace --regions off -- "$(readlink bin/python3)" job.py || fail "status $?"
counter() { python3 -c 'import json, sys
print(next(p.get("refused", 0) for p in json.load(open(sys.argv[1] + "/manifest.json"))["probes"] if p["name"] == sys.argv[2]))' "$t" "$1"; }
injected() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/manifest.json"))["injected_calls"])' "$t"; }
equal "refused calls of create_del" "$(counter create_del)" 6000
equal "refused calls of meta" "$(counter meta)" 100
equal "refused calls of open" "$(counter open)" 0
equal "rows of mkdir" "$(awk -F'\t' '$6 == "mkdir" || $6 == "mkdirat"' "$t/create_del.out" | wc -l)" 1
equal "rows of rename" "$(awk -F'\t' '$6 ~ /^rename/' "$t/create_del.out" | wc -l)" 100
"$DLT" report --full "$t" >report
grep -q "create_del: 6000 calls were refused by a seccomp filter" report || fail "the report: $(grep -i seccomp report)"
equal "injected calls" "$(injected)" 0

need strace
trace --regions off -- strace -qq -f -o strace.out -e trace=rmdir -e inject=rmdir:error=EIO "$(readlink bin/python3)" -c '
import os
for n in range(50):
    try:
        os.rmdir("/no/such/folder")
    except OSError:
        pass' || fail "strace: status $?"
equal "injected calls of strace" "$(grep -c INJECTED strace.out)" 50
equal "injected calls" "$(injected)" 50
