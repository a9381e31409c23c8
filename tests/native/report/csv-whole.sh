#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# smoke
# `report --csv' has every file, process, log and file in shared memory, and every process and its files, not only those that
# the screen has room for: as many as the rows of the trace have, with the same sums. Names of files do not become columns,
# rows or formulas.
. "${0%/*}/../lib.sh"
python

cat >job.py <<'END'
import mmap, os
def work(n):
    with open(f"log{n}.log", "w") as log:
        for i in range(10):
            with open(f"file{n}.{i}", "wb") as f:
                f.write(bytes(100 * n + i + 1))
            with open(f"file{n}.{i}", "rb") as f:
                f.read()
            log.write(f"{i}")
            log.flush()
    with open(f"/dev/shm/csv-whole-{os.getpid()}", "w+b") as f:
        f.write(bytes(4096))
        f.flush()
        mmap.mmap(f.fileno(), 4096).close()
        os.unlink(f.name)
for n in range(30):
    child = os.fork()
    if child == 0:
        work(n)
        os._exit(0)
    os.waitpid(child, 0)
for name in (b'a, "b"', b"a;b", b"two\nlines", b"tab\t, cr\r", b"=1+1", b" blank ", b"\xff\xfe", "\u00fc\uff1d".encode(), b"\x1b[31m", b"'", b'""'):
    with open(name, "wb") as f:
        f.write(bytes(7))
END
trace -- python3 job.py || fail "status $?"
"$DLT" report --csv csv "$t" >text || fail "--csv: status $?"
"$DLT" report --json "$t" >json || fail "--json: status $?"
python3 -B "$here/checks/csv_json.py" json csv || fail "not as JSON"
check csv_whole csv json 341 341 31 30 30
