#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A report on a trace as large as a machine makes them (16 GPUs, 128 data loaders, 256 CPUs, 10 disks, a million rows):
# the page has at most 5 MiB and agrees with --json; ten times the rows take no more memory; the report is the same
# where it cannot keep what it has read; and its counts are the generator's. Needs no root.
. "${0%/*}/../lib.sh"
gen=$W/../tests/gen_trace

# peak FILE ARG...: prints the largest memory use in KiB of `dltraced ARG...', whose output goes to FILE.
peak() {
	python3 -c '
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:], stdout=open(sys.argv[1], "wb"))
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))' "$1" "$DLT" "$2" "$3" "$4" "$5" || fail "dltraced $2 $3 $4 $5: status $?"
}

"$gen" -r 200000 -g 16 -w 128 -c 256 -d 10 -s 900 large >made || fail "gen_trace: status $?"
peak page.html report --html - large >/dev/null
bytes=$(stat -c %s page.html)
[ "$bytes" -le $((5 << 20)) ] || fail "a page of $bytes bytes"
[ "$bytes" -ge $((1 << 20)) ] || fail "a page of only $bytes bytes"
"$DLT" report --json large >large.json || fail "status $?"
python3 -B "$here/checks/page_json.py" page.html large.json "$(cut -d' ' -f1 made)" || fail "page_json"
rm -rf large

for rows in 30000 300000; do
	"$gen" -r $rows -g 4 -w 16 -c 8 -f 1000 -s 60 $rows >/dev/null || fail "gen_trace: status $?"
	peak out report --html - $rows >peak.$rows
done
# where no copies can be kept beside the reading, rows are read again, with equal results
for format in '' --json; do
	"$DLT" report $format 300000 >kept || fail "report $format: status $?"
	TMPDIR=/nonexistent "$DLT" report $format 300000 >again || fail "report $format, without a TMPDIR: status $?"
	cmp kept again || fail "report $format: other things are told of rows that are read again"
done
less=$(cat peak.30000) more=$(cat peak.300000)
# a sanitizer has memory of its own for each byte
grep -qa -e __asan_init -e __tsan_init "$DLT" || [ $((more - less)) -le 4096 ] ||
	fail "$less KiB for 30000 rows, $more KiB for ten times as many"
