#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A job touches a mapped file in two epochs. In a memory cgroup that holds less than the file, the second epoch waits
# for the disk again, and rows, account, findings and data sets show that, with the file. In memory, nothing waits for a
# page.
. "${0%/*}/../limited.inc"
need python3

larger_file tokens.bin
cat >job.py <<'PY'
import json
import mmap
import os
import sys
import time

fd = os.open(sys.argv[1], os.O_RDONLY)
if sys.argv[2] == "cold":
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
else:
    while os.read(fd, 1 << 20):
        pass
pages = mmap.mmap(fd, 64 << 20, prot=mmap.PROT_READ, flags=mmap.MAP_PRIVATE)
pages.madvise(mmap.MADV_RANDOM)
epochs = []
for epoch in range(2):
    begin = time.monotonic_ns()
    for i in range(16384):
        pages[i * 2053 % 16384 * 4096]
    epochs.append(time.monotonic_ns() - begin)
print(json.dumps(epochs))
PY

# value EXPRESSION: python's, of the report r and the job's epochs e.
value() {
	python3 -c 'import json, sys; r, e = json.load(open("json")), json.load(open("epochs")); print(eval(sys.argv[1]))' "$1"
}

report() {
	"$DLT" report --json "$t" >json 2>err || fail "report: $(cat err)"
	rows_ns=$(col fault LAT_NS 'FILE == "tokens.bin"' | awk '{ n += $1 } END { printf "%.0f", n }')
	rows=$(rows fault 'FILE == "tokens.bin"' | wc -l)
	bytes=$(col fault DISK_BYTES 'FILE == "tokens.bin"' | awk '{ n += $1 } END { printf "%.0f", n }')
}

limited -- python3 job.py "$mnt/tokens.bin" cold >epochs 2>err ||
	fail "status $?: $(cat err)"
report
[ "$rows" -gt 16384 ] || fail "$rows faults of 16384 pages: the second epoch found all in memory"
equal "bytes of the data set" "$(value '[d["fault_bytes"] for d in r["datasets"] if (d["path"] or "").endswith("tokens.bin")]')" "[$bytes]"
equal "faults of the data set" "$(value '[d["faults"] for d in r["datasets"] if (d["path"] or "").endswith("tokens.bin")]')" "[$rows]"
[ "$(value "0.95 * $rows_ns <= next(a['fault_ns'] for a in r['account'] if a['role'] == 'main') <= 1.2 * $rows_ns <= 1.2 * sum(e)")" = True ] ||
	fail "rows have $rows_ns ns, the account $(value "[a['fault_ns'] for a in r['account']]"), the job $(cat epochs)"
for code in fault-storm random-faults; do
	case $(value '[f["code"] for f in r["rules"]]') in
	*$code*) ;;
	*) fail "no $code: $(value '[f["code"] for f in r["rules"] + r["facts"]]')" ;;
	esac
done
[ "$(value "any('tokens.bin' in line for f in r['rules'] if f['code'] == 'fault-storm' for line in f['evidence'])")" = True ] ||
	fail "the file is not named"

trace -- python3 job.py "$mnt/tokens.bin" warm >epochs 2>err || fail "status $?: $(cat err)"
report
equal "faults of pages in memory" "$rows" 0
equal "their time" "$(value "[a['fault_ns'] < 0.05 * a['wall_ns'] for a in r['account'] if a['role'] == 'main']")" "[True]"
case $(value '[f["code"] for f in r["rules"] + r["facts"]]') in
*fault-storm* | *random-faults*) fail "a finding of faults that were not there" ;;
esac
