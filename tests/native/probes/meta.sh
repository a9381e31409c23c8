#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# meta_sums.out: each call about metadata of threads and processes is in a sum, by process, call and folder, as the
# workload "meta" and strace -c count them, and a Python program's that imports modules. A call of 1 ms and more has a
# row in meta.out, too; each call with --probes +meta. Sums beyond the table's room are counted.
. "${0%/*}/../lib.sh"

[ -n "$slow" ] && storm=40 || storm=200
set -- "$W/meta" 2 2 3 "$TMPDIR/dir"
with_strace() { [ -z "$slow" ] && strace -qq -f -c -U name,calls,errors -o "$@"; }

trace -- "$@" >tally || fail "status $?"
rm -r dir
with_strace counts "$@" >again && rm -r dir # not to /dev/null, of which the libc asks whether it is a terminal
check meta tally counts

trace --probes +meta -- "$@" >tally || fail "all rows: status $?"
rm -r dir
check meta tally counts all

python
PYTHONDONTWRITEBYTECODE=1
PYTHONHASHSEED=0
export PYTHONDONTWRITEBYTECODE PYTHONHASHSEED
cat >job.py <<'PY'
import fcntl
import importlib
import os
import sys
import time

for n in range(int(sys.argv[1])):  # looks for the module in each folder of sys.path
    importlib.invalidate_caches()
    try:
        importlib.import_module(f"no_such_module_{n}")
    except ImportError:
        pass
for name in "json", "csv", "email.message", "xml.dom.minidom", "unittest", "asyncio":
    importlib.import_module(name)
fd = os.open("lock", os.O_CREAT | os.O_RDWR)
held, said = os.pipe()
if not os.fork():
    other = os.open("lock", os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_EX)
    os.write(said, b"x")
    time.sleep(0.1)
    os._exit(0)
os.read(held, 1)
fcntl.flock(fd, fcntl.LOCK_EX)
PY
interpreter=$(readlink bin/python3)
trace --regions off -- "$interpreter" job.py "$storm" || fail "job.py: status $?"
with_strace counts "$interpreter" job.py "$storm"
check meta - counts slow
equal "calls in the report" "$("$DLT" report --json "$t" |
	python3 -c 'import json, sys; print(sum(row["calls"] for row in json.load(sys.stdin)["metadata"]))')" \
	"$(awk -F'\t' 'NR > 2 { n += $8 } END { print n }' "$t/meta_sums.out")"

[ -z "$slow" ] || exit 0 # the rest does not depend on the kernel
cat >many.py <<'PY'
import os
import sys

for n in range(int(sys.argv[1])):
    os.access(f"/no/such/folder/{n}/x", os.R_OK)
PY
trace --regions off -- "$interpreter" many.py 33500 || fail "many.py: status $?"
check meta - - full
