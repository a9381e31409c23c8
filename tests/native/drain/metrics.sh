#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --metrics-file: at the end its counters and histograms are those of the rows, counted from the text, also for disks.
# Meanwhile the file is whole whenever it is read, and counters never decrease. Hostile names are labels like others. It
# replaces nothing but a metrics file.
#
# smoke
. "${0%/*}/../lib.sh"
need python3 mkfs.ext4
gate
disk_ext4
head -c 1048576 /dev/urandom >"$mnt/data"
sync -f "$mnt"

t=$TMPDIR/$(printf 'odd "name" \\ é')
spawn --probes +bio --disk "$disk" --metrics-file node/m.prom -- true # no such folder
join
equal "status without a folder" $rc 125
grep -q -- "--metrics-file node/m.prom: No such file" err || fail "said: $(cat err)"
[ ! -e "$t" ] || fail "left a folder"
mkdir node
spawn --metrics-file node -- true
join
equal "status of a folder" $rc 125
echo precious >foreign
ln -s foreign node/link.prom
for file in foreign node/link.prom; do
	spawn --metrics-file "$file" -- true
	join
	equal "status of $file" $rc 125
	grep -q "is not a metrics file of dltraced" err || fail "said: $(cat err)"
done
equal "somebody else's file" "$(cat foreign)" precious

# Read as often as possible while it is written: always complete, and no counter falls.
cat >reader.py <<'END'
import os, re, sys
sys.path.insert(0, sys.argv[1])
import metrics
last, inodes = {}, set()
open("reading", "w").close()
while True:
    over = os.path.exists("over")
    try:
        inodes.add(os.stat("node/m.prom").st_ino)
        types, series, _ = metrics.parse("node/m.prom")
    except FileNotFoundError:
        assert not last, "it was gone"
        continue
    for name, values in series.items():
        for key, value in values.items():
            if types.get(name, "histogram") in ("counter", "histogram"):
                assert value >= last.get((name, key), 0), (name, key, value)
                last[name, key] = value
    if over:
        break
END
python3 -B reader.py "$here/checks" 2>reader-err 9>&- &
reader=$!
# shellcheck disable=SC2016 # the job's own
spawn --probes +bio --disk "$disk" --metrics-file node/m.prom --log -- sh -c \
	'dd if=/dev/urandom of="$1/new" bs=64k count=32 conv=fsync && rm "$1/new" &&
	dd if="$1/data" of=/dev/null bs=4k iflag=direct && "$0" -n 10000 && read -r _ <gate' "$W/storm" "$mnt" >out
counted() { grep -qs '^dltraced_rows_total{.*probe="vfs_rw"} [0-9]\{5\}' node/m.prom; }
await counted
grep -q '^dltraced_tracing{.*} 1$' node/m.prom || fail "not tracing: $(cat node/m.prom)"
grep -q '^dltraced_processes{.*} [1-9]' node/m.prom || fail "no processes"
equal "mode" "$(stat -c %a node/m.prom)" 644
echo >&9
join
: >over
wait $reader || fail "reader: $(cat reader-err)"
equal "what is left beside it" "$(ls -A node | tr '\n' ' ')" "link.prom m.prom "
check metrics node/m.prom
check whole

# Again over the same file, attached, with sums only: no rows are written, and all of them are counted.
sh -c 'read -r _ <gate; read -r _ <gate' 9>&- &
target=$!
spawn --keep=sums --pid $target --metrics-file "$TMPDIR/node/m.prom"
tracing() { grep -q '^dltraced_tracing{.*} 1$' node/m.prom && grep -q '^dltraced_rows_summed_total' node/m.prom; }
await tracing
printf '\n\n' >&9
wait $target
join
equal "status" $rc 0
summed=$(sed -n 's/^dltraced_rows_summed_total{.*probe="vfs_rw"} //p' node/m.prom)
counted=$(sed -n 's/^dltraced_operation_latency_seconds_count{.*probe="vfs_rw"} //p' node/m.prom)
[ "$summed" -gt 0 ] || fail "nothing summed up"
equal "counted of what was summed up" "$counted" "$summed"
