#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `report --cpu' shows the folder of the files for which a thread waited for the disk, and the call: for two folders
# that are read through the same call, and for one that is written.
. "${0%/*}/../lib.sh"
need python3
disk_ext4
mkdir disk/train disk/val disk/out
head -c 12M /dev/urandom >disk/train/big
head -c 64k /dev/urandom >disk/val/small
sync
cat >job.py <<'PY'
import ctypes, os

ctypes.CDLL(None).prctl(15, b"reader", 0, 0, 0)
for path in ("disk/train/big", "disk/val/small"):
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)  # each read waits for itself
    while os.read(fd, 16384):
        pass
fd = os.open("disk/out/model", os.O_WRONLY | os.O_CREAT)
for _ in range(5):
    os.write(fd, b"x" * 65536)
    os.fsync(fd)
PY
trace --probes -bio,+sched -- python3 job.py
equal "status" $? 0
check whole
"$DLT" report --cpu --threshold 0 --csv csv "$t" >text || fail "report --cpu: status $?"

# seconds CALL FOLDER: how long the reader waited for the disk in these calls, in ns.
seconds() {
	awk -F, -v call="$1" -v folder="$TMPDIR/disk/$2" '$2 == "reader" && $3 == call && $4 == folder { printf "%.0f\n", ($5 + $6) * 1e9; n++ }
		END { if (n != 1) print 0 }' csv/folders.csv
}
train=$(seconds read train) val=$(seconds read val) out=$(seconds fsync out)
all=$(awk -F, '$2 == "reader" && $3 == "read" { printf "%.0f\n", ($5 + $6) * 1e9 }' csv/waits.csv)
[ "$(echo "$train $val" | awk '{ print ($1 > $2 && $1 > 0) }')" = 1 ] ||
	fail "read() waited $train ns for train, $val for val: $(cat csv/folders.csv csv/waits.csv)"
[ "$(echo "$train $val $all" | awk '{ print ($1 + $2 <= $3 + 2) }')" = 1 ] || fail "$train and $val of $all ns"
[ "$(echo "$out" | awk '{ print ($1 > 0) }')" = 1 ] || fail "fsync() waited $out ns for out: $(cat csv/folders.csv csv/waits.csv)"
grep -q "^  reader [0-9]*: [0-9.]* % of its time in disk wait inside read() of $TMPDIR/disk/train\$" text ||
	fail "the text does not say so: $(grep -A9 'by process' text)"
