#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# An independent witness, bpftrace, beside dltraced on one run of the workload "calls" and on a disk:
# of every system call the same number, as many failures, as many bytes moved; what read, pread64,
# write and pwrite64 moved went through vfs_read() and vfs_write(); of every kind of request as many
# were issued to the disk, with as many bytes, and no more were completed. bpftrace tells the workload by its
# name (its threads and processes keep it), dltraced by its process tree.
native=${0%/*}/../../native
. "$native/lib.sh"
need python3 bpftrace
gate

# An interval probe at both ends: when the first has fired, all probes between are attached. A program named "enough"
# ends it.
major_minor=$(cat "/sys/block/$VM_DISK/dev")
cat >witness.bt <<END
interval:ms:100 { @first = 1; }
tracepoint:raw_syscalls:sys_exit /comm == "calls" && args->ret >= 0/ {
	@calls[args->id] = count();
	@moved[args->id] = sum(args->ret);
}
tracepoint:raw_syscalls:sys_exit /comm == "calls" && args->ret < 0/ {
	@calls[args->id] = count();
	@failed[args->id] = count();
}
kprobe:vfs_read, kprobe:vfs_write /comm == "calls"/ { @inside[tid] = 1; }
tracepoint:raw_syscalls:sys_exit /@inside[tid]/ {
	if (args->ret > 0) { @vfs[args->id] = sum(args->ret); }
	delete(@inside[tid]);
}
tracepoint:block:block_rq_issue /args->dev == $(((${major_minor%:*} << 20) + ${major_minor#*:}))/ {
	@issued[args->rwbs] = count();
	@issued_bytes[args->rwbs] = sum(args->bytes);
}
tracepoint:block:block_rq_complete /args->dev == $(((${major_minor%:*} << 20) + ${major_minor#*:}))/ {
	@done_bytes[args->rwbs] = sum((uint64)args->nr_sector * 512);
}
tracepoint:raw_syscalls:sys_enter /comm == "enough"/ { exit(); }
interval:ms:100 /@first && !@ready/ { @ready = 1; printf("attached\n"); }
END
cat >job <<'END'
read -r _ <gate
"$W/calls" -n 2 -t 2 -f 1 "$VM_MNT/calls" >tally
dd if=/dev/zero of="$VM_MNT/direct" bs=16k count=16 oflag=direct
dd if="$VM_MNT/direct" of=/dev/null bs=4k count=32 iflag=direct
dd if=/dev/zero of="$VM_MNT/buffered" bs=64k count=16 conv=fsync
dd if="$VM_MNT/buffered" iflag=nocache count=0
cat "$VM_MNT/buffered" >/dev/null
rm "$VM_MNT/direct" "$VM_MNT/buffered"
sync -f "$VM_MNT"
END

export W VM_MNT
sync -f "$VM_MNT"
spawn --probes bio,close,create_del,mmap,open,sync,time_align,vfs_rw --disk "$VM_DISK" --linger 1 -- sh -e job
# Where bpftrace cannot use the kernel's BTF (5.10) it needs headers, which a guest lacks.
mkdir -p include/linux
echo 'typedef unsigned char __u8; typedef unsigned short __u16; typedef unsigned int __u32;
	typedef unsigned long long __u64; typedef signed char __s8; typedef short __s16; typedef int __s32;
	typedef long long __s64; typedef __u32 dev_t; typedef __u64 sector_t;' >include/linux/types.h
[ -e /usr/include/linux/types.h ] || include="-I $PWD/include"
# shellcheck disable=SC2086 # words
bpftrace ${include-} -q -f json -B line witness.bt >seen 2>bpftrace.err 9>&- &
witness=$!
await eval 'gone $witness || grep -q attached seen'
grep -q attached seen || fail "bpftrace: $(cat bpftrace.err)"
await [ -s "$t/manifest.json" ]
echo >&9
join
equal "status ($(cat err))" $rc 0
# Not by a signal: bpftrace checks for one only after an interrupted wait, and might go on for ever.
cp /bin/true enough
until gone $witness; do ./enough; done
wait $witness || fail "bpftrace: $(cat bpftrace.err)"
# Kernels that preempt BPF programs skip runs of them; these count as lost.
may_lose=''
! grep -qE '\((full|lazy)\)' /sys/kernel/debug/sched/preempt 2>/dev/null || may_lose=may-lose
check witness seen $may_lose
