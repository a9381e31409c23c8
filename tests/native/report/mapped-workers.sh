#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Workers that map their samples: the report names the disk where each epoch reads the data again, since it is larger than
# the memory of the job's cgroup, and the trainer where all of it is in memory. In both cases rows show which it is.
#
# alone: shares of the time in jobs of few seconds
. "${0%/*}/../verdicts.inc"
. "$here/limited.inc"

staged() { "$here/../workloads/staged.py" "$@"; }
# in_group COMMAND...: COMMAND, with as little memory as $group has.
cat >in_group <<'SH'
#!/bin/sh
echo $$ >"$GROUP/cgroup.procs" && exec "$@"
SH
chmod 755 in_group
samples_of() { col fault "$1" 'FILE ~ /^sample/' | awk '{ n += $1 } END { printf "%.0f", n }'; }
read_bytes() { python3 -c 'import json
print(sum(d.get("fault_bytes") or 0 for d in json.load(open("report.json"))["datasets"] if "/disk/data" in (d["path"] or "")))'; }

memory_group 20971520
trap 'fast; rmdir "$group" 2>/dev/null; cleanup; end_servers' EXIT
export GROUP="$group"
slow_disk 96M read=12 write=12
losetup --direct-io=on "$loop" 2>err || skip "a loop device with direct I/O: $(cat err)" # nothing is cached below the disk
staged --prepare mapped-larger disk/data || fail "--prepare"
bytes=$((96 * 262144))
again() { cold; }
cold
verdict storage-read -- ./in_group "$first" "$here/../workloads/staged.py" --seconds 3 mapped-larger disk/data account
[ "$(samples_of DISK_BYTES)" -gt $((bytes * 3 / 2)) ] || fail "two epochs have read $(samples_of DISK_BYTES) bytes of $bytes"
equal "bytes of the data set" "$(read_bytes)" "$(samples_of DISK_BYTES)"

# The job's faults have read what the disk has, but for some metadata: nothing, unless the pages have left memory meanwhile,
# as where DAMON frees those that nobody has touched.
sectors() { awk '{ print $3 }' "/sys/block/$disk/stat"; }
again() {
	find disk/data -type f -exec cat {} + >/dev/null
	before=$(sectors)
}
fast
again
verdict trainer-bound -- "$first" "$here/../workloads/staged.py" --seconds 1 mapped-warm disk/data account
by_disk=$((($(sectors) - before) * 512)) by_faults=$(samples_of DISK_BYTES)
{ [ "$by_faults" -le "$by_disk" ] && [ "$by_faults" -ge $((by_disk - bytes / 100)) ]; } ||
	fail "data in memory: the disk has read $by_disk bytes, faults $by_faults"
