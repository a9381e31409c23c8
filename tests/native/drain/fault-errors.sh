#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Each kind of file of a trace meets each error of a write, ENOSPC, EDQUOT, EFBIG and EIO, after a random number of
# bytes, in the middle of a row, and can be written again later (faultfs.py). Every file ends whole, calls are rows or
# lost, names are not lost, the messages have the error, and the manifest is complete. A file that cannot be cut back,
# either, has nothing wrong in it once it can be. A manifest that cannot be written leaves the one before it.
#
# SEED=N: that number decides where the errors come. LONG=1: all errors; else those that full-disk and quota have not.
#
# slow: half a minute and more
. "${0%/*}/../lib.sh"
need python3
[ -c /dev/fuse ] || skip "/dev/fuse"
gate
head -c 1048576 /dev/zero >data
seed=${SEED:-$$}

cleanup_faults() {
	[ -z "$mnt" ] || umount -l "$mnt"
	mnt=''
	cleanup
}
trap cleanup_faults EXIT
mkdir far
python3 -B "$here/faultfs.py" far fault >server.out 2>&1 9>&- &
server=$!
until grep -q mounted server.out; do
	gone $server && skip "to mount FUSE: $(cat server.out)"
	sleep 0.05
done
mnt=$TMPDIR/far t=$TMPDIR/far/t

# random MAX: $number is below that.
random() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	number=$((seed / 65536 % $1))
}

# fault ERROR NAME MAX [cut]: from now on, after at most MAX bytes. whole_again: no longer.
fault() {
	random "$3"
	rm -f fault.refused
	echo "$1 $number $2 ${4-}" >fault.new
	cat fault.new >>faults
	mv fault.new fault
}
whole_again() { rm fault; }

# Each round opens a new file, starts a process, prints and reads, so that every file has rows.
cat >job <<'END'
round=0
while read word <gate && [ "$word" = go ]; do
	round=$((round + 1))
	head -c 1048576 data >"new.$round" # one row a call, which a copy has not
	for i in 1 2 3 4 5 6 7 8 9; do cat "new.$round" >/dev/null; done
	dd if=data of=/dev/null bs=64 count=2000 2>/dev/null
	seq "$round" 1 $((round + 50))
	echo $round >state
done
END
count() { manifest "next(p for p in m['probes'] if p['name'] == '$2')['$1']"; }
state() { [ "$(cat state)" = "$1" ]; }

# go: one round.
go() {
	rounds=$((rounds + 1))
	echo go >&9
	await state $rounds
}

# errors ERROR TEXT: one trace, whose files meet ERROR in turn.
errors() {
	error=$1 text=$2 rounds=0
	: >faults
	echo 0 >state
	first=$seed
	spawn -v --log "$3" "$4" -- sh job >out
	go
	for name in vfs_rw files pids open close workload.out workload.log time_align any vfs_rw; do
		case $name in vfs_rw | any) most=120000 ;; *) most=100 ;; esac # less than a round writes
		random 2
		cut=''
		[ "$number" = 0 ] || cut='cut'
		fault "$error" "$name" $most $cut
		go
		await [ -e fault.refused ]
		go
		whole_again
		go
	done
	echo end >&9
	join
	equal "status" $rc 0
	where="seed $first: $(tr '\n' ';' <faults)"
	grep -q "warning: cannot write to .*/far/t: $text" err || fail "$where: said: $(cat err)"
	! grep -q 'error: ' err || fail "$where: said: $(cat err)"
	equal "$where: complete" "$(manifest 'm["complete"]')" True
	for probe in vfs_rw open close mmap; do
		equal "$where: rows and lost of $probe" $(($(count rows $probe) + $(count lost $probe))) "$(count calls $probe)"
	done
	[ "$(count lost vfs_rw)" -gt 0 ] || fail "$where: nothing was lost"
	manifest '"\n".join(p["name"] + " " + str(p["rows"]) for p in m["probes"] if p["rows"])' >rows
	while read -r probe n; do
		equal "$where: rows of $probe in its files" "$(cat "$t/$probe".*out | grep -ac '^[0-9]')" "$n"
	done <rows
	for file in "$t"/*.out; do
		equal "$where: zeros in $file" "$(tr -dc '\0' <"$file" | wc -c)" 0
		equal "$where: last byte of $file" "$(tail -c 1 "$file" | od -An -tu1 | tr -d ' ')" 10
	done
	check lines
	[ -e "$t/files.000001.out" ] || check fids # which looks into one file
	equal "$where: lost names and processes" "$(count lost files) $(count lost pids)" "0 0"
	equal "$where: bytes of the log" "$(stat -c %s "$t/workload.log")" "$(manifest 'm["workload_log"]["written_bytes"]')"
	equal "$where: bytes of the log and lost" \
		"$(manifest 'm["workload_log"]["written_bytes"] + m["workload_log"]["lost_bytes"]')" "$(stat -c %s out)"
	"$DLT" report --full "$t" >report || fail "$where: report: status $?"
	grep -q "^- vfs_rw: $(count lost vfs_rw) lost" report || fail "$where: no loss in the report: $(cat report)"
}

errors ENOSPC 'No space left on device' --interval 1
errors EIO 'Input/output error' --rotate 64K
[ -z "${LONG-}" ] || {
	errors EDQUOT 'Disk quota exceeded' --interval 1
	errors EFBIG 'File too large' --rotate 1s
}

# --- the manifest ---------------------------------------------------------------------------------

for error in ENOSPC ${LONG:+EDQUOT EFBIG} EIO; do
	for cut in '' cut; do
		rounds=0
		: >faults
		echo 0 >state
		spawn -v -- sh job >out
		go
		fault $error manifest 12000 $cut
		echo end >&9
		join
		rm fault
		equal "status" $rc 0
		manifest 'm["complete"]' >complete || fail "$(cat faults): the manifest is broken"
		if grep -qx True complete; then
			! grep -q 'error: ' err || fail "$(cat faults): said: $(cat err)"
		else
			grep -q 'error: .*/far/t/manifest.json: ' err || fail "$(cat faults): said: $(cat err)"
			grep -q 'warning: .*/far/t does not show how the trace ended' err || fail "$(cat faults): said: $(cat err)"
			! grep -q 'goes on as process\|still running' err || fail "$(cat faults): said: $(cat err)"
		fi
	done
done
