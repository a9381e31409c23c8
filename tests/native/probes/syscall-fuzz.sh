#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Calls, and requests of io_uring and libaio, at random, by several processes and threads, with and without success. The
# workload "syscall_fuzz" writes each of them down: each has its row, with its result, its arguments and its file, and
# there is no other row. A seed makes the same calls each time, except for the effects of its threads on each other;
# another version of the workload makes other calls. LONG=1: more seeds, one of them new. SEED=N: only that one; odd
# seeds are on tmpfs, even ones on ext4. What seeds have found so far, each now by calls that every seed makes again
# and again:
# - descriptors of close_range(2) beyond INT_MAX, unknown flags of mremap(2), a folder renamed through "k/../a"
# - on tmpfs before Linux 6.6: a file that a failing open has made, with O_DIRECT
# - of io_uring: one of the ring's own files in a request that was not issued; OFFSET of a stream's part, of direct I/O
# - of io_uring: a request that is canceled without a completion; the file of one whose success nobody reports
# - advice 5 to 7 of madvise(2), which is none
# - the path of a deleted file, which has the name that its folder has by then
. "${0%/*}/../lib.sh"
need mkfs.ext4 python3
seeds='1 2 3' calls=20000
[ -z "$slow" ] || seeds="1 3" calls=3000
[ -z "${LONG-}" ] || seeds="$seeds 4 5 6 7 8 9 10 $(od -An -N4 -tu4 /dev/urandom | tr -d ' ')"

# Kernels that preempt the programs of fentry skip runs of them, and count these. A single thread skips none by itself, but
# another process may have been preempted in one: a seed is then tried again.
[ "${DLT_BACKEND-}" = fentry ] && alone=-1 || alone=''

unmount() {
	umount -q tmp
	cleanup
}
trap unmount EXIT
mkdir tmp

# disk_done: undoes disk_ext4.
disk_done() {
	umount disk && losetup -d "$loop" && rmdir disk || fail "to unmount $loop"
	mnt='' loop=''
}

# fuzz SEED DIR: makes the calls on the file system that is mounted there. Status 1: the kernel has skipped runs.
fuzz() {
	trace -- "$W/syscall_fuzz" $alone -n $calls -s "$1" -T tally "$2" 2>err || fail "seed $1 on $2: status $?: $(cat err)"
	[ -z "$alone" ] || [ "$(manifest 'sum(p.get("lost_by", {}).get("skipped", 0) for p in m["probes"])')" = 0 ] || return 1
	check syscall_fuzz tally "$1"
}

# once SEED: on a new file system. Status as of fuzz.
once() {
	case $1 in
	*[02468])
		disk_ext4
		fuzz "$1" disk
		status=$?
		disk_done
		;;
	*)
		mount -t tmpfs -o size=64m tmpfs tmp || skip "to mount tmpfs"
		fuzz "$1" tmp
		status=$?
		umount tmp
		;;
	esac
	return $status
}

# refused WHY USER DIR: it makes no call, and the folder is unchanged.
refused() {
	before=$(ls -A "$3")
	setpriv --reuid "$2" --regid "$2" --clear-groups "$W/syscall_fuzz" -n 0 -T "tally.$2" "$3" 2>err
	equal "$3 ($1), status" $? 1
	grep -q "$1" err || fail "$3: not refused for \"$1\": $(cat err)"
	[ ! -s "tally.$2" ] || fail "$3 ($1): calls were made: $(cat "tally.$2")"
	equal "$3 ($1) holds" "$(ls -A "$3")" "$before"
}

# It makes no calls that might reach other files.
chmod 777 . # for the user's tally
mkdir plain
: >plain/kept
refused "no mount point" 0 plain
refused "no mount point" 0 /
mount -t tmpfs -o size=1m tmpfs tmp || skip "to mount tmpfs"
refused "only root" 65534 tmp
: >tmp/kept
refused "not empty" 0 tmp
umount tmp
mount -t ramfs ramfs tmp || skip "to mount ramfs"
refused "neither tmpfs nor ext4" 0 tmp
umount tmp
disk_ext4
mount -t tmpfs tmpfs disk/lost+found
refused "more than the cage is mounted" 0 disk
umount disk/lost+found
disk_done

for seed in ${SEED:-$seeds}; do
	once "$seed" || once "$seed" || once "$seed" || fail "seed $seed: the kernel skips runs in each of three traces"
done
[ -z "${LONG-}" ] || echo "note: the last seed was $seed"
