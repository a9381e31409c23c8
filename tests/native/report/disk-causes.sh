#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# What the disks worked for, by file and by process. The tables' sums are those of bio.out by awk. Write-back belongs to
# each writer to the byte: of two processes that write every other page, over each other, or parts of the same pages;
# and of a call that has no row yet when its first half is written back. For a job that syncs each small file,
# journal-writes fires, with the share that awk finds; for a job with one large file it does not.
. "${0%/*}/../lib.sh"
need python3

# sum TABLE KEY
sum() { python3 -c 'import json, sys; print(sum(row[sys.argv[2]] for row in json.load(open("json"))[sys.argv[1]]))' "$1" "$2"; }

# rows_sum EXPRESSION: awk's, over the requests that have ended, without those that serve an upper disk.
rows_sum() { each bio "if (STATUS != \"?\" && KIND != \"below\") print $1" | awk '{ n += $1 } END { printf "%.0f", n }'; }

disk_ext4 400M
for how in turns over bytes long; do
	trace --probes bio,open,close,sync,vfs_rw,time_align --disk "$disk" --linger 1 -- \
		python3 "$here/../workloads/writers.py" $how "$mnt/$how" >truth 2>err || fail "$how: status $?: $(cat err)"
	"$DLT" report --json "$t" >json 2>err || fail "report: $(cat err)"
	for table in disk_files disk_processes; do
		equal "$how: requests of $table" "$(sum $table requests)" "$(rows_sum 1)"
		equal "$how: time of $table" "$(sum $table time_ns)" "$(rows_sum LAT_NS)"
		equal "$how: bytes read of $table" "$(sum $table read_bytes)" "$(rows_sum 'BYTES * (T == "R" && STATUS == 0)')"
		equal "$how: bytes written of $table" "$(sum $table write_bytes)" "$(rows_sum 'BYTES * (T == "W" && STATUS == 0)')"
	done
	check causes json $how truth
	rm "$mnt/$how"
done

# journal: the measure of journal-writes among findings and facts; none where there is none.
journal() {
	python3 -c 'import json
r = json.load(open("json"))
print(next(("%.3f" % f["measure"] for f in r["rules"] + r["facts"] if f["code"] == "journal-writes"), "none"))'
}
equal "journals of one large file" "$(journal)" none
cat >small.py <<'PY'
import os
import sys

for i in range(1500):
    fd = os.open(f"{sys.argv[1]}/{i}", os.O_CREAT | os.O_WRONLY)
    os.write(fd, bytes(1000))
    os.fsync(fd)
    os.close(fd)
PY
mkdir "$mnt/small"
trace --probes bio,open,close,sync,vfs_rw,time_align --disk "$disk" --linger 1 -- python3 small.py "$mnt/small" 2>err ||
	fail "small files: status $?: $(cat err)"
"$DLT" report --json "$t" >json 2>err || fail "report: $(cat err)"
own=$(rows_sum 'BYTES * (T == "W" && STATUS == 0 && (KIND == "meta" || KIND == "journal"))')
all=$(rows_sum 'BYTES * (T == "W" && STATUS == 0)')
equal "journals of small files" "$(journal)" "$(python3 -c "print('%.3f' % ($own / $all))")"
