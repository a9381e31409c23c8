#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# In a Perfetto trace each call, request and switch is a slice of its own length, on the track of its thread, disk or
# CPU, and slices nest as a viewer nests them: for golden traces, a generated one, two hosts, calls that overlap or
# begin and end together, and several files where one would be too large. The bytes that processes have in use are those
# of a replay of their blocks. Needs no root.
. "${0%/*}/../lib.sh"
python
golden=$here/../golden
gen=$W/../tests/gen_trace

for name in cpu gpus hostile other panels small switches; do
	"$DLT" export "$golden/trace-$name" -f perfetto -o one.pftrace || fail "$name: status $?"
	python3 -B "$here/checks/perfetto.py" "$golden/trace-$name" one.pftrace >out || fail "$name: $(cat out)"
done

"$gen" -r 5000 -g 2 -w 4 -c 2 -s 8 made >/dev/null || fail "gen_trace: status $?"
"$DLT" export made -f perfetto -o made.pftrace || fail "made: status $?"
python3 -B "$here/checks/perfetto.py" made made.pftrace >out || fail "made: $(cat out)"
"$DLT" export made -f perfetto -o - >stdout.pftrace || fail "stdout: status $?"
cmp stdout.pftrace made.pftrace || fail "another trace on standard output"
"$DLT" export made -f perfetto -o part.pftrace --split 200K 2>err || fail "--split: status $?"
[ -e part-2.pftrace ] || fail "--split 200K: one file of $(stat -c %s made.pftrace) bytes"
python3 -B "$here/checks/perfetto.py" made part*.pftrace >out || fail "--split: $(cat out)"

# the clock of the second host began later
cp -r made other
sed -i 's/"host": "[^"]*"/"host": "node2"/' other/manifest.json
awk -F'\t' -v OFS='\t' 'NR > 2 { $3 = substr($3, 1, length($3) - 9) + 5 substr($3, length($3) - 8) } { print }' made/time_align.out >other/time_align.out
"$DLT" export made other -f perfetto -o two.pftrace 2>err || fail "two hosts: $(cat err)"
python3 -B "$here/checks/perfetto.py" - two.pftrace -- made other >out || fail "two hosts: $(cat out)"

# One thread: a call within a region, regions that begin together, two equal regions, partial overlaps, nested requests
# of a ring.
mkdir odd
head() { printf '# dltraced %s 1\n%s\n' "$1" "$2" | tr ' ' '\t' | sed '1s/\t/ /g' >"odd/$1.out"; }
row() { file=$1; shift; echo "$*" | tr ' ' '\t' >>"odd/$file.out"; }
head time_align 'TIMESTAMP TIME REALTIME_NS BOOTTIME_NS ERROR_NS EVENT'
row time_align 1000 2026-11-21T01:02:03.000001000Z 1795305600000001000 1000 10 start
head vfs_rw "$(sed -n 2p "$golden/trace-small/vfs_rw.out" | tr '\t' ' ')"
call() { row vfs_rw "$1" 2026-11-21T01:02:03.000002000Z 7 7 python R "$3" $(($1 - $2)) 4096 4096 0 0 3 - 1 x; }
head regions 'TIMESTAMP TIME PID TID COMM CAT NAME LAT_NS RET EPOCH STEP BYTES LANE SOURCE ARGS'
region() { row regions "$1" 2026-11-21T01:02:03.000002000Z 7 7 python app "$3" $(($1 - $2)) 0 0 1 - - api -; }
call 2000 1500 read
call 2000 1500 readv
call 2500 2500 read
call 3000 2500 io_uring:read
call 3100 2400 io_uring:read
call 3200 2450 io_uring:read
call 4000 3500 read
call 5000 3800 pread64
call 6000 5000 read
region 5500 1500 same_begin
region 6500 1400 outer
region 7000 6500 behind
"$DLT" export odd -f perfetto -o odd.pftrace || fail "odd: status $?"
python3 -B "$here/checks/perfetto.py" odd odd.pftrace >out || fail "odd: $(cat out)"

# Blocks of two processes: within a millisecond, in later ones, a realloc that moves one, one that fails, one below the
# threshold, a free of a parent's block, one of libc alone, and what is left at the end.
head alloc "$(sed -n 2p "$golden/alloc.txt" | tr '\t' ' ')"
block() { row alloc "$1" 2026-11-21T01:02:03.000002000Z "$2" "$2" python "$3" "$4" "$5" "$6" "$7" "$8" "$2" 1 -; }
block 1100000 7 malloc 0x1000 5000 - - -
block 1200000 7 malloc 0x3000 6000 - - -
block 1250000 8 malloc 0x1000 7000 - - -
block 1900000 7 free 0x1000 5000 - - 800000
block 5000000 7 realloc 0x5000 9000 0x3000 6000 3800000
block 5000000 7 malloc 0 4096 - - -
block 5100000 7 libc:posix_memalign 0x7000 4096 - - -
block 5999999 7 calloc 0x8000 8192 - - -
block 6000000 7 realloc 0x5000 - 0x5000 9000 1000000
block 6500000 8 free 0x9000 - - - -
block 9000000 7 malloc 0x9000 123456 - - -
block 9100000 8 end 0x1000 7000 - - 7850000
"$DLT" export odd -f perfetto -o odd.pftrace || fail "blocks: status $?"
python3 -B "$here/checks/perfetto.py" odd odd.pftrace >out || fail "blocks: $(cat out)"
grep -q '"levels": 7,' out || fail "blocks: $(cat out)"

# without the first row, as --keep drops rows: the end of a block from before does not count
mkdir late
cp odd/time_align.out late
sed 3d odd/alloc.out >late/alloc.out
"$DLT" export late -f perfetto -o late.pftrace || fail "late: status $?"
python3 -B "$here/checks/perfetto.py" late late.pftrace >out || fail "late: $(cat out)"

"$DLT" export "$golden/trace-cut" -f perfetto -o cut.pftrace 2>err
equal "status of a damaged trace" $? 1
grep -q 'the rest is exported' err || fail "cut: $(cat err)"
[ -s cut.pftrace ] || fail "cut: nothing"
