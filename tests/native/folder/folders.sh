#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# smoke
# What dltraced merge and anonymize make of a trace in packed segments, of files whose names are easy to get wrong: merge
# gives the lines of the segments as zcat prints them; without names no name of the job is anywhere in the folder, and files
# and processes still match each other. Python's reader and validate accept both.
. "${0%/*}/../lib.sh"
need python3

mkdir -p 'secretdir/deep est' secretdir/data
head -c 300000 /dev/urandom >'secretdir/deep est/secretfile.tar.gz'
printf 'x' >'secretdir/secret "ü"#\'
cp /bin/cat secretprogram
cat >secretjob.sh <<'END'
echo secretoutput epoch 1 start
cd secretdir || exit 1
i=0
while [ $((i += 1)) -le 80 ]; do
	../secretprogram 'deep est/secretfile.tar.gz' 'secret "ü"#\' >data/secretcopy
	mv data/secretcopy data/secretnew.npy
done
"$DLT" mark -t secrettrace 'secretmark 5'
echo secretoutput epoch 1 end secretargument=$1
END
t=$TMPDIR/secrettrace
SLURM_JOB_NAME=secretvalue "$DLT" start -o "$t" -e secretexperiment --log --rotate 64K --compress gzip --collectors none -- \
	sh secretjob.sh secretword </dev/null >out 2>err || fail "start: $(cat err)"

original=$t t=$TMPDIR/merged
"$DLT" merge "$original" -o "$t" || fail "merge: status $?"
check whole
[ "$(find "$original" -name '*.000[0-9]*.out*' | wc -l)" -gt 2 ] || fail "no segments: $(ls "$original")"
[ "$(find "$t" -name '*.000[0-9]*.out*' | wc -l)" = 0 ] || fail "segments: $(ls "$t")"
for file in "$t"/*.out; do
	name=${file##*/}
	for part in "$original/${name%.out}".*out*; do
		case $part in *.gz) zcat "$part" ;; *) cat "$part" ;; esac | sed 1,2d
	done >lines
	sed 1,2d "$file" | cmp - lines || fail "merge: $name"
done
cmp "$original/workload.log" "$t/workload.log" || fail "merge: workload.log"
! "$DLT" merge "$original" -o "$t" 2>err || fail "into a folder that exists: status 0"
grep -q 'exists: name a new folder' err || fail "$(cat err)"

# Two traces of this host, one after the other: merge refuses them, and report adds them up.
for nr in 1 2; do
	"$DLT" start -q --report=none --collectors none -P open,vfs_rw,time_align -o "part$nr" -- cat secretprogram secretjob.sh >out || fail "part $nr: status $?"
done
! "$DLT" merge part1 part2 -o both 2>err || fail "two folders: status 0"
grep -q 'one trace folder at a time: report, export' err && [ ! -e both ] || fail "two folders: $(cat err)"
for of in part1 part2 'part1 part2'; do
	"$DLT" report --json $of | python3 -c 'import json, sys
print(*(p["rows"] for p in json.load(sys.stdin)["probes"] if p["name"] in ("open", "vfs_rw")))' || fail "report $of"
done | awk '{ open[NR] = $1; rw[NR] = $2 } END { exit !(open[1] > 2 && rw[1] > 2 && open[3] == open[1] + open[2] && rw[3] == rw[1] + rw[2]) }' ||
	fail "the two do not add up"

head -c 32 /dev/urandom | od -An -tx1 >key
"$DLT" anonymize "$original" -o hidden --key-file key 2>err || fail "anonymize: $(cat err)"
"$DLT" anonymize merged -o again --key-file key || fail "anonymize: status $?"
"$DLT" anonymize merged -o other 2>err || fail "anonymize: status $?"
grep -q 'the key of this trace is [0-9a-f]\{32\}: ' err || fail "no key: $(cat err)"
t=$TMPDIR/hidden
check whole
for name in secret deep "\"host\": \"$(hostname)\"" "$TMPDIR" "$(cat /proc/sys/kernel/random/boot_id)" 'ü' '\\303'; do
	! grep -rqF -- "$name" hidden || fail "$name: $(grep -rF -- "$name" hidden | head -n 2)"
done
[ ! -e hidden/workload.log ] || fail "workload.log is there"
for file in hidden/*.out; do
	cmp "$file" "again/${file##*/}" || fail "another stand-in for the same name and key"
done
cmp -s hidden/files.out other/files.out && fail "the same stand-ins by another key"

# The depth of paths and suffixes stay, and rows still refer to each other.
depth() { sed 1,2d "$1/files.out" | awk -F'\t' '{ n = gsub("/", "/", $10); print $3, n }'; }
equal "depths" "$(depth hidden)" "$(depth merged)"
grep -q '\.tar\.gz' hidden/files.out && grep -q '\.npy' hidden/create_del.out || fail "no suffixes: $(cat hidden/files.out)"
grep -q 'epoch\\0401\\040start$' hidden/workload.out || fail "no epoch: $(cat hidden/workload.out)"
equal "sums" "$("$DLT" report --json hidden | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["probes"], r["types"], r["read_sizes"])')" \
	"$("$DLT" report --json merged | python3 -c 'import json, sys; r = json.load(sys.stdin); print(r["probes"], r["types"], r["read_sizes"])')"

# A copy that does not fit on its disk is no folder at all.
mkdir small
if mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
	! "$DLT" merge "$original" -o small/copy 2>err || fail "on a full disk: status 0"
	left=$(ls small)
	umount small
	equal "what is left on a full disk" "$left" ""
	grep -q 'No space left' err || fail "$(cat err)"
else
	echo "note: not on a full disk: needs to mount tmpfs"
fi
